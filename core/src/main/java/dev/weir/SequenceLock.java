package dev.weir;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A sequence lock: a lock for writers, by which readers can check whether a thread wrote while they
 * read. [Boehm, Can seqlocks get along with programming language memory models?, 2012]
 *
 * <p>Not reentrant, not fair. Made for sections of some tens of nanoseconds.
 */
class SequenceLock {
  /*
   * Why not java.util.concurrent's StampedLock? It would work, but it costs too much: an
   * uncontended write through it takes two full fences, a good part of a decision. Its queues of
   * waiters do not help sections that are shorter than the upkeep of a queue. Waiters
   * here spin for some microseconds, which is longer than nearly every section, and then sleep for
   * some: if the holder has lost its processor, that leaves one free for it.
   */
  private static final int SPINS = 256;
  private static final long NAP_NANOS = 20_000;

  private static final VarHandle SEQUENCE;

  static {
    try {
      SEQUENCE = MethodHandles.lookup().findVarHandle(SequenceLock.class, "sequence", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The number of the current state, odd while a thread writes. Each writer adds 2. */
  @SuppressWarnings("unused") // Used by its handle.
  private long sequence = 2;

  /** Returns a stamp for reading, 0 while a thread writes. */
  final long tryOptimisticRead() {
    long now = (long) SEQUENCE.getAcquire(this);
    return (now & 1) == 0 ? now : 0;
  }

  /** Returns whether no thread but the caller's has written since it got the stamp. */
  final boolean validate(long stamp) {
    VarHandle.acquireFence();
    return (long) SEQUENCE.getOpaque(this) == stamp;
  }

  /**
   * Takes the lock if no thread has written since the stamp was given. Returns the lock's stamp, or
   * 0.
   */
  final long tryConvertToWriteLock(long stamp) {
    if (!SEQUENCE.compareAndSet(this, stamp, stamp + 1)) {
      return 0;
    }
    VarHandle.storeStoreFence(); // No reader with an old stamp sees the writes that follow.
    return stamp + 1;
  }

  /** Takes the lock if no thread has it. Returns its stamp, or 0. */
  final long tryWriteLock() {
    long stamp = tryOptimisticRead();
    return stamp == 0 ? 0 : tryConvertToWriteLock(stamp);
  }

  /** Waits for the lock. Returns its stamp. */
  final long writeLock() {
    for (int tries = 0; ; tries++) {
      long stamp = tryWriteLock();
      if (stamp != 0) {
        return stamp;
      }
      if (tries < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(NAP_NANOS);
      }
    }
  }

  final void unlockWrite(long stamp) {
    SEQUENCE.setRelease(this, stamp + 1);
  }
}
