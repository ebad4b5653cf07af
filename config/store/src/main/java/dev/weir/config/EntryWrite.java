package dev.weir.config;

import dev.weir.config.internal.bytes.Check;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An entry to be put in the place of another, or to be deleted, if it still has a version.
 *
 * @param json what to put, as in {@link Entry}; null deletes
 * @param expectedVersion of the entry that is stored; {@link RecordWrite#ABSENT} if none may be
 *     stored, {@link RecordWrite#ANY} if it does not matter
 * @param secret the names of members that are left out of the log of changes
 */
public record EntryWrite(
    String kind, String name, @Nullable String json, long expectedVersion, Set<String> secret) {
  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if one is out of its range
   */
  public EntryWrite {
    Check.range("expectedVersion", expectedVersion, RecordWrite.ANY, Long.MAX_VALUE);
    Entry checked = new Entry(kind, name, json == null ? "{}" : json, 0);
    json = json == null ? null : checked.json();
    secret = Set.copyOf(secret);
  }

  public static EntryWrite put(String kind, String name, String json, long expectedVersion) {
    return new EntryWrite(kind, name, json, expectedVersion, Set.of());
  }

  /**
   * Returns a write that deletes an entry; a missing entry needs no deletion and makes no change.
   */
  public static EntryWrite delete(String kind, String name, long expectedVersion) {
    return new EntryWrite(kind, name, null, expectedVersion, Set.of());
  }
}
