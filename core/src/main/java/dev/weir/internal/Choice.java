package dev.weir.internal;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The text forms of enum constants, in lower case: for users, and for JSON, metrics and tables. */
public final class Choice {
  private Choice() {}

  /**
   * Returns the form that users read and write, with hyphens: {@code RESP_RULES} is {@code
   * resp-rules}.
   */
  public static String text(Enum<?> constant) {
    return name(constant).replace('_', '-');
  }

  /**
   * Returns the form for JSON, metrics and tables, with underscores: {@code OVER_LIMIT} is {@code
   * over_limit}.
   */
  public static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the forms for users of all constants of a type, in their order. */
  public static <E extends Enum<E>> List<String> texts(Class<E> type) {
    return Arrays.stream(type.getEnumConstants()).map(Choice::text).toList();
  }

  /** Returns the constant with this form for users, or null if there is none. */
  public static <E extends Enum<E>> @Nullable E find(Class<E> type, String text) {
    for (E each : type.getEnumConstants()) {
      if (text(each).equals(text)) {
        return each;
      }
    }
    return null;
  }
}
