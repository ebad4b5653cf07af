package dev.weir.replay.internal.recorded;

import dev.weir.internal.Varint;
import dev.weir.internal.VarintReader;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.List;

/**
 * A segment of recorded traffic: requests in the order of their times, and each of their texts
 * once. For one thread at a time while it is open; immutable once it is closed.
 */
public final class TrafficSegment {
  /*
   * How is TrafficSegment designed, and why? One array of bytes holds all: requests grow from its
   * front, texts from its end, until they meet. The number of a text is its distance from the end.
   * So texts that came first, which are mostly the frequent ones, have short numbers, and the array
   * can grow and shrink in the middle. A table from fingerprints to these numbers is there only
   * while the segment is open. Nothing outside a segment refers to its texts: a segment is dropped
   * whole, with its texts, and nothing has to be counted or searched for that.
   *
   * A request is: the time since the one before; the domain; the number of descriptors and whether
   * the permits are other than 1; for each descriptor its number of entries, whether it has permits
   * and a limit of its own, and the numbers of its texts. All numbers are of seven bits a byte.
   */

  /** The bytes that the objects take beside the contents of their arrays, about. */
  private static final int OBJECT_BYTES = 192;

  private static final List<RateLimitUnit> UNITS = List.of(RateLimitUnit.values());

  private static final int FIRST_SLOTS = 64;
  private static final int SLOT_BYTES = Long.BYTES + Integer.BYTES;

  private byte[] data;
  private int front;

  /** The number of bytes of texts, at the end of the array. */
  private int texts;

  /** Fingerprints of the texts, 0 for an empty slot; at most half of the slots are taken. */
  private long[] fingerprints = new long[FIRST_SLOTS];

  private int[] numbers = new int[FIRST_SLOTS];
  private int slotsTaken;
  private int requests;
  private long firstNanos;
  private long lastNanos;

  TrafficSegment(int bytes) {
    data = new byte[bytes];
  }

  /** Returns the bytes that a new segment of that size takes in total. */
  static int bytesOf(int bytes) {
    return OBJECT_BYTES + bytes + FIRST_SLOTS * SLOT_BYTES;
  }

  /** Returns the bytes that this segment takes in total. */
  int bytes() {
    return OBJECT_BYTES + data.length + fingerprints.length * SLOT_BYTES;
  }

  /** Returns the most bytes that a request can need. */
  static long need(Request request) {
    long need = 4L * Varint.MAX_BYTES + textNeed(request.domain());
    List<Descriptor> descriptors = request.descriptors();
    for (int i = 0; i < descriptors.size(); i++) {
      need += 3 * Varint.MAX_BYTES + 1;
      List<Entry> entries = descriptors.get(i).entries();
      for (int j = 0; j < entries.size(); j++) {
        Entry entry = entries.get(j);
        need += textNeed(entry.key()) + textNeed(entry.value());
      }
    }
    return need;
  }

  /**
   * Returns the bytes that a text can need: the text, its length, and its number in the request.
   */
  private static long textNeed(String text) {
    return 2L * text.length() + 2 * 5;
  }

  /** Returns the bytes that are free. */
  int free() {
    return data.length - front - texts;
  }

  /** Returns the length of the array. */
  int capacity() {
    return data.length;
  }

  /** Returns whether a request of so many texts may need a larger table. */
  boolean tableIsFull(int more) {
    return 2 * (slotsTaken + more) > fingerprints.length;
  }

  /** Returns the number of bytes by which the table grows to have room for so many more texts. */
  int tableGrowth(int more) {
    return (slotsFor(more) - fingerprints.length) * SLOT_BYTES;
  }

  private int slotsFor(int more) {
    int slots = fingerprints.length;
    while (2 * (slotsTaken + more) > slots) {
      slots *= 2;
    }
    return slots;
  }

  void growTable(int more) {
    long[] before = fingerprints;
    int[] numbersBefore = numbers;
    int slots = slotsFor(more);
    fingerprints = new long[slots];
    numbers = new int[slots];
    for (int i = 0; i < before.length; i++) {
      if (before[i] != 0) {
        int slot = slot(before[i]);
        fingerprints[slot] = before[i];
        numbers[slot] = numbersBefore[i];
      }
    }
  }

  /** Makes the array longer. */
  void grow(int toBytes) {
    data = moved(toBytes);
  }

  private byte[] moved(int toBytes) {
    byte[] moved = new byte[toBytes];
    System.arraycopy(data, 0, moved, 0, front);
    System.arraycopy(data, data.length - texts, moved, toBytes - texts, texts);
    return moved;
  }

  /** Ends the segment: nothing can be added any more, and its memory is cut to what it needs. */
  void close() {
    data = moved(front + texts);
    fingerprints = new long[0];
    numbers = new int[0];
  }

