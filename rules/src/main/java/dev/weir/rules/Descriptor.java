package dev.weir.rules;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of a request that one rule decides: an ordered list of entries.
 *
 * @param limitOverride the limit that the request itself brings, or null
 * @param permits the permits of this descriptor, 0 to peek, or null for those of the request
 * @param refund the permits that the descriptor gives back instead, whichever requests were charged
 *     for them; 0 for none. A component that does not handle them sees a descriptor that only peeks
 */
public record Descriptor(
    List<Entry> entries,
    @Nullable LimitOverride limitOverride,
    @Nullable Long permits,
    long refund) {

  public Descriptor {
    entries = List.copyOf(entries);
  }

  /** Returns a descriptor that takes permits. */
  public Descriptor(
      List<Entry> entries, @Nullable LimitOverride limitOverride, @Nullable Long permits) {
    this(entries, limitOverride, permits, 0);
  }

  /**
   * Returns a descriptor that gives permits back.
   *
   * @param permits at least 0
   */
  public static Descriptor refunding(
      List<Entry> entries, @Nullable LimitOverride limitOverride, long permits) {
    return new Descriptor(entries, limitOverride, 0L, permits);
  }

  /**
   * Returns a descriptor of the given keys and values, key and value alternating.
   *
   * @throws IllegalArgumentException if a value is missing
   */
  public static Descriptor of(String... keysAndValues) {
    if (keysAndValues.length % 2 != 0) {
      throw new IllegalArgumentException(
          "keysAndValues: " + keysAndValues.length + " (expected: an even number)");
    }
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      entries.add(new Entry(keysAndValues[i], keysAndValues[i + 1]));
    }
    return new Descriptor(entries, null, null);
  }
}
