package dev.weir;

import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * A store that decides on the caller's thread before it returns. Its callers use these methods:
 * they need no callback and no future, and so cost nothing beyond the store's own work. Safe for
 * use by many threads.
 *
 * <p>Each method makes the same promises as the method of that name in {@link Store}, which calls
 * it by default here.
 */
public interface LocalStore extends Store {
  /**
   * Decides a request and fills in the results of {@code charges}.
   *
   * @throws IllegalArgumentException if a binding is not this store's
   */
  void decide(Charges charges, long nowNanos);

  /**
   * Decides every request of a batch, each for itself and in their order.
   *
   * @throws IllegalArgumentException if a binding is not this store's
   */
  void decide(Batch batch, long nowNanos);

  /**
   * Decides a request of one charge that must fit.
   *
   * @param permits at least 0
   * @return the decision, to be read by {@link PackedDecision}; if the store has no room and the
   *     policy's failure mode is {@link FailureMode#ALLOW}, an admission with no permits left
   * @throws IllegalArgumentException if the binding is not this store's or the permits are negative
   */
  long decide(Binding binding, long fingerprint, long permits, long nowNanos);

  /**
   * Decides a request of one charge that must fit, as {@link #decide(Charges, long)} does, and
   * returns all that its answer has.
   *
   * @param permits at least 0
   * @throws IllegalArgumentException if the binding is not this store's or the permits are negative
   */
  default Decision decision(Binding binding, long fingerprint, long permits, long nowNanos) {
    Check.range("permits", permits, 0, Long.MAX_VALUE);
    Charges charges = new Charges().add(binding, fingerprint, permits);
    decide(charges, nowNanos);
    return charges.decision(0);
  }

  /**
   * Gives back permits of an earlier charge.
   *
   * @return how many were given back, 0 to {@code permits}
   * @throws IllegalArgumentException if {@link Store#refund} throws it
   */
  long refund(Binding binding, long fingerprint, long permits, Decision charged, long nowNanos);

  /**
   * Gives back permits of the newest charges of a key. Default: gives nothing back.
   *
   * @return how many were given back, 0 to {@code permits}
   * @throws IllegalArgumentException if {@link Store#refundNewest} throws it
   */
  default long refundNewest(Binding binding, long fingerprint, long permits, long nowNanos) {
    return 0;
  }

  /**
   * Renews a seat. Default: nothing is renewed.
   *
   * @return whether it was still held
   * @throws IllegalArgumentException if {@link Store#renew} throws it
   */
  default boolean renew(Binding binding, long fingerprint, Decision charged, long nowNanos) {
    return false;
  }

  /**
   * Forgets what a key has used.
   *
   * @return whether the key had used anything
   * @throws IllegalArgumentException if {@link Store#reset} throws it
   */
  boolean reset(Binding binding, long fingerprint, long nowNanos);

  @Override
  default void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    Check.notNull("done", done);
    decide(charges, nowNanos);
    done.accept(charges);
  }

  @Override
  default void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    Check.notNull("done", done);
    decide(batch, nowNanos);
    done.accept(batch);
  }

  @Override
  default void refund(
      Binding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    Check.notNull("done", done);
    done.accept(refund(binding, fingerprint, permits, charged, nowNanos));
  }

  @Override
  default void refundNewest(
      Binding binding, long fingerprint, long permits, long nowNanos, LongConsumer done) {
    Check.notNull("done", done);
    done.accept(refundNewest(binding, fingerprint, permits, nowNanos));
  }

  @Override
  default void renew(
      Binding binding,
      long fingerprint,
      Decision charged,
      long nowNanos,
      Consumer<? super Renewal> done) {
    Check.notNull("done", done);
    done.accept(Renewal.of(renew(binding, fingerprint, charged, nowNanos)));
  }

  @Override
  default void reset(
      Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
    Check.notNull("done", done);
    done.accept(reset(binding, fingerprint, nowNanos));
  }
}
