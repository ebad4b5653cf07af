package dev.weir.admin.internal.rules;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Changes of a JSON object by another one. [RFC 7396] */
public final class MergePatch {
  private MergePatch() {}

  /** Returns the target with the changes of the patch: a null removes a member. */
  public static Map<String, @Nullable Object> apply(Map<?, ?> target, Map<?, ?> patch) {
    Map<String, @Nullable Object> result = new LinkedHashMap<>();
    target.forEach((name, value) -> result.put((String) name, value));
    patch.forEach(
        (name, value) -> {
          if (value == null) {
            result.remove((String) name);
          } else if (value instanceof Map<?, ?> inner) {
            Object before = result.get((String) name);
            result.put(
                (String) name, apply(before instanceof Map<?, ?> map ? map : Map.of(), inner));
          } else {
            result.put((String) name, value);
          }
        });
    return result;
  }
}
