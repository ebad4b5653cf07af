package dev.weir.spring.test.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weir.engine.Status;
import dev.weir.rules.Descriptor;
import dev.weir.spring.RateLimit;
import dev.weir.spring.RateLimitExceededException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.core.annotation.AliasFor;

/** Tests of the attributes on methods that return their result. */
class MethodLimitTest {
  record User(@Nullable String id) {}

  @Retention(RetentionPolicy.RUNTIME)
  @RateLimit(name = "checkout")
  @interface Checkout {
    @AliasFor(annotation = RateLimit.class, attribute = "key")
    String by();
  }

  static class Shop {
    private int runs;

    /** Returns the count through a method, because a field of the proxy is not the bean's. */
    int runs() {
      return runs;
    }

    @RateLimit(name = "checkout", key = "#user.id")
    public String checkout(User user) {
      runs++;
      return "done " + user.id();
    }

    @RateLimit(name = "checkout", key = "#p0")
    public void byText(String key) {
      runs++;
    }

    @RateLimit(name = "checkout", key = "{#tenant, #user}")
    public void byBoth(String tenant, String user) {
      runs++;
    }

    @RateLimit(name = "checkout", key = "@prices.current() + #root.method.name")
    public void byBean() {
      runs++;
    }

    @RateLimit(name = "three", permits = "#items.size()")
    public void order(List<String> items) {
      runs++;
    }

    @RateLimit(name = "one", condition = "#amount > 100")
    public void pay(int amount) {
      runs++;
    }

    @RateLimit(name = "three")
    @RateLimit(name = "one")
    public void both() {
      runs++;
    }

    @RateLimit(name = "three")
    public void three() {
      runs++;
    }

    @Checkout(by = "#name")
    public void composed(String name) {
      runs++;
    }

    @RateLimit(name = "one", key = "#object")
    public void byIdentity(Object object) {
      runs++;
    }

    @RateLimit(name = "one")
    public void untilTomorrow() throws java.io.IOException {
      throw new java.io.IOException("the shop is closed");
    }
  }

  @RateLimit(name = "three")
  static class Limits {
    public void first() {}

    @RateLimit(name = "one")
    public void second() {}

    @RateLimit.Exempt
    public void free() {}

    @Override
    public String toString() {
      return "limits";
    }
  }

  private final Limited limited = new Limited();

  private static RateLimitExceededException refusal(ThrowingCallable call) {
    return assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(call).actual();
  }

  @Test
  void key_countsForItself() {
    limited.run(
        Shop.class,
        shop -> {
          assertThat(shop.checkout(new User("ann"))).isEqualTo("done ann");
          shop.checkout(new User("ann"));
          RateLimitExceededException refusal = refusal(() -> shop.checkout(new User("ann")));
          assertThat(refusal.retryAfter()).isEqualTo(Duration.ofMinutes(1));
          assertThat(refusal).hasMessageContaining("allows 2 requests per 60 s. Retry in 60 s.");
          assertThat(refusal.answer().statuses())
              .extracting(Status::allowed)
              .containsExactly(false);
          assertThat(refusal.request().descriptors())
              .containsExactly(
                  new Descriptor(
                      Descriptor.of("name", "checkout", "key", "ann").entries(), null, 1L));
          assertThat(shop.checkout(new User("bob"))).isEqualTo("done bob");
        });
  }

  @Test
  void missingKey_sharesOneCounterWithNobodyElse() {
    limited.run(
        Shop.class,
        shop -> {
          shop.checkout(new User(null));
          shop.checkout(new User(""));
          refusal(() -> shop.checkout(new User(null)));
          shop.checkout(new User("null"));
          shop.checkout(new User("null"));
        });
  }

  @Test
  void keyOfSeveralParts_doesNotRunTogether() {
    limited.run(
        Shop.class,
        shop -> {
          shop.byBoth("a,b", "c");
          shop.byBoth("a,b", "c");
          shop.byBoth("a", "b,c");
          refusal(() -> shop.byBoth("a,b", "c"));
        });
  }

