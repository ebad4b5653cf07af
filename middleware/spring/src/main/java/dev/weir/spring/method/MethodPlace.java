package dev.weir.spring.method;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

/** The place of an annotation, for messages. */
final class MethodPlace {
  private MethodPlace() {}

  /** Returns the method with its class and its parameters. */
  static String of(Method method, Class<?> targetClass) {
    return targetClass.getName() + "." + method.getName() + parameters(method);
  }

  /** Returns the types of the parameters in parentheses. */
  static String parameters(Method method) {
    return Arrays.stream(method.getParameterTypes())
        .map(Class::getSimpleName)
        .collect(Collectors.joining(", ", "(", ")"));
  }
}
