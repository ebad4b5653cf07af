package dev.weir.spring.web;

import dev.weir.http.RequestLimiter;
import dev.weir.servlet.RateLimitFilter;
import dev.weir.servlet.RefusalHandler;
import dev.weir.servlet.WaitingFilter;
import jakarta.servlet.DispatcherType;
import org.springframework.boot.web.servlet.FilterRegistrationBean;

/** A filter of the properties, and its place among the application's filters. */
final class ServletLimit extends FilterRegistrationBean<RateLimitFilter> {
  ServletLimit(
      int index,
      Limiters limiters,
      AddressTrust trust,
      FilterRegistrationBean<WaitingFilter> waiting,
      RefusalHandler refusals) {
    RequestLimiter limiter = limiters.limiter(index);
    trust.checkServlet(limiter);
    setFilter(
        RateLimitFilter.builder(limiter)
            .login(ServletLogin::of)
            .refusals(refusals)
            .waiting(waiting.getFilter())
            .build());
    setName(limiters.name(index));
    setOrder(limiters.order(index, limiter));
    setDispatcherTypes(DispatcherType.REQUEST);
    setEnabled(limiters.enabled());
  }
}
