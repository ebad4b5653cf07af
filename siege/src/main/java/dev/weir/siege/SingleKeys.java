package dev.weir.siege;

import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.testkit.Linearizability;
import dev.weir.testkit.Linearizability.Call;
import dev.weir.testkit.Linearizability.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A client of each member; all ask for the same key of a few permits a day, and then for the next
 * one. The whole history of each key must be that of a limiter that decides one request after the
 * other.
 */
final class SingleKeys implements AutoCloseable {
  /** About as many permits as the limit are asked for by half of them. */
  private static final int CALLS = 24;

  private static final int MOST_PERMITS = 4;

  /** More make the search long: each may have been charged or not, and given back or not. */
  private static final int MOST_UNKNOWN = 8;

  private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final Policy POLICY =
      Policy.of(Quota.of(ClusterRule.RATION_PERMITS, Duration.ofDays(1)));

  /**
   * Keys that were asked for to the end since the last time.
   *
   * @param judged how many histories were searched
   * @param unclear how many were not, since too many of their answers are not known
   * @param wrong a history that no such limiter has; null if there is none
   */
  record Judgement(int judged, int unclear, @Nullable List<Call> wrong) {}

  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean leaving;

  // Guarded by this.
  private final Map<Integer, List<Call>> histories = new HashMap<>();
  private int number;
  private int asked;

  SingleKeys(Members members, SplittableRandom random) {
    for (MemberProcess member : members.every()) {
      SplittableRandom own = random.split();
      Thread thread = new Thread(() -> run(member, own), "single keys at " + member.name());
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
  }

  private void run(MemberProcess member, SplittableRandom random) {
    while (!leaving) {
      Target target = member.target();
      try (Guest guest = target == null ? null : Protocol.CHECK.connect(target)) {
        while (guest != null && !leaving && ask(guest, random.nextInt(1, MOST_PERMITS + 1))) {
          LockSupport.parkNanos(this, REST_NANOS);
        }
      } catch (IOException away) {
        // It is asked again.
      }
      LockSupport.parkNanos(this, REST_NANOS);
    }
  }

  /** Returns whether there was an answer. */
  private boolean ask(Guest guest, int permits) {
    int number = next();
    long start = System.nanoTime();
    try {
      Guest.Answer answer = guest.ask(ClusterRule.RATION, "single-" + number, permits);
      Outcome outcome =
          switch (answer.reason()) {
            case Guest.Answer.WITHIN_LIMIT -> Outcome.ADMITTED;
            case Guest.Answer.OVER_LIMIT -> Outcome.REFUSED;
            default -> Outcome.UNKNOWN;
          };
      add(number, new Call(start, System.nanoTime(), permits, outcome));
      return true;
    } catch (IOException e) {
      add(number, new Call(start, Long.MAX_VALUE, permits, Outcome.UNKNOWN));
      return false;
    }
  }

  /** Returns the number of the key to ask for. */
  private synchronized int next() {
    if (asked == CALLS) {
      asked = 0;
      number++;
    }
    asked++;
    return number;
  }

  private synchronized void add(int key, Call call) {
    histories.computeIfAbsent(key, each -> new ArrayList<>()).add(call);
  }

  private synchronized List<List<Call>> complete() {
    List<List<Call>> complete = new ArrayList<>();
    histories.values().stream().filter(each -> each.size() == CALLS).forEach(complete::add);
    histories.values().removeAll(complete);
    return complete;
  }

  /** Judges the keys that were asked for to the end. */
  Judgement judge() {
    int judged = 0;
    int unclear = 0;
    List<Call> wrong = null;
    for (List<Call> each : complete()) {
      if (each.stream().filter(call -> call.outcome() == Outcome.UNKNOWN).count() > MOST_UNKNOWN) {
        unclear++;
      } else {
        judged++;
        wrong = Linearizability.holds(each, POLICY) ? wrong : each;
      }
    }
    return new Judgement(judged, unclear, wrong);
  }

  /** Ends when the last answers have arrived. */
  @Override
  public void close() {
    leaving = true;
    threads.forEach(LockSupport::unpark);
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
