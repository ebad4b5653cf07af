package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * The properties of queues whatever happens: no limit is exceeded, no request is forgotten or
 * overtaken.
 */
class QueuePropertyTest {
  private static final int TRIALS = 300;
  private static final int STEPS = 200;
  private static final long MILLI = 1_000_000L;
  private static final int LIMIT = 3;
  private static final long WINDOW = 1_000 * MILLI;

  private static String rules(String algorithm, long waitMillis) {
    return """
        domain: d
        descriptors:
          - key: a
            rate_limit: {window: 1s, requests_per_unit: %1$d, algorithm: %2$s,
              on_limit: {queue: {requests: %1$d, wait: %3$dms}}}
          - key: b
            rate_limit: {window: 1s, requests_per_unit: %1$d, algorithm: %2$s,
              on_limit: {queue: {requests: %1$d, wait: %3$dms}}}
        """
        .formatted(LIMIT, algorithm, waitMillis);
  }

  /** One request of a trial: its time, and its outcome. */
  private static final class Sent {
    final long number;
    final Request request;
    int answers;
    boolean admitted;
    boolean left;
    long atNanos;

    Sent(long number, Request request) {
      this.number = number;
      this.request = request;
    }
  }

  @Test
  void randomTraffic_noLimitIsExceeded_nobodyIsOvertakenOrForgotten() {
    SplittableRandom random = Trials.random("QueuePropertyTest", TRIALS);
    String[] algorithms = {"fixed-window", "sliding-window-log", "token-bucket"};
    for (int trial = 0; trial < TRIALS; trial++) {
      String algorithm = algorithms[random.nextInt(algorithms.length)];
      trial(random.split(), algorithm, 1_000 + random.nextInt(2_000));
    }
  }

  private static void trial(SplittableRandom random, String algorithm, long waitMillis) {
    Fixture fixture = new Fixture(rules(algorithm, waitMillis));
    FakeTicker ticker = fixture.ticker;
    List<Sent> all = new ArrayList<>();
    Map<Sent, Ticket> waiting = new HashMap<>();
    List<Sent> admittedInOrder = new ArrayList<>();
    for (int step = 0; step < STEPS; step++) {
      ticker.advance(random.nextInt(400) * MILLI);
      Sent sent = new Sent(step, request(random));
      all.add(sent);
      Answer first = fixture.engine.decide(sent.request);
      if (first.allowed()) {
        sent.answers++;
        sent.admitted = true;
        sent.atNanos = ticker.nanos();
        admittedInOrder.add(sent);
      } else {
        Ticket ticket =
            fixture.engine.enqueue(
                sent.request,
                first,
                Long.MAX_VALUE,
                answer -> {
                  sent.answers++;
                  sent.admitted = answer.allowed();
                  sent.atNanos = ticker.nanos();
                  if (answer.allowed()) {
                    admittedInOrder.add(sent);
                  }
                });
        waiting.put(sent, ticket);
      }
      if (random.nextInt(10) == 0) {
        waiting.forEach((who, ticket) -> who.left |= random.nextInt(3) == 0 && ticket.leave());
      }
    }
    ticker.advance(10_000 * MILLI);
    for (Sent sent : all) {
      assertThat(sent.answers).as("answers to " + sent.number).isEqualTo(sent.left ? 0 : 1);
    }
    assertThat(fixture.engine.metrics().queues().waiting()).isZero();
    for (String key : List.of("a", "b")) {
      List<Sent> ofKey = admittedInOrder.stream().filter(sent -> uses(sent, key)).toList();
      assertThat(ofKey.stream().map(sent -> sent.number).toList())
          .as("order of " + key + " by " + algorithm)
          .isSorted();
      for (int i = 0; i + most(algorithm) < ofKey.size(); i++) {
        assertThat(ofKey.get(i + most(algorithm)).atNanos - ofKey.get(i).atNanos)
            .as(key + " by " + algorithm)
            .isGreaterThanOrEqualTo(algorithm.equals("fixed-window") ? 1 : WINDOW);
      }
    }
  }

  /** Returns how many requests any window may hold: two fixed windows touch, a bucket refills. */
  private static int most(String algorithm) {
    return algorithm.equals("sliding-window-log") ? LIMIT : 2 * LIMIT;
  }

  private static boolean uses(Sent sent, String key) {
    return sent.request.descriptors().stream()
        .anyMatch(each -> each.entries().get(0).key().equals(key));
  }

  private static Request request(SplittableRandom random) {
    List<Descriptor> descriptors = new ArrayList<>();
    int which = random.nextInt(3);
    if (which != 1) {
      descriptors.add(Descriptor.of("a", "x"));
    }
    if (which != 0) {
      descriptors.add(Descriptor.of("b", "x"));
    }
    return new Request("d", descriptors, 1);
  }

  @Test
  void manyThreads_everyRequestIsAnsweredOrHasLeft_andNothingIsLost() throws Exception {
    Fixture fixture = new Fixture(rules("sliding-window-log", 60_000));
    AtomicLong admitted = new AtomicLong();
    AtomicInteger over = new AtomicInteger();
    int threads = 4;
    int each = 500;
    CountDownLatch done = new CountDownLatch(threads);
    List<Throwable> failures = new ArrayList<>();
    SplittableRandom seeds = Trials.random("QueuePropertyTest threads");
    for (int i = 0; i < threads; i++) {
      SplittableRandom random = seeds.split();
      Thread thread =
          new Thread(
              () -> {
                for (int j = 0; j < each; j++) {
                  fixture.ticker.advance(MILLI);
                  Request request = request(random);
                  Answer first = fixture.engine.decide(request);
                  if (first.allowed()) {
                    admitted.incrementAndGet();
                    over.incrementAndGet();
                    continue;
                  }
                  Ticket ticket =
                      fixture.engine.enqueue(
                          request,
                          first,
                          Long.MAX_VALUE,
                          answer -> {
                            admitted.addAndGet(answer.allowed() ? 1 : 0);
                            over.incrementAndGet();
                          });
                  if (random.nextBoolean() && ticket.leave()) {
                    over.incrementAndGet();
                  }
                }
                done.countDown();
              });
      thread.setUncaughtExceptionHandler(
          (where, e) -> {
            failures.add(e);
            done.countDown();
          });
      thread.start();
    }
    done.await();
    fixture.ticker.advance(100_000 * MILLI);
    assertThat(failures).isEmpty();
    assertThat(over).hasValue(threads * each);
    QueueMetrics metrics = fixture.engine.metrics().queues();
    assertThat(metrics.waiting()).isZero();
    // Each of two keys admits LIMIT in any second of the time that has passed.
    long seconds = (long) threads * each / 1_000 + 100 + 1;
    assertThat(admitted.get()).isBetween(1L, 2 * LIMIT * seconds);
  }
}