  @Test
  void longKey_isHashed() {
    limited.run(
        Shop.class,
        shop -> {
          String start = "x".repeat(10_000);
          shop.byText(start + "a");
          shop.byText(start + "a");
          refusal(() -> shop.byText(start + "a"));
          shop.byText(start + "b");
          shop.byText("a\nb");
        });
  }

  @Test
  void keyWithoutText_isAnError() {
    limited.run(
        Shop.class,
        shop ->
            assertThatIllegalStateException()
                .isThrownBy(() -> shop.byIdentity(new Object()))
                .withMessage(
                    Shop.class.getName()
                        + ".byIdentity(Object): @RateLimit key: \"#object\" (expected: a value with a"
                        + " toString of its own, which java.lang.Object has not)"));
  }

  static class Prices {
    public String current() {
      return "today";
    }
  }

  @Test
  void bean_givesTheKey() {
    limited
        .runner()
        .withBean(Shop.class)
        .withBean("prices", Prices.class)
        .run(
            context -> {
              Shop shop = context.getBean(Shop.class);
              shop.byBean();
              shop.byBean();
              assertThat(
                      refusal(shop::byBean).request().descriptors().get(0).entries().get(1).value())
                  .isEqualTo("todaybyBean");
            });
  }

  @Test
  void permits_areCharged() {
    limited.run(
        Shop.class,
        shop -> {
          shop.order(List.of("a", "b"));
          assertThat(refusal(() -> shop.order(List.of("c", "d"))).retryAfter())
              .isEqualTo(Duration.ofMinutes(1));
          shop.order(List.of("e"));
          shop.order(List.of());
          assertThat(refusal(() -> shop.order(List.of("1", "2", "3", "4"))).retryAfter()).isNull();
          assertThat(shop.runs()).isEqualTo(3);
        });
  }

  @Test
  void condition_saysWhatIsLimited() {
    limited.run(
        Shop.class,
        shop -> {
          shop.pay(101);
          refusal(() -> shop.pay(101));
          shop.pay(100);
          shop.pay(100);
        });
  }

  @Test
  void severalAnnotations_chargeAllOrNothing() {
    limited.run(
        Shop.class,
        shop -> {
          shop.both();
          refusal(shop::both);
          refusal(shop::both);
          shop.three();
          shop.three();
          refusal(shop::three);
          assertThat(shop.runs()).isEqualTo(3);
        });
  }

  @Test
  void metaAnnotation_handsItsAttributeOn() {
    limited.run(
        Shop.class,
        shop -> {
          shop.composed("ann");
          shop.composed("ann");
          refusal(() -> shop.composed("ann"));
          shop.composed("bob");
        });
  }

  @Test
  void classAndMethod_areOneRequest() {
    limited.run(
        Limits.class,
        limits -> {
          limits.second();
          assertThat(refusal(limits::second).request().descriptors()).hasSize(2);
          limits.first();
          limits.first();
          refusal(limits::first);
          limits.free();
          assertThat(limits).hasToString("limits");
        });
  }

  @Test
  void time_bringsPermitsBack() {
    limited.run(
        Shop.class,
        shop -> {
          shop.pay(200);
          refusal(() -> shop.pay(200));
          limited.ticker.advance(Duration.ofMinutes(1));
          shop.pay(200);
        });
  }

  @Test
  void exceptionOfTheMethod_comesThrough() {
    limited.run(
        Shop.class,
        shop -> {
          assertThatExceptionOfType(java.io.IOException.class).isThrownBy(shop::untilTomorrow);
          refusal(shop::untilTomorrow);
        });
  }

  @Test
  void requestThatCannotBeDecided_isAnError() {
    limited
        .runner()
        .withPropertyValues("weir.domain=" + "x".repeat(5_000))
        .withBean(Shop.class)
        .run(
            context ->
                assertThatIllegalStateException()
                    .isThrownBy(context.getBean(Shop.class)::three)
                    .withMessageContaining("Shop.three(): @RateLimit: domain length: 5000"));
  }

  @Test
  void disabled_limitsNothing() {
    limited
        .runner()
        .withPropertyValues("weir.enabled=false")
        .withBean(Shop.class)
        .run(
            context -> {
              Shop shop = context.getBean(Shop.class);
              shop.pay(200);
              shop.pay(200);
            });
  }
}
