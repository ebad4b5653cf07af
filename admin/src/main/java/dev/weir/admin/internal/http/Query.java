package dev.weir.admin.internal.http;

import dev.weir.admin.internal.limits.ShownText;
import dev.weir.rules.DurationText;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The query of an address: the part behind the question mark. */
public final class Query {
  private static final int MAX_LENGTH = 16 << 10;

  private final Map<String, String> values = new LinkedHashMap<>();

  /**
   * @throws RequestException with 400 if a name is unknown or occurs twice
   */
  public Query(String text, Set<String> known) {
    if (text.length() > MAX_LENGTH) {
      throw new RequestException(
          400, "query: " + text.length() + " bytes (expected: at most 16384)");
    }
    for (String part : text.isEmpty() ? new String[0] : text.split("&", -1)) {
      int equals = part.indexOf('=');
      String name = PercentText.decode(equals < 0 ? part : part.substring(0, equals), true);
      String value = equals < 0 ? "" : PercentText.decode(part.substring(equals + 1), true);
      if (!known.contains(name)) {
        throw new RequestException(
            400,
            "query: "
                + ShownText.brief(name)
                + " (expected: "
                + (known.isEmpty() ? "none" : String.join(", ", known.stream().sorted().toList()))
                + ")");
      }
      if (values.putIfAbsent(name, value) != null) {
        throw new RequestException(
            400, "query: " + ShownText.brief(name) + " twice (expected: once)");
      }
    }
  }

  public boolean has(String name) {
    return values.containsKey(name);
  }

  /** Returns a value, or an empty text. */
  public String text(String name) {
    return values.getOrDefault(name, "");
  }

  public long number(String name, long otherwise, long least, long most) {
    String value = values.get(name);
    if (value == null) {
      return otherwise;
    }
    try {
      long number = value.matches("[0-9]{1,18}") ? Long.parseLong(value) : -1;
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new IllegalStateException(e); // Digits only.
    }
    throw new RequestException(400, ShownText.wrong(name, value, least + ".." + most));
  }

  public boolean truth(String name) {
    String value = values.getOrDefault(name, "false");
    if (!value.equals("true") && !value.equals("false")) {
      throw new RequestException(400, ShownText.wrong(name, value, "true or false"));
    }
    return value.equals("true");
  }

  /** Returns a duration in nanoseconds. */
  public long nanos(String name, long otherwise, long most) {
    String value = values.get(name);
    if (value == null) {
      return otherwise;
    }
    try {
      return DurationText.read(name, value, 0, most);
    } catch (IllegalArgumentException e) {
      throw new RequestException(400, String.valueOf(e.getMessage()));
    }
  }
}
