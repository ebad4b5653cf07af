package dev.weir;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * The place of the state of policies: this process, a Redis, a cluster. Safe for use by many
 * threads.
 *
 * <p>Every store has this interface, whose answers come by callback. A store that decides on the
 * caller's thread is a {@link LocalStore}, whose methods return the answers.
 *
 * <p>The contract of a store is written as tests: the contract suites of {@code dev.weir.testkit}.
 * In short: a request is charged for all of its limits or for none ({@link Charges#settle}), a
 * refusal changes nothing, state time never goes back, and no change of policy lets more be
 * admitted than the largest quota that was in force.
 */
public interface Store extends AutoCloseable {
  /** Returns the fingerprints of keys that all processes use that share this store. */
  Fingerprint fingerprint();

  /**
   * Puts a policy in force under a name.
   *
   * <p>State survives: permits that the name's earlier policies admitted still count, for as long
   * as they would have counted under them, and a policy that returns within its window finds all
   * that was admitted in between. Policies of one {@link Shape} share their state. No sequence of
   * changes admits more than the largest quota that was in force; with approximate algorithms,
   * their own bounds are added to it.
   *
   * @throws IllegalStateException if the name has changed its shape too often within its windows
   *     for the store to remember all of them
   */
  Binding bind(String name, Policy policy, long nowNanos);

  /**
   * Gives the hint that requests mostly charge these bindings together, under one fingerprint. A
   * store may keep what they count side by side, so that such requests cost less; no answer depends
   * on it, unless a bound on keys or memory is reached, or a clock goes back. The hint holds for
   * the names, also after changes of their policies.
   *
   * @throws IllegalArgumentException if a binding is not this store's
   */
  default void colocate(List<Binding> bindings) {}

  /**
   * Returns a binding on the same keys under another policy of the same {@link Shape}, beside the
   * one in force: requests for a key may come under either, and under a third one the next time.
   * The promise of {@link #bind} holds: no window of a key holds more than the largest quota of its
   * requests. The policies of a name may change, and variants of its earlier bindings remain
   * usable, as the bindings themselves do.
   *
   * <p>A token bucket also has variants of another shape: the use of a key is the time that its
   * bucket takes to refill, and stays that time. They are for callers who pass the bucket with
   * every request; the promise about changes of a policy is not made for them.
   *
   * <p>Not every store has variants.
   *
   * @param binding one of this store's
   * @param policy of the same shape; or both are token buckets
   * @throws IllegalArgumentException if it is neither
   * @throws UnsupportedOperationException if the store has no such bindings
   */
  Binding variant(Binding binding, Policy policy);

  /**
   * Takes a name out of force. Its state is kept for as long as it could matter if the name came
   * back.
   */
  void retire(String name, long nowNanos);

  /**
   * Returns whether a binding is one of this store's, so that a request for it can be decided here.
   * A store that forwards to others answers for them.
   */
  default boolean owns(Binding binding) {
    return binding.store() == this;
  }

  /**
   * Returns the name under which the store keeps the state of a key, as operators find it there.
   * Default: an empty text, for a store that shows no keys.
   *
   * @param binding one of this store's
   */
  default String shownKey(Binding binding, long fingerprint) {
    return "";
  }

  /**
   * Returns whether the store counts permits of {@link Consistency#LEASED} policies for a sync
   * interval longer than the policy's window, so that they may be lent as they are. If it does not,
   * a caller that lends them binds the {@link Policy#lent} policy. Default: false.
   */
  default boolean countsLent() {
    return false;
  }

  /**
   * Decides a request: fills in the results of {@code charges}, then passes them to {@code done}. A
   * {@link LocalStore} does this before it returns, on the same thread; a remote store does it
   * later, on a thread of its own. Never fails: an error is a decision with a reason, and {@link
   * Charges#settle} determines the outcome of the request.
   *
   * @throws IllegalArgumentException if a binding is not this store's
   */
  void decide(Charges charges, long nowNanos, Consumer<? super Charges> done);

  /**
   * Announces that requests will be decided soon, each for itself: a store can fetch their states
   * together. Charges whose binding is not this store's are passed over. Default: does nothing.
   *
   * @param requests the announced ones, and perhaps others behind them
   * @param count how many are announced, at most the length of the array
   */
  default void expect(Charges[] requests, int count) {}

  /**
   * Runs a caller that makes several requests. A store that is called over a network may wait until
   * {@code asks} returns or throws, and then send the requests of this thread, in their order and
   * in few messages; so {@code asks} must not wait for an answer. Default: each request is sent as
   * it comes.
   */
  default void together(Runnable asks) {
    asks.run();
  }

  /**
   * Decides every request of a batch, each for itself and in their order, and passes it to {@code
   * done}, at the time and on the thread described at {@link #decide(Charges, long, Consumer)}.
   *
   * @throws IllegalArgumentException if a binding is not this store's
   */
  void decide(Batch batch, long nowNanos, Consumer<? super Batch> done);

  /**
   * Gives back permits of an earlier charge, those that still count and only as many as cannot
   * admit too much, and passes their number to {@code done}.
   *
   * @param binding the one that charged them: the worth of a bucket's permit depends on it
   * @param permits at least 0
   * @param charged the decision that charged them
   * @throws IllegalArgumentException if the binding is not this store's, or {@code permits} is
   *     negative
   */
  void refund(
      Binding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done);

  /**
   * Gives back permits of a key by their number alone, whichever requests were charged for them:
   * those of its newest charges first, and never more than the key is charged for. Of seats, those
   * that would be lost first. Passes the number of permits that were given back to {@code done}.
   *
   * <p>No window of the key then holds more permits than the limit and those given back in it. A
   * caller that knows the decision that charged calls {@link #refund} instead.
   *
   * <p>Not every store can do this. Default: gives nothing back.
   *
   * @param permits at least 0
   * @throws IllegalArgumentException if the binding is not this store's, or {@code permits} is
   *     negative
   */
  default void refundNewest(
      Binding binding, long fingerprint, long permits, long nowNanos, LongConsumer done) {
    done.accept(0);
  }

  /**
   * Renews a seat: from now on it counts for another window of its policy, an {@link
   * Algorithm#CONCURRENCY}. Passes to {@code done} whether it was renewed, or is lost; that the
   * store does not answer is no loss, see {@link Renewal}.
   *
   * <p>Not every store can do this. Default: every seat is {@linkplain Renewal#LOST lost}.
   *
   * @param binding the one that charged the seat
   * @param charged the decision that charged it
   * @throws IllegalArgumentException if the binding is not this store's
   */
  default void renew(
      Binding binding,
      long fingerprint,
      Decision charged,
      long nowNanos,
      Consumer<? super Renewal> done) {
    done.accept(Renewal.LOST);
  }

  /**
   * Forgets what a key has used: its next request is decided as the first of a new key. Passes to
   * {@code done} whether there was anything to forget.
   *
   * @throws IllegalArgumentException if the binding is not this store's
   * @throws UnsupportedOperationException if the store cannot forget a single key
   */
  void reset(Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done);

  /** Drops state that no longer matters, a bounded amount of it; to be called now and then. */
  void expire(long nowNanos);

  /** Returns how many keys have state in this process. Default: 0. */
  default long keys() {
    return 0;
  }

  /** Returns how many keys may have state at once. Default: {@link Long#MAX_VALUE}, unbounded. */
  default long maxKeys() {
    return Long.MAX_VALUE;
  }

  /** Returns about how many bytes of memory the state takes in this process. Default: 0. */
  default long bytes() {
    return 0;
  }

  /** Returns how many bytes the state may take. Default: {@link Long#MAX_VALUE}, unbounded. */
  default long maxBytes() {
    return Long.MAX_VALUE;
  }

  /**
   * Returns how full the store is, 0 to 100: of keys or bytes, whichever is fuller; 0 if neither is
   * bounded.
   */
  default int fullPercent() {
    double keys = (double) keys() / maxKeys();
    double bytes = (double) bytes() / maxBytes();
    return (int) Math.min(100, 100 * Math.max(keys, bytes));
  }

  @Override
  void close();
}
