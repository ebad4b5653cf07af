package dev.weir.spring.method;

import dev.weir.identity.SecretHash;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Collection;
import java.util.Optional;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/** The value of a key's expression as the value of a descriptor's entry. */
final class KeyText {
  /** The longest value that is an unchanged key, in UTF-16 code units, as in the filters. */
  static final int MAX_LENGTH = 1_024;

  private static final String HASHED = "sha256:";

  private KeyText() {}

  /**
   * Returns the text: unchanged if it can be shown and is not too long, else {@code sha256:} and a
   * hash. Different texts stay different. Null and the empty text both become the empty text, and
   * no other value does.
   *
   * @throws IllegalArgumentException if the value, or an element of it, has no text of its own; the
   *     message states what is expected
   */
  static String of(@Nullable Object value) {
    String text = text(value);
    boolean plain =
        text.length() <= MAX_LENGTH
            && !text.startsWith(HASHED)
            && !text.codePoints().anyMatch(KeyText::hides);
    return plain ? text : HASHED + SecretHash.plain().of(text);
  }

  private static String text(@Nullable Object value) {
    if (value == null) {
      return "";
    } else if (value instanceof CharSequence
        || value instanceof Number
        || value instanceof Enum<?>) {
      return value.toString();
    } else if (value instanceof Optional<?> optional) {
      return text(optional.orElse(null));
    } else if (value instanceof Principal principal) {
      return text(principal.getName());
    } else if (value instanceof Collection<?> elements) {
      return joined(elements);
    } else if (!hasText(value.getClass())) {
      // Object.toString is another text for each object: all calls would pass.
      throw new IllegalArgumentException(
          "a value with a toString of its own, which "
              + value.getClass().getTypeName()
              + " has not");
    }
    return value.toString();
  }

  /** Joins elements so that different lists become different texts. */
  private static String joined(Collection<?> elements) {
    StringJoiner text = new StringJoiner(",");
    for (Object element : elements) {
      text.add(text(element).replace("%", "%25").replace(",", "%2C"));
    }
    return text.toString();
  }

  private static boolean hasText(Class<?> type) {
    try {
      Method toString = type.getMethod("toString");
      return toString.getDeclaringClass() != Object.class;
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(e); // Every Java platform has SHA-256.
    }
  }

  /** Returns whether a character could steer a terminal or be invisible in a log. */
  private static boolean hides(int c) {
    int type = Character.getType(c);
    return type == Character.CONTROL
        || type == Character.FORMAT
        || type == Character.SURROGATE
        || type == Character.LINE_SEPARATOR
        || type == Character.PARAGRAPH_SEPARATOR;
  }
}
