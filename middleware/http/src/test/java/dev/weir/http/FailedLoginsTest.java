package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Status;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests in which only wrong passwords count, and many threads try them at once. */
class FailedLoginsTest {
  private static final int LIMIT = 10;
  private static final int THREADS = 100;
  private static final int ATTEMPTS = 50;
  private static final long MINUTE = 60_000_000_000L;

  private final FakeTicker ticker = new FakeTicker(1_700_000_000_000_000_000L);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fixed-window",
        "sliding-window",
        "sliding-window-log",
        "sliding-window-buckets",
        "sliding-window-counter",
        "token-bucket"
      })
  void manyThreads_noMoreWrongPasswordsThanTheLimit(String algorithm) throws Exception {
    try (Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS)) {
      engine.apply(
          LimitedEngine.rules(
              """
              domain: app
              descriptors:
                - key: login
                  rate_limit: {window: 1m, requests_per_unit: 10, algorithm: %s}
              """
                  .formatted(algorithm)));
      RequestLimiter limiter =
          RequestLimiter.builder(engine).descriptor("login={login}").refundUnless(401).build();
      SplittableRandom random = Trials.random("failed logins, " + algorithm);
      LongAdder wrong = new LongAdder();
      AtomicInteger inFlight = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      List<WindowChecker.Operation> admitted = new ArrayList<>();
      CyclicBarrier start = new CyclicBarrier(THREADS);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        SplittableRandom own = random.split();
        Thread thread =
            new Thread(
                () -> {
                  try {
                    start.await();
                  } catch (Exception e) {
                    throw new IllegalStateException(e);
                  }
                  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                    boolean right = own.nextInt(4) > 0;
                    limiter.decide(
                        TestView.of("POST", "/login").login("alice"),
                        verdict -> {
                          if (verdict.passes()) {
                            int now = inFlight.incrementAndGet();
                            most.accumulateAndGet(now + wrong.intValue(), Math::max);
                            Thread.onSpinWait(); // The password is checked.
                            if (!right) {
                              wrong.increment();
                              synchronized (admitted) {
                                admitted.add(
                                    WindowChecker.Operation.admitted("alice", 1, ticker.nanos()));
                              }
                            }
                            inFlight.decrementAndGet();
                            verdict.responded(right ? 200 : 401);
                          }
                        });
                  }
                });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(WindowChecker.certainExcess(admitted, MINUTE, LIMIT)).isZero();
      assertThat(wrong.sum()).isBetween(1L, (long) LIMIT);
      long left = LIMIT - wrong.sum();
      if (algorithm.equals("token-bucket")) {
        // A bucket gives back all of a charge only if no other one came after it.
        assertThat(remaining(limiter)).as("wrong ones are charged").isBetween(0L, left);
      } else {
        assertThat(remaining(limiter)).as("right ones are uncharged").isEqualTo(left);
      }
    }
  }

  /** Returns the number of permits that are left. */
  private static long remaining(RequestLimiter limiter) {
    Verdict verdict = LimitedEngine.decide(limiter, TestView.of("POST", "/login").login("alice"));
    Answer answer = Objects.requireNonNull(verdict.answer());
    Status status = answer.statuses().get(0);
    verdict.abandoned();
    return status.limitRemaining() + (verdict.passes() ? 1 : 0);
  }
}
