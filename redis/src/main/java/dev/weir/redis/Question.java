package dev.weir.redis;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Something to ask the script, and who wants to know. Owned by one thread at a time; one of {@link
 * #answer} and {@link #fail} is called, once.
 */
abstract class Question {
  /** By when it must be answered, on the store's ticker. */
  long deadlineNanos;

  /** How late this process was in all when the deadline was set. */
  long lateBeforeNanos;

  /** For how long who wants to know has waited when it is asked. */
  long waitedNanos;

  /** The caller's time, where that is Redis's. */
  long nowMicros = Message.NO_TIME;

  /** Returns a key of it; all its keys are in the same slot of a cluster. */
  abstract byte[] key();

  /** Returns whether it is for the same permits of the same key, and takes it along if so. */
  boolean merge(Question other) {
    return false;
  }

  /** Returns what those who may be merged have in common, or null. */
  @Nullable Object mergeKey() {
    return null;
  }

  abstract void write(Message message);

  /** Reads its part of the reply. */
  abstract void read(MessageReader reply);

  /** Returns whether what was read is that a key's state is not known; nothing was charged then. */
  boolean undecided() {
    return false;
  }

  /** Returns of how many charges the state is not known, where others decided all the same. */
  int unknown() {
    return 0;
  }

  /** Hands on what was read. */
  abstract void answer();

  /** Hands on that there will be no answer. */
  abstract void fail(Failure failure);

  /** Returns what gives back what the script charged, when nobody waits for the answer any more. */
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
}
