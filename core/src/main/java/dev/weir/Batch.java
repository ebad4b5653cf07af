package dev.weir;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Many requests of one charge each, decided in one call and in their order, each for itself.
 * Deciding them together lets a store fetch their states at once instead of one after the other.
 *
 * <p>Reusable: after {@link #clear()} nothing is allocated until it holds more than ever before.
 * Not safe for use by several threads at once.
 */
public final class Batch implements Results {
  private Limit[] limits;
  private long[] fingerprints;
  private long[] permits;
  private long[] decisions;
  private long[] remaining = {};
  private long[] resets = {};
  private int size;
  private boolean detailed;

  // Where a store in this process has found the keys.
  private @Nullable Segment[] segments;
  private int[] slots;

  @SuppressWarnings("unused")
  private long read;

  /** Creates an empty batch with room for so many requests; it grows beyond them. */
  public Batch(int capacity) {
    Check.range("capacity", capacity, 1, 1 << 20);
    limits = new Limit[capacity];
    fingerprints = new long[capacity];
    permits = new long[capacity];
    decisions = new long[capacity];
    segments = new Segment[capacity];
    slots = new int[capacity];
  }

  /**
   * Has every decision also tell what remains after a refusal, and when the key will be as good as
   * new.
   */
  public Batch detailed() {
    detailed = true;
    remaining = new long[limits.length];
    resets = new long[limits.length];
    return this;
  }

  /** Forgets everything, ready for the next requests. */
  public Batch clear() {
    Arrays.fill(limits, 0, size, null);
    Arrays.fill(segments, 0, size, null);
    size = 0;
    return this;
  }

  /**
   * Adds a request.
   *
   * @param permits at least 0; more than can ever fit are refused
   * @throws IllegalArgumentException if {@code permits} is negative
   */
  public Batch add(Limit limit, long fingerprint, long permits) {
    Check.range("permits", permits, 0, Long.MAX_VALUE);
    if (size == limits.length) {
      limits = Arrays.copyOf(limits, 2 * size);
      fingerprints = Arrays.copyOf(fingerprints, 2 * size);
      this.permits = Arrays.copyOf(this.permits, 2 * size);
      decisions = Arrays.copyOf(decisions, 2 * size);
      segments = Arrays.copyOf(segments, 2 * size);
      slots = Arrays.copyOf(slots, 2 * size);
      if (detailed) {
        remaining = Arrays.copyOf(remaining, 2 * size);
        resets = Arrays.copyOf(resets, 2 * size);
      }
    }
    limits[size] = Check.notNull("limit", limit);
    fingerprints[size] = fingerprint;
    this.permits[size] = permits;
    size++;
    return this;
  }

  public int size() {
    return size;
  }

  public Limit limit(int i) {
    return limits[i];
  }

  public long fingerprint(int i) {
    return fingerprints[i];
  }

  public long permits(int i) {
    return permits[i];
  }

  /** Returns the decision on request {@code i}, to be read by {@link PackedDecision}. */
  public long decision(int i) {
    return decisions[i];
  }

  public boolean allowed(int i) {
    return PackedDecision.allowed(decisions[i]);
  }

  /**
   * As {@link Decision#remaining()}.
   *
   * @throws IllegalStateException if the batch is not {@link #detailed()}
   */
  public long remaining(int i) {
    checkDetailed();
    return remaining[i];
  }

  /**
   * As {@link Decision#resetAfterNanos()}.
   *
   * @throws IllegalStateException if the batch is not {@link #detailed()}
   */
  public long resetAfterNanos(int i) {
    checkDetailed();
    return resets[i];
  }

  private void checkDetailed() {
    if (!detailed) {
      throw new IllegalStateException("batch: not detailed (expected: detailed() before)");
    }
  }

  boolean isDetailed() {
    return detailed;
  }

  /** Remembers where request {@code i} is to be looked up. */
  void segment(int i, Segment segment) {
    segments[i] = segment;
  }

  /** Remembers where its key was found. */
  void found(int i, int slot) {
    slots[i] = slot;
  }

  /** Takes what was read beforehand, so that it is read. */
  void read(long read) {
    this.read = read;
  }

  @Nullable Segment segment(int i) {
    return segments[i];
  }

  int slot(int i) {
    return slots[i];
  }

  /**
   * For stores: sets the decision on request {@code i} and, in a detailed batch, what goes with it.
   */
  @Override
  public void result(
      int i,
      Reason reason,
      long remaining,
      long retryAfterNanos,
      long resetAfterNanos,
      long atNanos) {
    decisions[i] = PackedDecision.of(reason, remaining, retryAfterNanos);
    if (detailed) {
      this.remaining[i] = remaining;
      resets[i] = resetAfterNanos;
    }
  }

  /** For stores: sets the decision on request {@code i}. */
  public void decision(int i, long packed) {
    decisions[i] = packed;
  }
}
