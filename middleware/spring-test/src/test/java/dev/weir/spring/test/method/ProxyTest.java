package dev.weir.spring.test.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weir.engine.Decider;
import dev.weir.spring.RateLimit;
import dev.weir.spring.RateLimitExceededException;
import dev.weir.spring.method.RateLimitAutoConfiguration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.RootClassFilter;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.Ordered;

/**
 * Tests that limits hold through either kind of proxy, with AspectJ and without, and outside of
 * others.
 */
class ProxyTest {
  public interface Api {
    @RateLimit(name = "checkout", key = "#user")
    String checkout(String user);

    default String twice(String user) {
      return checkout(user) + checkout(user);
    }
  }

  static class Shop implements Api {
    @Override
    public String checkout(String user) {
      return "done";
    }
  }

  static class OwnLimit implements Api {
    @Override
    @RateLimit(name = "one")
    public String checkout(String user) {
      return "done";
    }
  }

  static class Free implements Api {
    @Override
    @RateLimit.Exempt
    public String checkout(String user) {
      return "done";
    }
  }

  /** The calls that another aspect sees, such as that of transactions. */
  record Seen(List<String> calls) implements MethodInterceptor {
    @Override
    public @Nullable Object invoke(org.aopalliance.intercept.MethodInvocation call)
        throws Throwable {
      calls.add("begin");
      return call.proceed();
    }
  }

  private final Limited limited = new Limited();

  private static void assertTwoOf(Api api) {
    api.checkout("ann");
    api.checkout("ann");
    assertThatExceptionOfType(RateLimitExceededException.class)
        .isThrownBy(() -> api.checkout("ann"));
    api.checkout("bob");
  }

  @Test
  void classProxy_limits() {
    limited
        .runner()
        .withBean(Shop.class)
        .run(
            context -> {
              assertThat(AopUtils.isCglibProxy(context.getBean(Api.class))).isTrue();
              assertTwoOf(context.getBean(Shop.class));
            });
  }

  @Test
  void interfaceProxy_limits() {
    limited
        .runner()
        .withPropertyValues("spring.aop.proxy-target-class=false")
        .withBean(Shop.class)
        .run(
            context -> {
              assertThat(AopUtils.isJdkDynamicProxy(context.getBean(Api.class))).isTrue();
              assertTwoOf(context.getBean(Api.class));
            });
  }

  @Test
  void beanThatIsAProxyAlready_isLimited() {
    Supplier<Api> client =
        () -> ProxyFactory.getProxy(Api.class, (MethodInterceptor) call -> "done");
    limited
        .runner()
        .withBean("client", Api.class, client)
        .run(context -> assertTwoOf(context.getBean(Api.class)));
  }

  @Test
  void springAopAlone_isEnough() {
    new ApplicationContextRunner()
        .withClassLoader(new FilteredClassLoader("org.aspectj"))
        .withPropertyValues("weir.domain=shop", "spring.aop.auto=false")
        .withConfiguration(
            AutoConfigurations.of(AopAutoConfiguration.class, RateLimitAutoConfiguration.class))
        .withBean(Decider.class, () -> limited.engine)
        .withBean(Shop.class)
        .run(context -> assertTwoOf(context.getBean(Api.class)));
  }

  @Test
  void callFromWithin_isNotLimited() {
    limited.run(
        Shop.class,
        shop -> {
          shop.twice("ann");
          shop.twice("ann");
        });
  }

  @Test
  void methodsOwnAnnotation_replacesThatOfTheInterface() {
    limited.run(
        OwnLimit.class,
        shop -> {
          shop.checkout("ann");
          assertThatExceptionOfType(RateLimitExceededException.class)
              .isThrownBy(() -> shop.checkout("bob"));
        });
    limited.run(
        Free.class,
        shop -> {
          for (int i = 0; i < 5; i++) {
            shop.checkout("ann");
          }
        });
  }

  private List<String> callsSeen(String order) {
    List<String> calls = new ArrayList<>();
    limited
        .runner()
        .withPropertyValues(order)
        .withBean(Shop.class)
        .withBean(
            "transactions",
            Advisor.class,
            () -> {
              DefaultPointcutAdvisor advisor =
                  new DefaultPointcutAdvisor(
                      new ComposablePointcut(new RootClassFilter(Api.class)), new Seen(calls));
              advisor.setOrder(Ordered.LOWEST_PRECEDENCE - 1);
              return advisor;
            },
            definition -> definition.setRole(2))
        .run(context -> assertTwoOf(context.getBean(Shop.class)));
    return calls;
  }

  @Test
  void order_isOutsideOfTransactions() {
    assertThat(callsSeen("weir.enabled=true")).hasSize(3);
  }

  @Test
  void order_canBeSet() {
    assertThat(callsSeen("weir.annotations.order=2147483647")).hasSize(4);
  }

  @Test
  void withoutDecider_nothingIsLimited() {
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(AopAutoConfiguration.class, RateLimitAutoConfiguration.class))
        .withBean(Shop.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(AopUtils.isAopProxy(context.getBean(Shop.class))).isFalse();
            });
  }
}