  /**
   * Adds a request. There must be room for what it needs.
   *
   * @param nanos the time, not earlier than that of the request before
   * @param marks the fingerprints of its texts, none of them 0: the domain's, then each key's and
   *     value's
   */
  void add(long nanos, Request request, long[] marks) {
    if (requests == 0) {
      firstNanos = nanos;
      lastNanos = nanos;
    }
    number(nanos - lastNanos);
    lastNanos = nanos;
    requests++;
    int mark = 0;
    number(text(request.domain(), marks[mark++]));
    List<Descriptor> descriptors = request.descriptors();
    boolean one = request.permits() == 1;
    number(2L * descriptors.size() + (one ? 0 : 1));
    if (!one) {
      number(request.permits());
    }
    for (int i = 0; i < descriptors.size(); i++) {
      Descriptor descriptor = descriptors.get(i);
      List<Entry> entries = descriptor.entries();
      Long permits = descriptor.permits();
      LimitOverride override = descriptor.limitOverride();
      number(4L * entries.size() + (permits == null ? 0 : 2) + (override == null ? 0 : 1));
      if (permits != null) {
        number(permits);
      }
      if (override != null) {
        number(override.requestsPerUnit());
        number(UNITS.indexOf(override.unit()));
      }
      for (int j = 0; j < entries.size(); j++) {
        Entry entry = entries.get(j);
        number(text(entry.key(), marks[mark++]));
        number(text(entry.value(), marks[mark++]));
      }
    }
  }

  private int slot(long fingerprint) {
    int mask = fingerprints.length - 1;
    int slot = (int) fingerprint & mask;
    while (fingerprints[slot] != 0 && fingerprints[slot] != fingerprint) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Returns a text's number, and keeps the text if it is new. */
  private int text(String text, long fingerprint) {
    int slot = slot(fingerprint);
    if (fingerprints[slot] == 0) {
      fingerprints[slot] = fingerprint;
      numbers[slot] = kept(text);
      slotsTaken++;
    }
    return numbers[slot];
  }

  /**
   * Stores a text: its length, a mark for characters of two bytes, and the characters. Returns its
   * number.
   */
  private int kept(String text) {
    int length = text.length();
    boolean wide = false;
    for (int i = 0; i < length && !wide; i++) {
      wide = text.charAt(i) > 0xff;
    }
    long head = 2L * length + (wide ? 1 : 0);
    texts += Varint.size(head) + (wide ? 2 * length : length);
    int at = Varint.put(data, data.length - texts, head);
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (wide) {
        data[at++] = (byte) (c >>> Byte.SIZE);
      }
      data[at++] = (byte) c;
    }
    return texts;
  }

  private void number(long value) {
    front = Varint.put(data, front, value);
  }

  public int requests() {
    return requests;
  }

  long firstNanos() {
    return firstNanos;
  }

  long lastNanos() {
    return lastNanos;
  }

  /** A cursor over the requests of a closed segment. */
  public final class Reading {
    private final VarintReader in = new VarintReader(data, 0, front, "segment");
    private int taken;
    private long nanos = firstNanos;

    /** Moves to the next request, whose time can then be read; false if there is none. */
    public boolean next() {
      if (taken == requests) {
        return false;
      }
      taken++;
      nanos += in.next();
      return true;
    }

    public long nanos() {
      return nanos;
    }

    /** Returns the request. To be called once for each. */
    public Request request() {
      String domain = text((int) in.next());
      long head = in.next();
      long permits = (head & 1) == 0 ? 1 : in.next();
      int size = (int) (head >>> 1);
      List<Descriptor> descriptors = new ArrayList<>(size);
      for (int i = 0; i < size; i++) {
        descriptors.add(descriptor());
      }
      return new Request(domain, descriptors, permits);
    }

    private Descriptor descriptor() {
      long head = in.next();
      Long permits = (head & 2) == 0 ? null : in.next();
      LimitOverride override =
          (head & 1) == 0 ? null : new LimitOverride(in.next(), UNITS.get((int) in.next()));
      int size = (int) (head >>> 2);
      List<Entry> entries = new ArrayList<>(size);
      for (int i = 0; i < size; i++) {
        entries.add(new Entry(text((int) in.next()), text((int) in.next())));
      }
      return new Descriptor(entries, override, permits);
    }

    private String text(int number) {
      VarintReader text = new VarintReader(data, data.length - number, data.length, "segment");
      long head = text.next();
      int at = text.position();
      int length = (int) (head >>> 1);
      char[] characters = new char[length];
      for (int i = 0; i < length; i++) {
        int high = (head & 1) == 0 ? 0 : data[at++] << Byte.SIZE;
        characters[i] = (char) ((high & 0xff00) | (data[at++] & 0xff));
      }
      return new String(characters);
    }
  }
}
