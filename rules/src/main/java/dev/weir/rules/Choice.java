package dev.weir.rules;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The text form of enum constants: in lower case, with hyphens between words. */
public final class Choice {
  private Choice() {}

  /** Returns the text form of a constant: {@code RESP_RULES} is {@code resp-rules}. */
  public static String text(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns the text forms of all constants of a type, in their order. */
  public static <E extends Enum<E>> List<String> texts(Class<E> type) {
    return Arrays.stream(type.getEnumConstants()).map(Choice::text).toList();
  }

  /**
   * Returns the constant that the text stands for.
   *
   * @param name what the value is for, such as a flag
   * @throws IllegalArgumentException if there is none; the message lists all
   */
  public static <E extends Enum<E>> E of(Class<E> type, String name, String text) {
    for (E each : type.getEnumConstants()) {
      if (text(each).equals(text)) {
        return each;
      }
    }
    throw Expected.error(name, ShownText.plain(text), "one of " + String.join(", ", texts(type)));
  }
}
