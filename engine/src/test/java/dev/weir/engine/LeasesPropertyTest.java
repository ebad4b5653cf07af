package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.engine.internal.leases.LeaseLedger;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients that do with their leases what the protocol allows, at the worst moments: replies are
 * lost or late, returns are sent twice, late, or not at all, rules change, the service restarts. A
 * window checker, which is independent of leases, checks which permits were spent at which times.
 */
class LeasesPropertyTest {
  private static final long MILLI = 1_000_000L;
  private static final long WINDOW = 1_000 * MILLI;
  private static final long LONGEST_LIFE = 100 * MILLI;

  private enum What {
    ASK,
    SPEND,
    SPEND_AT_THE_END,
    RETURN,
    RETURN_TWICE,
    REFUND,
    CHANGE,
    RESTART
  }

  /** An event, after some time. */
  private record Event(
      long afterNanos, What what, int which, int permits, int ahead, long lateBy) {}

  /**
   * A lease in a client, with the instants at which it was requested and from which it is usable.
   */
  private static final class Held {
    final long lease;

    /** The service that granted the lease: each has limits of its own. */
    final String grantedBy;

    final long from;
    long until;
    long left;

    Held(long lease, String grantedBy, long from, long until, long left) {
      this.lease = lease;
      this.grantedBy = grantedBy;
      this.from = from;
      this.until = until;
      this.left = left;
    }
  }

  /** The variants of the service; the wrong ones must be found. */
  private enum Build {
    RIGHT,
    RETURNED_TWICE,
    COUNTED_BY_THE_WINDOW,
    /** The client's fault: it counts the lifetime from the reply. */
    LIFE_FROM_RECEIPT
  }

  /** A ledger that forgets nothing when it is returned. */
  private static final class EverLastingLedger extends LeaseLedger {
    private final Map<Long, OutstandingCharges> all = new HashMap<>();

    EverLastingLedger(int max) {
      super(max);
    }

    @Override
    public long add(OutstandingCharges charged) {
      long number = super.add(charged);
      all.put(number, charged);
      return number;
    }

    @Override
    @Nullable
    public OutstandingCharges take(long number, boolean lease) {
      OutstandingCharges known = all.get(number);
      return known != null && known.lease() == lease ? known : null;
    }
  }

  /** The service, its clients, and the permits that they have spent. */
  private static final class World {
    private final FakeTicker ticker = new FakeTicker();
    private final Build build;
    private final String algorithm;
    private final List<Held> held = new ArrayList<>();
    private final List<Long> charges = new ArrayList<>();
    private final Map<Long, Operation> charged = new HashMap<>();

    final List<Operation> spent = new ArrayList<>();
    private int generation;
    private long most;
    private Engine engine;
    private Leases leases;

    World(Build build, String algorithm) {
      this.build = build;
      this.algorithm = algorithm;
      restart();
    }

    private void restart() {
      generation++;
      Store store = new MemoryStore();
      engine = Engine.create(store, ticker, EngineSettings.DEFAULTS.lending(10_000));
      leases =
          build == Build.RETURNED_TWICE
              ? new Leases(engine.path, new EverLastingLedger(10_000))
              : engine.leases();
      rules(20, 50);
    }

    private void change(Event event) {
      try {
        rules(5 + event.permits(), 10 + event.which() % 90);
      } catch (RulesException e) {
        // More changes within a window than are remembered: the rules before stay.
        assertThat(e).hasMessageContaining("at most 7");
      }
    }

    private void rules(int limit, int lifeMillis) {
      engine.apply(
          Fixture.rules(
              """
              domain: d
              descriptors:
                - key: k
                  rate_limit:
                    {window: %dms, requests_per_unit: %d, algorithm: %s, consistency: leased,
                     sync_interval: %dms}
              """
                  .formatted(countedMillis(lifeMillis), limit, algorithm, lifeMillis)));
      most = Math.max(most, limit);
    }

