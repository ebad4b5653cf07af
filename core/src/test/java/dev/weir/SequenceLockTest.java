package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class SequenceLockTest {
  private final SequenceLock lock = new SequenceLock();

  /** The first of two numbers that a writer always changes together. */
  private long left;

  private long right;

  @Test
  void stampOfAReader_isValidUntilAWriterComes() {
    long stamp = lock.tryOptimisticRead();
    assertThat(stamp).isNotZero();
    assertThat(lock.validate(stamp)).isTrue();

    long written = lock.writeLock();
    assertThat(lock.validate(stamp)).isFalse();
    lock.unlockWrite(written);
    assertThat(lock.validate(stamp)).isFalse();
    assertThat(lock.tryOptimisticRead()).isNotZero().isNotEqualTo(stamp);
  }

  @Test
  void lockedByAWriter_givesNoStamp() {
    long written = lock.writeLock();
    assertThat(lock.tryOptimisticRead()).isZero();
    assertThat(lock.tryWriteLock()).isZero();

    lock.unlockWrite(written);
    assertThat(lock.tryWriteLock()).isNotZero();
  }

  @Test
  void stampOfAReader_becomesTheLock_unlessAWriterWasFaster() {
    long stamp = lock.tryOptimisticRead();
    long written = lock.tryConvertToWriteLock(stamp);
    assertThat(written).isNotZero();
    assertThat(lock.validate(written)).isTrue();

    lock.unlockWrite(written);
    assertThat(lock.tryConvertToWriteLock(stamp)).isZero();
    assertThat(lock.tryOptimisticRead()).isNotZero();
  }

  @Test
  void manyThreads_loseNoWrite_andReadNoHalfOfOne() throws Exception {
    int threads = 4;
    int rounds = 20_000;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<Long>> tasks = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        tasks.add(() -> halvesSeen(rounds));
      }
      for (Future<Long> each : pool.invokeAll(tasks)) {
        assertThat(each.get()).isZero();
      }
    } finally {
      pool.shutdownNow();
    }
    assertThat(left).isEqualTo((long) threads * rounds);
    assertThat(right).isEqualTo(left);
  }

  /** Reads and writes by turns; returns how many validated reads found different numbers. */
  private long halvesSeen(int rounds) {
    long halves = 0;
    for (int i = 0; i < rounds; i++) {
      long stamp = lock.tryOptimisticRead();
      long seenLeft = left;
      long seenRight = right;
      if (stamp != 0 && lock.validate(stamp) && seenLeft != seenRight) {
        halves++;
      }
      long written = lock.writeLock();
      left++;
      right++;
      lock.unlockWrite(written);
    }
    return halves;
  }
}
