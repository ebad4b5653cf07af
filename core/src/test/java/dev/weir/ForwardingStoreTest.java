package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ForwardingStoreTest {
  static Stream<Method> methods() {
    return Arrays.stream(Store.class.getMethods());
  }

  /** Checks all methods, since one with a default is easily forgotten. */
  @ParameterizedTest
  @MethodSource("methods")
  void everyMethodOfAStore_isForwarded(Method method) throws NoSuchMethodException {
    assertThat(ForwardingStore.class.getMethod(method.getName(), method.getParameterTypes()))
        .extracting(Method::getDeclaringClass)
        .isEqualTo(ForwardingStore.class);
  }
}
