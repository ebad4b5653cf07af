package dev.weir;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Many requests of one charge each, decided in one call and in their order, each for itself.
 * Deciding them together lets a store fetch all their states at once.
 *
 * <p>Reusable: after {@link #clear()} nothing is allocated until the batch holds more requests than
 * ever before. Not safe for use by several threads at once.
 */
public final class Batch {
  private Binding[] bindings;
  private long[] fingerprints;
  private long[] permits;
  private long[] decisions;
  private long[] remaining = {};
  private long[] resets = {};

  /** The causes of results without a decision; null while there is none, which is usual. */
  private String @Nullable [] causes;

  private int size;
  private boolean detailed;

  /** Creates an empty batch with room for {@code capacity} requests; it grows beyond them. */
  public Batch(int capacity) {
    Check.range("capacity", capacity, 1, 1 << 20);
    bindings = new Binding[capacity];
    fingerprints = new long[capacity];
    permits = new long[capacity];
    decisions = new long[capacity];
  }

  /**
   * Makes each decision also report how many permits remain after a refusal, and the reset-after.
   */
  public Batch detailed() {
    detailed = true;
    remaining = new long[bindings.length];
    resets = new long[bindings.length];
    return this;
  }

  /** Removes all requests, ready for the next ones. */
  public Batch clear() {
    Arrays.fill(bindings, 0, size, null);
    size = 0;
    causes = null;
    return this;
  }

  /**
   * Adds a request.
   *
   * @param permits at least 0; more than can ever fit are refused
   * @throws IllegalArgumentException if {@code permits} is negative
   */
  public Batch add(Binding binding, long fingerprint, long permits) {
    Check.range("permits", permits, 0, Long.MAX_VALUE);
    if (size == bindings.length) {
      bindings = Arrays.copyOf(bindings, 2 * size);
      fingerprints = Arrays.copyOf(fingerprints, 2 * size);
      this.permits = Arrays.copyOf(this.permits, 2 * size);
      decisions = Arrays.copyOf(decisions, 2 * size);
      if (detailed) {
        remaining = Arrays.copyOf(remaining, 2 * size);
        resets = Arrays.copyOf(resets, 2 * size);
      }
    }
    bindings[size] = Check.notNull("binding", binding);
    fingerprints[size] = fingerprint;
    this.permits[size] = permits;
    size++;
    return this;
  }

  public int size() {
    return size;
  }

  public Binding binding(int i) {
    return bindings[i];
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
   * Returns the permits left after request {@code i}, as {@link Decision#remaining()}.
   *
   * @throws IllegalStateException if the batch is not {@link #detailed()}
   */
  public long remaining(int i) {
    checkDetailed();
    return remaining[i];
  }

  /**
   * Returns the reset-after of request {@code i}, as {@link Decision#resetAfterNanos()}.
   *
   * @throws IllegalStateException if the batch is not {@link #detailed()}
   */
  public long resetAfterNanos(int i) {
    checkDetailed();
    return resets[i];
  }

  /**
   * Returns the cause of {@link Reason#UNCERTAIN} of request {@code i}, as {@link
   * Decision#cause()}.
   */
  public String cause(int i) {
    return causes == null ? "" : causes[i];
  }

  private void checkDetailed() {
    if (!detailed) {
      throw new IllegalStateException("batch: not detailed (expected: detailed() before)");
    }
  }

  /** For stores: returns whether the batch is {@link #detailed()}. */
  public boolean isDetailed() {
    return detailed;
  }

  /** For stores: sets the decision on request {@code i} and, in a detailed batch, its details. */
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

  /**
   * For stores: sets the cause of {@link Reason#UNCERTAIN} of request {@code i}. Several threads
   * may set those of different requests.
   *
   * @param cause as {@link Decision#cause()}
   */
  public synchronized void cause(int i, String cause) {
    if (Check.notNull("cause", cause).isEmpty()) {
      return;
    }
    if (causes == null) {
      causes = new String[size];
      Arrays.fill(causes, "");
    }
    causes[i] = cause;
  }

  /** For stores: sets the decision on request {@code i}, to be read by {@link PackedDecision}. */
  public void decision(int i, long packed) {
    decisions[i] = packed;
  }

  /**
   * For stores: sets the decision on request {@code i}, as {@link Charges#packed} gives it, and, in
   * a detailed batch, its details.
   */
  public void result(int i, long packed, long remaining, long resetAfterNanos) {
    decisions[i] = packed;
    if (detailed) {
      this.remaining[i] = remaining;
      resets[i] = resetAfterNanos;
    }
  }
}
