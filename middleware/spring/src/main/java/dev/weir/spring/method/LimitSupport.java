package dev.weir.spring.method;

import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.seats.RequestSeats;
import dev.weir.rules.Request;
import dev.weir.spring.RateLimitExceededException;
import dev.weir.spring.WeirProperties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.env.Environment;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The parts that all limited methods share: the decider, the domain, and the variables of
 * expressions. Beans are looked up when they are first used, since the aspect is made before most
 * of them. Safe for use by many threads.
 */
final class LimitSupport {
  /**
   * The name of Boot's executor for such tasks, which carries over values that the application
   * bound to a thread.
   */
  private static final String EXECUTOR = "applicationTaskExecutor";

  private static final boolean WEB =
      ClassUtils.isPresent(
          "org.springframework.web.ErrorResponse", LimitSupport.class.getClassLoader());

  private final SingletonSupplier<Decider> decider;
  private final SingletonSupplier<Boolean> enabled;
  private final SingletonSupplier<String> domain;
  private final SingletonSupplier<Executor> executor;
  private final SingletonSupplier<RequestSeats> seats;
  private final StandardEvaluationContext expressions = new StandardEvaluationContext();

  LimitSupport(BeanFactory beans, Environment environment) {
    SingletonSupplier<WeirProperties> properties =
        SingletonSupplier.of(() -> beans.getBean(WeirProperties.class));
    this.decider = SingletonSupplier.of(() -> beans.getBean(Decider.class));
    this.enabled = SingletonSupplier.of(() -> properties.obtain().enabled());
    this.domain = SingletonSupplier.of(() -> properties.obtain().domain(environment));
    this.executor = SingletonSupplier.of(() -> executor(beans));
    this.seats =
        SingletonSupplier.of(
            () ->
                new RequestSeats(
                    decider(),
                    beans.getBeanProvider(Ticker.class).getIfAvailable(Ticker::system),
                    properties.obtain().longestSeat()));
    expressions.setBeanResolver(new BeanFactoryResolver(beans));
  }

  private static Executor executor(BeanFactory beans) {
    return beans.containsBean(EXECUTOR) && beans.isTypeMatch(EXECUTOR, Executor.class)
        ? beans.getBean(EXECUTOR, Executor.class)
        : new CompletableFuture<>().defaultExecutor();
  }

  Decider decider() {
    return decider.obtain();
  }

  /** Returns whether limits are enabled at all. */
  boolean isEnabled() {
    return enabled.obtain();
  }

  String domain() {
    return domain.obtain();
  }

  /** Returns the executor of methods whose answer came on a thread that must not be blocked. */
  Executor executor() {
    return executor.obtain();
  }

  /** Returns the seats that calls hold. */
  RequestSeats seats() {
    return seats.obtain();
  }

  StandardEvaluationContext expressions() {
    return expressions;
  }

  /** Returns the exception for a refusal. */
  RateLimitExceededException refusal(Request request, Answer answer) {
    return WEB ? Web.refusal(request, answer) : new RateLimitExceededException(request, answer);
  }

  /**
   * A separate class, because the JVM loads the types that a class returns before it runs any of
   * it.
   */
  private static final class Web {
    static RateLimitExceededException refusal(Request request, Answer answer) {
      return new WebRateLimitExceededException(request, answer);
    }
  }
}
