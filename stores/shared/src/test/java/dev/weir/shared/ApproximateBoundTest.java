package dev.weir.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Sharing;
import dev.weir.shared.FakeCall.Request;
import dev.weir.shared.internal.DecideOne;
import dev.weir.shared.internal.LocalCounts;
import dev.weir.shared.internal.Operation;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Local counts of several processes and one store, on virtual time. Messages take any time,
 * overtake each other and get lost; a client's requests do not wait for each other.
 */
class ApproximateBoundTest {
  private static final int RUNS = Integer.getInteger("weir.approximate.runs", 400);
  private static final int PROCESSES = 3;
  private static final long KEY = 7;
  private static final long MICRO = 1_000;
  private static final long MILLI = 1_000_000;
  private static final long WINDOW = 500 * MILLI;
  private static final long INTERVAL = 25 * MILLI;
  private static final long PERMITS = 60;
  private static final long UNRECORDED = 3;
  private static final long RUN = 3 * WINDOW;

  private static final Policy POLICY =
      Policy.builder(Quota.of(PERMITS, Duration.ofNanos(WINDOW)))
          .sharing(
              Sharing.STRICT
                  .consistency(Consistency.APPROXIMATE)
                  .syncInterval(Duration.ofNanos(INTERVAL)))
          .build();

  private record Event(long atNanos, long order, Runnable what) {}

  private record Counted(long atNanos, long permits) {}

  /** One run of all processes. */
  private static final class Fleet {
    private final SplittableRandom random;
    private final FakeTicker ticker = new FakeTicker();
    private final PriorityQueue<Event> events =
        new PriorityQueue<>(Comparator.comparingLong(Event::atNanos).thenComparing(Event::order));
    private final List<Counted> counted = new ArrayList<>();
    private final List<WindowChecker.Operation> admitted = new ArrayList<>();
    private final long longest;
    private final boolean lossy;
    private long order;

    Fleet(SplittableRandom random, long longest, boolean lossy) {
      this.random = random;
      this.longest = longest;
      this.lossy = lossy;
    }

    private void after(long nanos, Runnable what) {
      events.add(new Event(ticker.nanos() + nanos, order++, what));
    }

    private long delay() {
      return MICRO * (1 + random.nextLong(random.nextInt(10) == 0 ? longest : longest / 10));
    }

    private void admit(long permits, long atNanos) {
      admitted.add(WindowChecker.Operation.admitted("key", permits, atNanos));
    }

    /** Sends an operation to the store, which decides it on arrival, and its answer back. */
    private void carry(Operation operation) {
      boolean[] over = {false};
      after(
          delay(),
          () -> {
            long[] numbers = perform(FakeCall.requests(operation));
            after(
                delay(),
                () -> {
                  if (!over[0]) {
                    over[0] = true;
                    operation.read(new FakeReply(0, numbers));
                    operation.answer();
                  }
                });
          });
      if (lossy && random.nextInt(20) == 0) {
        after(
            longest * MICRO,
            () -> {
              if (!over[0]) {
                over[0] = true;
                operation.fail(Failure.TIMEOUT);
              }
            });
      }
    }

    private long remaining() {
      long from = ticker.nanos() - WINDOW;
      return PERMITS
          - counted.stream().filter(c -> c.atNanos > from).mapToLong(Counted::permits).sum();
    }

    private long[] perform(List<Request> requests) {
      List<Long> numbers = new ArrayList<>();
      for (Request each : requests) {
        boolean fits = each.permits() <= remaining();
        if (each.kind().equals("record") || fits) {
          counted.add(new Counted(ticker.nanos(), each.permits()));
        }
        if (each.kind().equals("some")) {
          numbers.add(fits ? 1L : 0L);
        }
        boolean refused = each.kind().equals("some") && !fits;
        numbers.addAll(
            List.of(refused ? 1L : 0L, Math.max(0, remaining()), refused ? 1_000L : 0L, 0L, 0L));
        numbers.add(ticker.nanos() / MICRO);
      }
      return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    private void client(LocalCounts counts, SharedBinding binding) {
      long permits = 1 + random.nextInt(4) / 3 + random.nextInt(16) / 15 * UNRECORDED;
      long asked = ticker.nanos();
      boolean[] later = {false};
      counts.decide(
          binding,
          KEY,
          permits,
          new DecideOne.Callback() {
            @Override
            public void decided(long times, Result result, long remaining) {
              if (times == 1) {
                admit(permits, later[0] ? Math.max(asked, result.atNanos()) : ticker.nanos());
              }
            }

            @Override
            public void failed(Failure failure) {}
          });
      later[0] = true;
      after(random.nextLong(8 * MILLI), () -> client(counts, binding));
    }

    private void tick(LocalCounts counts, SharedBinding binding) {
      counts.tick(binding);
      after(5 * MILLI, () -> tick(counts, binding));
    }

    /** Runs all processes, and returns by how many permits the fullest window exceeds the limit. */
    long excess() {
      Clocks clocks = new Clocks(ticker, new FakeTicker());
      for (int i = 0; i < PROCESSES; i++) {
        LocalCounts counts =
            new LocalCounts(POLICY, clocks, new Counters(), Bindings.MANY_KEYS, this::carry);
        SharedBinding binding = Bindings.of("approximate", POLICY, null, counts);
        client(counts, binding);
        client(counts, binding);
        tick(counts, binding);
      }
      while (ticker.nanos() < RUN) {
        Event next = events.remove();
        ticker.advance(next.atNanos - ticker.nanos());
        next.what.run();
      }
      return WindowChecker.maxInAnyWindow(admitted, WINDOW) - PERMITS;
    }
  }

  @Test
  void messagesTakeLongAndOvertakeEachOther_excessStaysAShareForEachOtherProcess() {
    assertThat(LocalCounts.mostUnrecorded(POLICY)).isEqualTo(UNRECORDED);
    SplittableRandom seeds = Trials.random("approximate bound", RUNS);
    long most = 0;
    for (int i = 0; i < RUNS; i++) {
      // In microseconds: up to three intervals in each direction.
      long longest = 20 + seeds.nextLong(3 * INTERVAL / MICRO);
      long excess = new Fleet(seeds.split(), longest, i % 4 == 3).excess();
      most = Math.max(most, excess);
    }
    assertThat(most).isLessThanOrEqualTo((PROCESSES - 1) * UNRECORDED);
    assertThat(most).as("that there was anything to bound").isPositive();
  }
}
