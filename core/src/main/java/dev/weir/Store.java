package dev.weir;

import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Where the state of policies lives: this process, a Redis, a cluster. Safe for use by many
 * threads.
 *
 * <p>What a store must hold to is written as tests: the contract suites of {@code
 * dev.weir.testkit}. In short: a request is charged for all of its limits or for none, a refusal
 * changes nothing, state time never goes back, and no change of policy mints permits.
 */
public interface Store extends AutoCloseable {
  /** Returns the fingerprints of keys that all who share this store use. */
  Fingerprint fingerprint();

  /**
   * Puts a policy in force under a name.
   *
   * <p>State survives: what the name's earlier policies admitted still counts, as long as it would
   * have counted under them, and a policy that returns within its window finds all that was
   * admitted in between. No sequence of changes admits more than the largest quota that was in
   * force; where approximate algorithms take part, their own bounds are added to it.
   *
   * @throws IllegalStateException if the name has changed its algorithm or window too often within
   *     its windows for the store to remember all of them
   */
  Limit limit(String name, Policy policy, long nowNanos);

  /**
   * Takes a name out of force. Its state is kept for as long as it could matter if the name came
   * back.
   */
  void retire(String name, long nowNanos);

  /**
   * Decides a request: fills in the results of {@code charges}, then hands it to {@code done}. A
   * store in this process does so before it returns, on the same thread; a remote one later, on a
   * thread of its own. Never fails: trouble is a decision with a reason, and a remote store in
   * trouble counts a charge as one that fits if its policy answers {@link FailureAnswer#ALLOW}.
   *
   * @throws IllegalArgumentException if a limit is not this store's
   */
  void decide(Charges charges, long nowNanos, Consumer<? super Charges> done);

  /**
   * Says that a request will be decided soon. Who has many requests at hand says so of all of them
   * and then has them decided: a store can have their states fetched meanwhile.
   */
  default void expect(Charges charges) {}

  /**
   * Decides every request of a batch, each for itself and in their order, and hands it to {@code
   * done}; when and where, as for {@link #decide(Charges, long, Consumer)}.
   *
   * @throws IllegalArgumentException if a limit is not this store's
   */
  void decide(Batch batch, long nowNanos, Consumer<? super Batch> done);

  /**
   * Gives back permits of an earlier charge, as far as they still count and giving them back cannot
   * admit too much, and tells {@code done} how many.
   *
   * @param limit the one that charged them: what a permit of a bucket is worth depends on it
   * @param charged the decision that charged them
   */
  void refund(
      Limit limit,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done);

  /** Drops what no longer matters, a bounded amount of it; to be called now and then. */
  void expire(long nowNanos);

  /** Returns how many keys have state. */
  long keys();

  /** Returns how many keys may have state at once, {@link Long#MAX_VALUE} if nobody bounds them. */
  long maxKeys();

  /** Returns about how many bytes of memory the state takes in this process. */
  long bytes();

  /** Returns how many bytes the state may take, {@link Long#MAX_VALUE} if nobody bounds it. */
  long maxBytes();

  @Override
  void close();
}
