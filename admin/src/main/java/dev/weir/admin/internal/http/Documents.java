package dev.weir.admin.internal.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A reader of documents from other servers, which may have another version: missing members are
 * read as empty.
 */
public final class Documents {
  private Documents() {}

  public static Map<String, @Nullable Object> object(@Nullable Object value) {
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> object) {
      object.forEach((name, member) -> members.put(String.valueOf(name), member));
    }
    return members;
  }

  public static List<Map<String, @Nullable Object>> objects(@Nullable Object value) {
    List<Map<String, @Nullable Object>> objects = new ArrayList<>();
    list(value).forEach(each -> objects.add(object(each)));
    return objects;
  }

  public static List<@Nullable Object> list(@Nullable Object value) {
    return value instanceof List<?> list ? new ArrayList<>(list) : List.of();
  }

  public static @Nullable Long number(@Nullable Object value) {
    return value instanceof Long number
        ? number
        : value instanceof Integer i ? i.longValue() : null;
  }

  public static long count(@Nullable Object value) {
    Long number = number(value);
    return number == null ? 0 : number;
  }

  public static String text(@Nullable Object value) {
    return value instanceof String text ? text : "";
  }

  /** Returns a modifiable copy without the members that are null. */
  public static Map<String, Object> copy(Map<String, @Nullable Object> of) {
    Map<String, Object> copy = new LinkedHashMap<>();
    of.forEach(
        (name, value) -> {
          if (value != null) {
            copy.put(name, value);
          }
        });
    return copy;
  }
}
