package dev.weir.identity;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Values of ranges of addresses, such as {@code 172.16.0.0/12}, of which the smallest range that
 * contains an address counts (longest prefix match). Immutable and safe for use by many threads.
 *
 * @param <T> the type of the values
 */
public final class AddressRanges<T> {
  /** The ranges of one length, by their networks. */
  private record Ranges<T>(boolean v4, int prefix, Map<IpAddress, T> byNetwork) {}

  /** All lengths, the longest first. */
  private final List<Ranges<T>> lengths;

  private AddressRanges(List<Ranges<T>> lengths) {
    this.lengths = lengths;
  }

  /**
   * Returns the values of ranges.
   *
   * @param byRange each range in the form that {@link #isRange} accepts; of two forms of one range
   *     the first counts
   * @throws IllegalArgumentException if a text is no range
   */
  public static <T> AddressRanges<T> of(Map<String, T> byRange) {
    List<Ranges<T>> lengths = new ArrayList<>();
    byRange.forEach(
        (text, value) -> {
          Cidr range = range(text);
          if (range == null) {
            throw new IllegalArgumentException(
                QuotedText.of(text) + " (expected: a range such as 10.0.0.0/8 or 2001:db8::/32)");
          }
          ofLength(lengths, range).byNetwork.putIfAbsent(range.network(), value);
        });
    lengths.sort(Comparator.<Ranges<T>>comparingInt(Ranges::prefix).reversed());
    return new AddressRanges<>(List.copyOf(lengths));
  }

  private static <T> Ranges<T> ofLength(List<Ranges<T>> lengths, Cidr range) {
    for (Ranges<T> each : lengths) {
      if (each.v4 == range.network().v4() && each.prefix == range.prefix()) {
        return each;
      }
    }
    Ranges<T> added = new Ranges<>(range.network().v4(), range.prefix(), new HashMap<>());
    lengths.add(added);
    return added;
  }

  /**
   * Returns whether a text is a range: a network and its prefix, {@code 172.16.0.0/12} or {@code
   * 2001:db8::/32}, without bits behind the prefix. A prefix of 0 is none.
   */
  public static boolean isRange(String text) {
    return range(text) != null;
  }

  private static @Nullable Cidr range(String text) {
    if (text.indexOf('/') < 0) {
      return null;
    }
    try {
      return Cidr.parse(text);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /**
   * Returns the value of the smallest range that contains an address, or the whole of a network.
   *
   * @param address as keys have it: {@code 203.0.113.7}, {@code 2001:db8::1}, or a network such as
   *     {@code 2001:db8:1:2::/64}; also with a port
   * @return null if no range does, or the text is neither
   */
  public @Nullable T find(String address) {
    Cidr network = range(address);
    IpAddress first = network == null ? Node.parse(address) : network.network();
    if (first == null) {
      return null;
    }
    int most = network == null ? first.bits() : network.prefix();
    for (Ranges<T> each : lengths) {
      if (each.v4 == first.v4() && each.prefix <= most) {
        T found = each.byNetwork.get(first.cut(each.prefix));
        if (found != null) {
          return found;
        }
      }
    }
    return null;
  }
}
