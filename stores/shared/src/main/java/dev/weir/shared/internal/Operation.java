package dev.weir.shared.internal;

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
  /** By when it must be answered, on the store's ticker. */
  public long deadlineNanos;

  /** How late this process was in all when the deadline was set. */
  public long lateBeforeNanos;

  /** For how long the request had waited before the operation was handed to the caller. */
  public long waitedNanos;

  /** The caller's time, where it decides; else {@link Call#SHARDS_TIME}. */
  public long nowNanos = Call.SHARDS_TIME;

  /** Takes it if the shard says that it has decided nothing of it; null if it is lost then. */
  @Nullable public Moved elsewhere;

  /** Returns the binding of its first key; all its keys are in the same slot. */
  public abstract SharedBinding binding();

  /** Returns the fingerprint of its first key. */
  public abstract long fingerprint();

  /** Receives keys. */
  public interface Keys {
    void key(SharedBinding binding, long fingerprint);
  }

  /** Calls {@code keys} for each of its keys. */
  public void forEachKey(Keys keys) {
    keys.key(binding(), fingerprint());
  }

  /** Returns whether it is for the same permits of the same key, and takes it along if so. */
  public boolean merge(Operation other) {
    return false;
  }

  public abstract void write(Call call);

  /** Reads its part of the reply. */
  public abstract void read(Reply reply);

  /** Returns whether what was read is that a key's state is not known; nothing was charged then. */
  public boolean undecided() {
    return false;
  }

  /** Returns whether what was read is that the shard does not have its key; nothing was decided. */
  public boolean moved() {
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
  public int unknown() {
    return 0;
  }

  /** Hands on what was read. */
  public abstract void answer();

  /** Hands on that there will be no answer. */
  public abstract void fail(Failure failure);

  /** Returns the refunds of what was charged, for an answer that comes too late. */
  public List<Refund> undo() {
    return List.of();
  }

  /** Returns how many permits may have been charged. */
  public long permits() {
    return 0;
  }

  /** Returns how many charges it decides. */
  public int charges() {
    return 1;
  }

  /** Calls {@code deliver} for each, also after it threw; what it threw is thrown at the end. */
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
