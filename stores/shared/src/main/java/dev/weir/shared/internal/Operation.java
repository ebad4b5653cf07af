package dev.weir.shared.internal;

import dev.weir.Algorithm;
import dev.weir.shared.Call;
import dev.weir.shared.Failure;
import dev.weir.shared.Link;
import dev.weir.shared.Reply;
import dev.weir.shared.SharedBinding;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A part of a call, with the callback for its result. Owned by one thread at a time; one of {@link
 * #answer} and {@link #fail} is called, once.
 */
public abstract class Operation {
  /** The instant by which it must be answered, on the store's ticker. */
  public long deadlineNanos;

  /** The total lateness of this process when the deadline was set. */
  public long lateBeforeNanos;

  /** The time that the request had waited before the operation was handed to the caller. */
  public long waitedNanos;

  /** The caller's time, if the store decides by it; otherwise {@link Call#SHARDS_TIME}. */
  public long nowNanos = Call.SHARDS_TIME;

  /**
   * The taker of the operation if the shard has not decided any part of it; null if it fails in
   * that case.
   */
  @Nullable public MovedOperations elsewhere;

  /** Returns the binding of its first key; all its keys are in the same slot. */
  public abstract SharedBinding binding();

  /** Returns the fingerprint of its first key. */
  public abstract long fingerprint();

  /** A receiver of keys. */
  public interface Keys {
    void key(SharedBinding binding, long fingerprint);
  }

  /** Calls {@code keys} for each of its keys. */
  public void forEachKey(Keys keys) {
    keys.key(binding(), fingerprint());
  }

  /** Returns whether any of its keys is one of {@link Algorithm#CONCURRENCY}. */
  public final boolean anySeats() {
    boolean[] any = {false};
    forEachKey(
        (binding, fingerprint) -> any[0] |= binding.policy().algorithm() == Algorithm.CONCURRENCY);
    return any[0];
  }

  /**
   * Merges another operation into this one if it is for the same permits of the same key; returns
   * whether it did.
   */
  public boolean merge(Operation other) {
    return false;
  }

  public abstract void write(Call call);

  /** Reads its part of the reply. */
  public abstract void read(Reply reply);

  /** Returns true if by the reply a key cannot be counted; then nothing was charged. */
  public boolean isUncountable() {
    return false;
  }

  /** Returns true if by the reply the shard does not have the key; then nothing was decided. */
  public boolean moved() {
    return false;
  }

  /** Returns the part of it to send again after a move; hands on the part that was decided. */
  Operation again() {
    return this;
  }

  /** Returns whether one call can decide the whole operation. */
  boolean inOne(Link link) {
    return true;
  }

  /** Decides its parts one by one, if one call cannot decide the whole. */
  void apart() {
    throw new IllegalStateException("an operation on one key");
  }

  /** Calls {@code keys} for each key that cannot be counted, by the reply. */
  public void forEachUncountable(Keys keys) {
    if (isUncountable()) {
      keys.key(binding(), fingerprint());
    }
  }

  /** Returns the number of charges of keys that cannot be counted, although others were decided. */
  public int uncountableCharges() {
    return 0;
  }

  /** Hands on the result that was read. */
  public abstract void answer();

  /** Hands on the failure: there will be no answer. */
  public abstract void fail(Failure failure);

  /** Returns the refunds of its charges, for an answer that comes too late. */
  public List<Refund> undo() {
    return List.of();
  }

  /** Returns the number of permits that may have been charged. */
  public long permits() {
    return 0;
  }

  /** Returns the number of charges that it decides. */
  public int charges() {
    return 1;
  }

  /**
   * Calls {@code deliver} for each element, even after it threw; rethrows its exceptions at the
   * end.
   */
  public static <T> void deliverAll(Iterable<T> all, Consumer<? super T> deliver) {
    @Nullable Throwable failed = null;
    for (T each : all) {
      try {
        deliver.accept(each);
      } catch (RuntimeException | Error e) {
        if (failed == null) {
          failed = e;
        } else {
          failed.addSuppressed(e);
        }
      }
    }
    if (failed instanceof Error error) {
      throw error;
    }
    if (failed != null) {
      throw (RuntimeException) failed;
    }
  }
}
