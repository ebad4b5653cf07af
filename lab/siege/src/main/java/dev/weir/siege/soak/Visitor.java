package dev.weir.siege.soak;

import dev.weir.internal.DaemonThreads;
import dev.weir.siege.Complaints;
import dev.weir.siege.Target;
import dev.weir.siege.cluster.Errand;
import dev.weir.siege.guests.Guest;
import dev.weir.siege.guests.Protocol;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An ordinary client with its own thread, which checks every answer, and connects again when its
 * connection has ended or its server has started again.
 */
public final class Visitor implements AutoCloseable {
  /**
   * The pace of a client's requests.
   *
   * @param restNanos the time from one request to the next
   * @param awayNanos the same after a request without an answer
   * @param fixed true if requests are due at fixed times, independent of earlier answers: a late
   *     answer makes later ones late as well
   */
  public record Pace(long restNanos, long awayNanos, boolean fixed) {
    /** Returns the pace of a client whose server must always answer. */
    static Pace every(Duration time) {
      return new Pace(time.toNanos(), time.toNanos(), true);
    }

    /** Returns the pace of a client that sends the next request after it has an answer. */
    public static Pace resting(Duration rest, Duration away) {
      return new Pace(rest.toNanos(), away.toNanos(), false);
    }

    private long next(long due, boolean answered) {
      return (fixed ? due : System.nanoTime()) + (answered ? restNanos : awayNanos);
    }
  }

  private final Protocol protocol;
  private final Supplier<@Nullable Target> server;
  private final Pace pace;
  private final Supplier<? extends Errand> errands;
  private final Tally tally;
  private final Complaints complaints;
  private final CountDownLatch met = new CountDownLatch(1);
  private final Thread thread;
  private @Nullable Guest guest;
  private @Nullable Target connected;
  private volatile boolean leaving;

  /**
   * @param server returns the server's ports; null while the server is not there
   */
  Visitor(
      Protocol protocol,
      Supplier<@Nullable Target> server,
      Pace pace,
      Supplier<? extends Errand> errands,
      Tally tally,
      Complaints complaints) {
    this.protocol = protocol;
    this.server = server;
    this.pace = pace;
    this.errands = errands;
    this.tally = tally;
    this.complaints = complaints;
    thread = DaemonThreads.create("visitor " + protocol, this::run);
    thread.start();
  }

  private void run() {
    long due = System.nanoTime();
    while (!leaving) {
      long wait = due - System.nanoTime();
      if (wait > 0) {
        LockSupport.parkNanos(this, wait);
      } else {
        Guest asked = connect();
        due = pace.next(due, asked != null && request(asked, due));
      }
    }
    hangUp();
  }

  /** Returns a connection to the server in its present state; null if there is none. */
  private @Nullable Guest connect() {
    Target target = server.get();
    if (target == null || (guest != null && target.equals(connected))) {
      return target == null ? null : guest;
    }
    hangUp();
    try {
      guest = protocol.connect(target);
      connected = target;
    } catch (IOException e) {
      if (pace.fixed && !leaving) {
        complaints.add(protocol + ": not connected: " + e);
      }
    }
    return guest;
  }

  /** Sends a request; returns whether there was an answer. */
  private boolean request(Guest asked, long due) {
    Errand errand = errands.get();
    long start = System.nanoTime();
    try {
      Guest.Answer answer = asked.request(errand.rules(), errand.key(), errand.permits());
      long end = System.nanoTime();
      tally.add(answer, end - due);
      met.countDown();
      complain(errand.judge(answer, start, end));
      return true;
    } catch (IOException e) {
      String wrong = errand.unanswered(e);
      hangUp();
      complain(leaving ? null : wrong);
      return false;
    }
  }

  private void complain(@Nullable String wrong) {
    if (wrong != null) {
      complaints.add(protocol + ": " + wrong);
    }
  }

  private void hangUp() {
    try {
      if (guest != null) {
        guest.close();
      }
    } catch (IOException e) {
      complain(pace.fixed ? e.toString() : null);
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

  /** Ends the client when the last answer has arrived. */
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
