package dev.weir.traffic.internal.read;

import dev.weir.identity.AddressKey;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The one form of a client's address, however a log writes it: without port, brackets and zone,
 * IPv6 in its short form, an IPv4 address that is mapped into IPv6 as itself. Of a list of
 * addresses the first counts, or the first from the right that is no trusted proxy. Text that is
 * not an address stays as it is. Not safe for use by several threads.
 */
final class CanonicalAddresses {
  /**
   * The number of texts that are remembered, a power of two: a log has the same clients many times.
   */
  private static final int REMEMBERED = 1 << 10;

  /** The longest text that is remembered, so that memory is bounded. */
  private static final int LONGEST = 128;

  private final byte[][] written = new byte[REMEMBERED][];
  private final byte[][] canonical = new byte[REMEMBERED][];
  private long lists;

  /** Replaces an address in a slot by the client behind trusted proxies. */
  void replace(RecordValues values, int slot, ProxiedClients proxies, int forwardedSlot) {
    String forwarded = forwardedSlot < 0 || forwardedSlot == slot ? "" : values.text(forwardedSlot);
    String text = values.text(slot);
    if (forwarded.isEmpty() && text.indexOf(',') < 0) {
      replace(values, slot);
      return;
    }
    byte[] client = proxies.of(forwarded, text).getBytes(StandardCharsets.UTF_8);
    values.set(slot, client, 0, client.length);
  }

  /** Replaces the address in a slot by its one form. */
  void replace(RecordValues values, int slot) {
    byte[] data = values.data(slot);
    int from = values.from(slot);
    int to = values.to(slot);
    int at = from;
    while (at < to && (data[at] == '.' || (data[at] >= '0' && data[at] <= '9'))) {
      at++;
    }
    if (at < to) { // Only IPv4 has a single form.
      other(values, slot, data, from, to);
    }
  }

  private void other(RecordValues values, int slot, byte[] data, int from, int to) {
    int hash = 0;
    boolean list = false;
    for (int at = from; at < to; at++) {
      hash = 31 * hash + data[at];
      list |= data[at] == ',';
    }
    int place = (hash ^ (hash >>> 10)) & (REMEMBERED - 1);
    byte[] known = written[place];
    byte[] form;
    if (known != null && Arrays.equals(known, 0, known.length, data, from, to)) {
      form = canonical[place];
    } else {
      form =
          of(new String(data, from, to - from, StandardCharsets.UTF_8))
              .getBytes(StandardCharsets.UTF_8);
      if (to - from <= LONGEST) {
        written[place] = Arrays.copyOfRange(data, from, to);
        canonical[place] = form;
      }
    }
    lists += list && form.length < to - from ? 1 : 0;
    values.set(slot, form, 0, form.length);
  }

  /** Returns the one form of a text. A text that does not begin with an address stays. */
  static String of(String text) {
    int comma = text.indexOf(',');
    String first = comma < 0 ? text : text.substring(0, comma).strip();
    String whole = AddressKey.WHOLE.of(first);
    return whole == null ? text : whole;
  }

  /** Returns how many of the texts were lists. */
  long lists() {
    return lists;
  }
}