    /** Returns the window of the rule; the service counts by one that is longer by the lifetime. */
    private int countedMillis(int lifeMillis) {
      return build == Build.COUNTED_BY_THE_WINDOW ? 1_000 - lifeMillis : 1_000;
    }

    private String key() {
      return "generation " + generation;
    }

    void happen(Event event) {
      ticker.advance(event.afterNanos());
      switch (event.what()) {
        case ASK -> request(event);
        case SPEND -> spend(held(event), event.permits(), ticker.nanos());
        case SPEND_AT_THE_END -> {
          Held lease = held(event);
          if (lease != null && lease.until - 1 > ticker.nanos()) {
            ticker.advance(lease.until - 1 - ticker.nanos());
          }
          spend(lease, Integer.MAX_VALUE, ticker.nanos());
        }
        case RETURN -> giveBack(held(event), 1);
        case RETURN_TWICE -> giveBack(held(event), 2);
        case REFUND -> refund(event);
        case CHANGE -> change(event);
        case RESTART -> restart();
      }
    }

    private @Nullable Held held(Event event) {
      return held.isEmpty() ? null : held.get(event.which() % held.size());
    }

    private void request(Event event) {
      long sent = ticker.nanos();
      ticker.advance(event.lateBy() / 4); // On its way.
      Request request =
          new Request(
              "d",
              List.of(new Descriptor(List.of(new Entry("k", "v")), null, null)),
              event.permits());
      AtomicReference<Grant> got = new AtomicReference<>();
      boolean refundable = event.which() % 3 == 0;
      leases.decide(new LoanRequest(request, List.of((long) event.ahead()), refundable), got::set);
      Grant grant = Objects.requireNonNull(got.get());
      if (!grant.answer().allowed()) {
        return;
      }
      // The request that waited counts from its decision, whether the reply arrives or not.
      Operation now = Operation.admitted(key(), event.permits(), ticker.nanos());
      spent.add(now);
      if (grant.charge() != 0) {
        charges.add(grant.charge());
        charged.put(grant.charge(), now);
      }
      Loan loan = grant.loans().get(0);
      boolean lost = event.which() % 7 == 0;
      if (loan.lease() != 0 && !lost) {
        long received = ticker.nanos() + event.lateBy();
        long begin = build == Build.LIFE_FROM_RECEIPT ? received : sent;
        held.add(new Held(loan.lease(), key(), received, begin + loan.lifeNanos(), loan.permits()));
      }
    }

    private void spend(@Nullable Held lease, long wanted, long now) {
      if (lease == null || now < lease.from || now >= lease.until || lease.left == 0) {
        return;
      }
      long permits = Math.min(wanted, lease.left);
      lease.left -= permits;
      spent.add(Operation.admitted(lease.grantedBy, permits, now));
    }

    /**
     * Returns the rest of a lease, and does not use it any more; may return it again much later.
     */
    private void giveBack(@Nullable Held lease, int times) {
      if (lease == null) {
        return;
      }
      for (int i = 0; i < times; i++) {
        leases.giveBack(lease.lease, lease.left, given -> {});
      }
      lease.until = 0;
      if (times == 1) {
        held.remove(lease);
      }
    }

    private void refund(Event event) {
      if (charges.isEmpty()) {
        return;
      }
      long charge = charges.get(event.which() % charges.size());
      AtomicLong given = new AtomicLong();
      leases.refund(charge, given::set);
      Operation was = charged.get(charge);
      if (given.get() > 0 && was != null) {
        charged.remove(charge);
        spent.remove(was);
        if (was.permits() > given.get()) {
          spent.add(Operation.admitted(was.key(), was.permits() - given.get(), was.startNanos()));
        }
      }
    }
  }

