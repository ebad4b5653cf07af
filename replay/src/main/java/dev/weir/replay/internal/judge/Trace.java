package dev.weir.replay.internal.judge;

import dev.weir.MemoryStore;
import dev.weir.internal.Varint;
import dev.weir.internal.VarintReader;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.TrafficReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Traffic in memory, for many passes: some 4 to 8 bytes a record, and each key's text once. Time
 * never goes back: a record from the past has the latest time before it.
 */
public final class Trace {
  private static final int CHUNK_BYTES = 1 << 20;

  /** The most bytes of a record: four numbers. */
  private static final int MAX_RECORD_BYTES = 4 * Varint.MAX_BYTES;

  /** The bytes that a key takes beside its text, about. */
  private static final int KEY_BYTES = 150;

  private final long maxBytes;
  private final long maxStateBytes;
  private final boolean timed;
  private final Map<String, Integer> ids = new HashMap<>();
  private final List<String> keys = new ArrayList<>();
  private final List<byte[]> chunks = new ArrayList<>();
  private byte[] chunk = new byte[0];
  private int at;
  private long bytes;
  private long size;
  private long firstNanos;
  private long lastNanos;
  private long[] totals = new long[64];
  private long[] counts = new long[64];

  /**
   * @param maxBytes the most bytes that it may take: half of the heap, so that half as much is left
   *     for states
   */
  public Trace(long maxBytes) {
    this(maxBytes, Math.max(1, maxBytes / 2));
  }

  public Trace(long maxBytes, long maxStateBytes) {
    this(maxBytes, maxStateBytes, false);
  }

  private Trace(long maxBytes, long maxStateBytes, boolean timed) {
    this.timed = timed;
    this.maxBytes = maxBytes;
    this.maxStateBytes = maxStateBytes;
  }

  /** Returns a trace whose records have durations, of one to six bytes more for each. */
  public static Trace timed(long maxBytes) {
    return new Trace(maxBytes, Math.max(1, maxBytes / 2), true);
  }

  /** Adds a record without a duration. See {@link #add(long, String, long, long)}. */
  public void add(long nanos, String key, long permits) throws TrafficException {
    add(nanos, key, permits, -1);
  }

  /**
   * Adds a record.
   *
   * @param durationNanos the time that the request took, in nanoseconds; -1 if it is not known
   * @throws TrafficException if that would take more than the permitted memory
   */
  public void add(long nanos, String key, long permits, long durationNanos)
      throws TrafficException {
    if (size == 0) {
      firstNanos = nanos;
      lastNanos = nanos;
    }
    if (chunk.length - at < MAX_RECORD_BYTES) {
      close();
      chunk = new byte[CHUNK_BYTES];
      at = 0;
      bytes += CHUNK_BYTES;
    }
    Integer known = ids.get(key);
    int id = known == null ? added(key) : known;
    if (bytes > maxBytes) {
      throw new TrafficException(
          "input: more than "
              + size
              + " records (expected: as many as half of the heap of "
              + (maxBytes >> 19)
              + " MiB holds; "
              + TrafficReader.MORE_HEAP
              + ", or read less)");
    }
    long now = Math.max(lastNanos, nanos);
    at = Varint.put(chunk, at, now - lastNanos);
    at = Varint.put(chunk, at, id);
    at = Varint.put(chunk, at, permits);
    if (timed) {
      at = Varint.put(chunk, at, durationNanos + 1);
    }
    lastNanos = now;
    size++;
    long total = totals[id] + permits;
    totals[id] = total < 0 ? Long.MAX_VALUE : total;
    counts[id]++;
  }

  private int added(String key) {
    int id = keys.size();
    ids.put(key, id);
    keys.add(key);
    bytes += KEY_BYTES + 2L * key.length();
    if (id == totals.length) {
      totals = Arrays.copyOf(totals, 2 * id);
      counts = Arrays.copyOf(counts, 2 * id);
    }
    return id;
  }

  /** Ends the chunk, shorter than it could be: the cursor finds the next one by its length. */
  private void close() {
    if (at > 0) {
      chunks.add(at == chunk.length ? chunk : Arrays.copyOf(chunk, at));
    }
  }

  /**
   * Returns an empty store with room for all keys, as far as the bytes suffice for their states.
   */
  public MemoryStore store() {
    return new MemoryStore(Math.max(1, keys.size()), maxStateBytes);
  }

  /**
   * Returns the error for a store without room: refusals for that reason would distort the result.
   */
  public TrafficException noRoom() {
    return new TrafficException(
        "input: the state of "
            + keys.size()
            + " keys (expected: as much as a quarter of the heap of "
            + (maxBytes >> 19)
            + " MiB holds; "
            + TrafficReader.MORE_HEAP
            + ", or take a smaller limit)");
  }

  /** A cursor over all records, from the first on. */
  public final class Cursor {
    private final List<byte[]> all = new ArrayList<>(chunks);
    private VarintReader in = new VarintReader(new byte[0], 0, 0, "trace");
    private int next;
    private long nanos = firstNanos;
    private int key;
    private long permits;
    private long durationNanos = -1;

    private Cursor() {
      if (at > 0) {
        all.add(Arrays.copyOf(chunk, at));
      }
    }

    /** Moves to the next record; false at the end. */
    public boolean next() {
      if (in.atEnd()) {
        if (next == all.size()) {
          return false;
        }
        byte[] data = all.get(next++);
        in = new VarintReader(data, 0, data.length, "trace");
      }
      nanos += in.next();
      key = (int) in.next();
      permits = in.next();
      durationNanos = timed ? in.next() - 1 : -1;
      return true;
    }

    public long nanos() {
      return nanos;
    }

    /** Returns the key's number, from 0. */
    public int key() {
      return key;
    }

    public long permits() {
      return permits;
    }

    /** Returns the time that the request took, in nanoseconds; -1 if it is not known. */
    public long durationNanos() {
      return durationNanos;
    }
  }

  public Cursor cursor() {
    return new Cursor();
  }

  /** Returns the number of records. */
  public long size() {
    return size;
  }

  /** Returns the number of keys. */
  public int keys() {
    return keys.size();
  }

  public String key(int id) {
    return keys.get(id);
  }

  /** Returns the number of a key, or -1 if it is not in the trace. */
  public int id(String key) {
    return ids.getOrDefault(key, -1);
  }

  /** Returns the permits that a key requests in total. */
  public long total(int id) {
    return totals[id];
  }

  /** Returns how many records a key has. */
  public long count(int id) {
    return counts[id];
  }

  public long firstNanos() {
    return firstNanos;
  }

  public long lastNanos() {
    return lastNanos;
  }
}
