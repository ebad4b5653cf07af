package dev.weir.spring.web;

import dev.weir.servlet.RateLimitFilter;
import org.springframework.context.ApplicationListener;
import org.springframework.security.authentication.event.AbstractAuthenticationFailureEvent;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The listener that counts the requests whose logins fail, as Spring Security reports them on the
 * request's thread.
 */
final class FailedLogins implements ApplicationListener<AbstractAuthenticationFailureEvent> {
  @Override
  public void onApplicationEvent(AbstractAuthenticationFailureEvent event) {
    RequestAttributes current = RequestContextHolder.getRequestAttributes();
    if (current instanceof ServletRequestAttributes attributes) {
      RateLimitFilter.count(attributes.getRequest());
    }
  }
}