  private static List<Event> events(SplittableRandom random, boolean changes, boolean restarts) {
    List<Event> events = new ArrayList<>();
    int count = 20 + random.nextInt(120);
    for (int i = 0; i < count; i++) {
      int dice = random.nextInt(100);
      What what =
          dice < 40
              ? What.ASK
              : dice < 55
                  ? What.SPEND
                  : dice < 75
                      ? What.SPEND_AT_THE_END
                      : dice < 82
                          ? What.RETURN
                          : dice < 88
                              ? What.RETURN_TWICE
                              : dice < 93 ? What.REFUND : dice < 97 ? What.CHANGE : What.RESTART;
      if ((what == What.CHANGE && !changes) || (what == What.RESTART && !restarts)) {
        what = What.ASK;
      }
      long after =
          switch (random.nextInt(6)) {
            case 0, 1, 2 -> 0L;
            case 3 -> random.nextLong(10 * MILLI);
            case 4 -> random.nextLong(LONGEST_LIFE);
            default -> random.nextLong(WINDOW);
          };
      long late = random.nextInt(3) == 0 ? random.nextLong(LONGEST_LIFE) : 0;
      events.add(
          new Event(
              after,
              what,
              random.nextInt(1 << 20),
              1 + random.nextInt(4),
              random.nextInt(20),
              late));
    }
    return events;
  }

  private static World run(Build build, String algorithm, List<Event> events) {
    World world = new World(build, algorithm);
    events.forEach(world::happen);
    return world;
  }

  private static void strict(World world) {
    assertThat(WindowChecker.certainExcess(world.spent, WINDOW, world.most))
        .as("excess over %d", world.most)
        .isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"sliding-window", "sliding-window-log", "sliding-window-buckets"})
  void leases_neverExceedTheLimitInAnyWindow(String algorithm) {
    Trials.run(
        "leases_neverExceedTheLimitInAnyWindow " + algorithm,
        70,
        random ->
            new Trials.Trial<>(
                algorithm,
                events(random, true, true),
                events -> strict(run(Build.RIGHT, algorithm, events))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"fixed-window", "sliding-window-counter"})
  void leases_endWithWindowsThatBeginByTheClock(String algorithm) {
    Trials.run(
        "leases_endWithWindowsThatBeginByTheClock " + algorithm,
        70,
        random ->
            new Trials.Trial<>(
                algorithm,
                events(random, false, true),
                events -> {
                  World world = run(Build.RIGHT, algorithm, events);
                  Map<String, Long> sums = new HashMap<>();
                  for (Operation each : world.spent) {
                    long window = Math.floorDiv(each.startNanos(), WINDOW);
                    sums.merge(each.key() + " " + window, each.permits(), Long::sum);
                  }
                  assertThat(sums).allSatisfy((window, sum) -> atMost(sum, world.most));
                }));
  }

  private static void atMost(long sum, long most) {
    assertThat(sum).isLessThanOrEqualTo(most);
  }

  @ParameterizedTest
  @ValueSource(strings = {"token-bucket", "leaky-bucket"})
  void leases_keepTheBoundOfBuckets(String algorithm) {
    Trials.run(
        "leases_keepTheBoundOfBuckets " + algorithm,
        70,
        random ->
            new Trials.Trial<>(
                algorithm,
                events(random, false, true),
                events -> {
                  World world = run(Build.RIGHT, algorithm, events);
                  long most = WindowChecker.maxInAnyWindow(world.spent, WINDOW);
                  assertThat(most).isLessThanOrEqualTo(2 * world.most - 1);
                }));
  }

  @ParameterizedTest
  @ValueSource(strings = {"RETURNED_TWICE", "COUNTED_BY_THE_WINDOW", "LIFE_FROM_RECEIPT"})
  void wrongLeases_areFound(String build) {
    assertThatThrownBy(
            () ->
                Trials.run(
                    "wrongLeases_areFound " + build,
                    5_000,
                    random ->
                        new Trials.Trial<>(
                            build,
                            events(random, false, false),
                            events ->
                                strict(run(Build.valueOf(build), "sliding-window-log", events)))))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("excess over");
  }

  @Test
  void rightLeases_passTheSameTrials() {
    Trials.run(
        "rightLeases_passTheSameTrials",
        300,
        random ->
            new Trials.Trial<>(
                "right",
                events(random, false, false),
                events -> strict(run(Build.RIGHT, "sliding-window-log", events))));
  }
}
