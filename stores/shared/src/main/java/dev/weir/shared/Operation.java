package dev.weir.shared;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A part of a call, with the callback for its result. Owned by one thread at a time; one of {@link
 * #answer} and {@link #fail} is called, once.
 */
abstract class Operation {
  /** By when it must be answered, on the store's ticker. */
  long deadlineNanos;

  /** How late this process was in all when the deadline was set. */
  long lateBeforeNanos;

  /** For how long the request had waited before the operation was handed to the caller. */
  long waitedNanos;

  /** The caller's time, where it decides; else {@link Call#SHARDS_TIME}. */
  long nowNanos = Call.SHARDS_TIME;

  /** Takes it if the shard says that it has decided nothing of it; null if it is lost then. */
  @Nullable Moved elsewhere;

  /** Returns the binding of its first key; all its keys are in the same slot. */
  abstract SharedBinding binding();

  /** Returns the fingerprint of its first key. */
  abstract long fingerprint();

  /** Receives keys. */
  interface Keys {
    void key(SharedBinding binding, long fingerprint);
  }

  /** Calls {@code keys} for each of its keys. */
  void forEachKey(Keys keys) {
    keys.key(binding(), fingerprint());
  }

  /** Returns whether it is for the same permits of the same key, and takes it along if so. */
  boolean merge(Operation other) {
    return false;
  }

  abstract void write(Call call);

  /** Reads its part of the reply. */
  abstract void read(Reply reply);

  /** Returns whether what was read is that a key's state is not known; nothing was charged then. */
  boolean undecided() {
    return false;
  }

  /** Returns whether what was read is that the shard does not have its key; nothing was decided. */
  boolean moved() {
    return false;
  }

  /** Returns what of it is to be asked for again, if it has moved; hands on what was decided. */
  Operation again() {
    return this;
  }

  /** Returns whether one call can decide all of it. */
  boolean inOne(Link link) {
    return true;
  }

  /** Has its parts decided, where one call cannot decide all of it. */
  void apart() {
    throw new IllegalStateException("an operation on one key");
  }

  /** Returns of how many charges the state is not known, where others decided all the same. */
  int unknown() {
    return 0;
  }

  /** Hands on what was read. */
  abstract void answer();

  /** Hands on that there will be no answer. */
  abstract void fail(Failure failure);

  /** Returns the refunds of what was charged, for an answer that comes too late. */
  List<Refund> undo() {
    return List.of();
  }

  /** Returns how many permits may have been charged. */
  long permits() {
    return 0;
  }

  /** Returns how many charges it decides. */
  int charges() {
    return 1;
  }

  /** Calls {@code deliver} for each, also after it threw; what it threw is thrown at the end. */
  static <T> void deliverAll(Iterable<T> all, Consumer<? super T> deliver) {
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
