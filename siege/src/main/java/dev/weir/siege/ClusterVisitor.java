package dev.weir.siege;

import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A client of one member: it asks for permits of a few hot and many warm keys, one request after
 * the other, and connects again when its connection ends.
 */
final class ClusterVisitor implements AutoCloseable {
  private static final int HOT = 8;
  private static final int WARM = 1_000;

  /** Four of five requests are for a hot key, for 1 to 8 permits: far more than the limit. */
  private static final int ONE_OF_FIVE = 5;

  private static final int MOST_PERMITS = 8;
  private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(4);
  private static final long AWAY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Protocol protocol;
  private final MemberProcess member;
  private final List<ClusterRule> rules;
  private final ClusterHistory history;
  private final SplittableRandom random;
  private final Thread thread;
  private @Nullable Guest guest;
  private @Nullable Target connected;
  private volatile boolean leaving;

  ClusterVisitor(
      Protocol protocol,
      MemberProcess member,
      List<ClusterRule> rules,
      ClusterHistory history,
      SplittableRandom random) {
    this.protocol = protocol;
    this.member = member;
    this.rules = List.copyOf(rules);
    this.history = history;
    this.random = random;
    thread = new Thread(this::run, "visitor " + protocol + " " + member.name());
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    while (!leaving) {
      LockSupport.parkNanos(this, connect() && ask() ? REST_NANOS : AWAY_NANOS);
    }
    hangUp();
  }

  /** Returns whether there is a connection to the member as it runs now. */
  private boolean connect() {
    Target target = member.target();
    if (target == null) {
      return false;
    }
    if (guest != null && target.equals(connected)) {
      return true;
    }
    hangUp();
    try {
      guest = protocol.connect(target);
      connected = target;
      return true;
    } catch (IOException away) {
      return false;
    }
  }

  private boolean ask() {
    Guest asked = guest;
    if (asked == null) {
      return false;
    }
    ClusterRule rule = rules.get(random.nextInt(rules.size()));
    boolean hot = random.nextInt(ONE_OF_FIVE) > 0 || rule == ClusterRule.ACCOUNT;
    String key = hot ? "hot-" + random.nextInt(HOT) : "warm-" + random.nextInt(WARM);
    int permits = hot ? random.nextInt(1, MOST_PERMITS + 1) : 1;
    history.asks(rule, key, permits);
    long start = System.nanoTime();
    try {
      history.answered(rule, key, permits, start, asked.ask(rule.key(), key, permits));
      return true;
    } catch (IOException e) {
      history.unanswered();
      hangUp();
      return false;
    }
  }

  private void hangUp() {
    try {
      if (guest != null) {
        guest.close();
      }
    } catch (IOException broken) {
      // It is closed all the same.
    }
    guest = null;
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
