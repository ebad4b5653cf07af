package dev.weir.spring.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weir.spring.RateLimit;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;
import org.springframework.core.PrioritizedParameterNameDiscoverer;

/** Tests of methods of class files without names of parameters. */
class LimitedMethodsTest {
  static class ByIndex {
    @RateLimit(name = "one", key = "#p0 + #a1")
    public void call(String user, int amount) {}
  }

  static class ByName {
    @RateLimit(name = "one", key = "#user")
    public void call(String user, int amount) {}
  }

  private final LimitedMethods methods =
      new LimitedMethods(new PrioritizedParameterNameDiscoverer());

  private static Method call(Class<?> type) throws NoSuchMethodException {
    return type.getMethod("call", String.class, int.class);
  }

  @Test
  void withoutNamesOfParameters_indexesWork() throws NoSuchMethodException {
    LimitedMethod found = methods.find(call(ByIndex.class), ByIndex.class);
    assertThat(found).isNotNull();
    assertThat(methods.find(call(ByIndex.class), ByIndex.class)).isSameAs(found);
    assertThat(methods.getClassFilter().matches(ByIndex.class)).isTrue();
    assertThat(methods.getClassFilter().matches(String.class)).isFalse();
  }

  @Test
  void withoutNamesOfParameters_aNameIsAnError() {
    assertThatIllegalStateException()
        .isThrownBy(() -> methods.find(call(ByName.class), ByName.class))
        .withMessage(
            ByName.class.getName()
                + ".call(String, int): @RateLimit key: \"#user\": there is no #user (expected: one"
                + " of #p0 #p1 #a0 #a1 #root #this; names of parameters are not in the class file,"
                + " which takes -parameters when it is compiled)");
  }
}
