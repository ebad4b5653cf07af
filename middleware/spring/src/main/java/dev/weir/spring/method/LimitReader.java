package dev.weir.spring.method;

import dev.weir.rules.DurationText;
import dev.weir.rules.ShownText;
import dev.weir.rules.ValueErrors;
import dev.weir.spring.RateLimit;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterNameDiscoverer;

/** A reader of the annotations of one method: every problem with them is an error here. */
final class LimitReader {
  private static final long MIN_WAIT_NANOS = 1_000_000L;
  private static final long MAX_WAIT_NANOS = 60_000_000_000L;

  /** The longest name, the same as for a key from an expression. */
  private static final int MAX_NAME_LENGTH = KeyText.MAX_LENGTH;

  private final Method method;
  private final Class<?> targetClass;
  private final String place;
  private final Set<String> variables;
  private final String expectedVariables;

  /**
   * Makes a reader.
   *
   * @param method the method of the class itself
   */
  LimitReader(Method method, Class<?> targetClass, ParameterNameDiscoverer names) {
    this.method = method;
    this.targetClass = targetClass;
    this.place = MethodPlace.of(method, targetClass) + ": @RateLimit";
    String @Nullable [] parameters = names.getParameterNames(method);
    this.variables = variables(parameters, method.getParameterCount());
    this.expectedVariables =
        "one of "
            + String.join(" ", variables)
            + (parameters == null
                ? "; names of parameters are not in the class file, which takes -parameters when it"
                    + " is compiled"
                : "");
  }

  private static Set<String> variables(String @Nullable [] parameters, int count) {
    Set<String> names = new LinkedHashSet<>();
    if (parameters != null) {
      for (String parameter : parameters) {
        names.add("#" + parameter);
      }
    }
    for (String prefix : List.of("#p", "#a")) {
      for (int i = 0; i < count; i++) {
        names.add(prefix + i);
      }
    }
    names.add("#root");
    names.add("#this");
    return names;
  }

  /**
   * Reads annotations, in their order.
   *
   * @throws IllegalStateException if one is wrong
   */
  List<MethodLimit> read(List<RateLimit> annotations) {
    List<MethodLimit> limits = new ArrayList<>();
    for (RateLimit annotation : annotations) {
      limits.add(read(annotation));
    }
    return List.copyOf(limits);
  }

  private MethodLimit read(RateLimit annotation) {
    int length = annotation.name().length();
    if (length < 1 || length > MAX_NAME_LENGTH) {
      throw wrong("name", annotation.name(), "1 to " + MAX_NAME_LENGTH + " characters");
    }
    MethodExpression permits = expression("permits", annotation.permits());
    if (permits == null) {
      throw wrong("permits", "", "an integer, 0 or more");
    }
    if (permits.isLiteral()) {
      permits.permits(null);
    }
    String fallback = annotation.fallback();
    return new MethodLimit(
        annotation.name(),
        expression("key", annotation.key()),
        permits,
        expression("condition", annotation.condition()),
        fallback.isEmpty()
            ? null
            : Fallback.find(place + " fallback", method, targetClass, fallback),
        maxWaitNanos(annotation.maxWait()));
  }

  private @Nullable MethodExpression expression(String attribute, String text) {
    return text.isEmpty()
        ? null
        : MethodExpression.parse(place + " " + attribute, text, variables, expectedVariables);
  }

  private long maxWaitNanos(String text) {
    if (text.isEmpty()) {
      return 0;
    }
    long nanos = DurationText.parse(text);
    if (nanos < MIN_WAIT_NANOS || nanos > MAX_WAIT_NANOS) {
      throw wrong("maxWait", text, "1ms to 1m, such as 500ms or 2s");
    }
    return nanos;
  }

  private IllegalStateException wrong(String attribute, String text, String expected) {
    return new IllegalStateException(
        ValueErrors.line(place + " " + attribute, ShownText.quoted(text), expected));
  }
}
