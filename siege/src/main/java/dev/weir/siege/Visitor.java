package dev.weir.siege;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An ordinary client that sends requests at fixed times, whether or not earlier ones are answered:
 * a late answer makes later ones late as well. It checks every answer.
 */
final class Visitor implements AutoCloseable {
  private final Protocol protocol;
  private final Target target;
  private final long everyNanos;
  private final Supplier<? extends Errand> errands;
  private final Tally tally;
  private final Complaints complaints;
  private final CountDownLatch met = new CountDownLatch(1);
  private final Thread thread;
  private @Nullable Guest guest;
  private volatile boolean leaving;

  Visitor(
      Protocol protocol,
      Target target,
      Duration every,
      Supplier<? extends Errand> errands,
      Tally tally,
      Complaints complaints) {
    this.protocol = protocol;
    this.target = target;
    this.everyNanos = every.toNanos();
    this.errands = errands;
    this.tally = tally;
    this.complaints = complaints;
    thread = new Thread(this::run, "visitor " + protocol);
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    long due = System.nanoTime();
    while (!leaving) {
      long wait = due - System.nanoTime();
      if (wait > 0) {
        LockSupport.parkNanos(this, wait);
      } else {
        ask(due);
        due += everyNanos;
      }
    }
    hangUp();
  }

  private void ask(long due) {
    Errand errand = errands.get();
    try {
      if (guest == null) {
        guest = protocol.connect(target);
      }
      long start = System.nanoTime();
      Guest.Answer answer = guest.ask(errand.rule(), errand.key());
      long end = System.nanoTime();
      tally.add(answer, end - due);
      met.countDown();
      String wrong = errand.judge(answer, start, end);
      if (wrong != null) {
        complaints.add(protocol + ": " + wrong);
      }
    } catch (IOException e) {
      errand.unanswered();
      hangUp();
      if (!leaving) {
        complaints.add(protocol + ": no answer: " + e);
      }
    }
  }

  private void hangUp() {
    try {
      if (guest != null) {
        guest.close();
      }
    } catch (IOException e) {
      complaints.add(protocol + ": " + e);
    }
    guest = null;
  }

  /** Waits for the first answer; returns whether it came. */
  boolean awaitAnswer(Duration atMost) {
    try {
      return met.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Ends when the last answer has arrived. */
  @Override
  public void close() {
    leaving = true;
    LockSupport.unpark(thread);
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
