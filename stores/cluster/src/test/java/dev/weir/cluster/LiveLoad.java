package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.FullestWindow;
import dev.weir.testkit.WindowChecker.Operation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A load on all stores with keys in all slots, without waiting for one answer before the next
 * request, which checks the admitted permits by real time.
 */
final class LiveLoad implements AutoCloseable {
  private static final int PERMITS = 8;
  private static final long WINDOW_NANOS = Policies.SECOND;
  private static final int KEYS = 40;
  private static final int IN_FLIGHT = 64;

  /** Some thousand requests a second, which leave room for the tested work. */
  private static final int REQUESTS_PER_PAUSE = 20;

  private static final long PAUSE_MILLIS = 5;

  /**
   * The rounding of instants in logs, which are whole microseconds. Members of one machine use one
   * clock.
   */
  private static final long ROUNDING_NANOS = 2 * Policies.MICRO;

  private final Map<String, Policy> rules = new TreeMap<>();
  private final Collection<? extends ClusterStore> stores;
  private final SplittableRandom random;
  private final ConcurrentLinkedQueue<Operation> history = new ConcurrentLinkedQueue<>();
  private final AtomicInteger uncertain = new AtomicInteger();
  private final Semaphore free = new Semaphore(IN_FLIGHT);
  private final Thread thread = new Thread(this::run, "load");
  private volatile boolean running = true;

  /**
   * Creates a load.
   *
   * @param stores may change meanwhile
   */
  LiveLoad(Collection<? extends ClusterStore> stores, SplittableRandom random) {
    this.stores = stores;
    this.random = random;
    for (Algorithm each : Algorithm.rates()) {
      rules.put("strict " + each, Policies.of(each, PERMITS, WINDOW_NANOS));
    }
    rules.put(
        "leased",
        Policies.shared(
            Algorithm.SLIDING_WINDOW_LOG,
            PERMITS,
            WINDOW_NANOS,
            Consistency.LEASED,
            Policies.SECOND / 5));
    thread.start();
  }

  private void run() {
    List<String> names = List.copyOf(rules.keySet());
    for (int i = 0; running; i++) {
      if (i % REQUESTS_PER_PAUSE == 0) {
        pause();
      }
      List<ClusterStore> all = List.copyOf(stores);
      if (all.isEmpty()) {
        continue;
      }
      ClusterStore store = all.get(random.nextInt(all.size()));
      String rule = names.get(random.nextInt(names.size()));
      free.acquireUninterruptibly();
      try {
        request(store, rule, random.nextInt(10) == 0 ? 2 : 1);
      } catch (IllegalStateException closed) {
        free.release();
      }
    }
  }

  private static void pause() {
    try {
      Await.pause(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void request(ClusterStore store, String rule, int keys) {
    Binding binding = store.bind(rule, Objects.requireNonNull(rules.get(rule)), 0);
    Charges charges = new Charges();
    List<String> asked = new ArrayList<>();
    for (int i = 0; i < keys; i++) {
      String key = rule + " " + (random.nextInt(KEYS / keys) + i * KEYS / 2);
      asked.add(key);
      charges.add(binding, store.fingerprint().of(key), 1);
    }
    long sent = Ticker.system().nanos();
    store.decide(
        charges,
        sent,
        decided -> {
          long answered = Ticker.system().nanos();
          free.release();
          for (int i = 0; i < keys; i++) {
            if (decided.allowed()) {
              history.add(
                  new Operation(asked.get(i), 1, sent, answered, true, Reason.WITHIN_LIMIT));
            }
            uncertain.addAndGet(decided.reason(i) == Reason.UNCERTAIN ? 1 : 0);
          }
        });
  }

  int admitted() {
    return history.size();
  }

  /** Returns the number of charges without a decision. */
  int uncertain() {
    return uncertain.get();
  }

  /** Checks that no window of any key holds more than its rule may admit. */
  void check() {
    close();
    Map<String, List<Operation>> byRule = new TreeMap<>();
    for (Operation each : history) {
      String rule = each.key().substring(0, each.key().lastIndexOf(' '));
      byRule.computeIfAbsent(rule, unused -> new ArrayList<>()).add(each);
    }
    assertThat(byRule).hasSameSizeAs(rules);
    byRule.forEach(
        (rule, operations) -> {
          FullestWindow fullest = WindowChecker.fullest(operations, WINDOW_NANOS - ROUNDING_NANOS);
          assertThat(fullest.permits())
              .as("%s of %d: %s", rule, operations.size(), fullest)
              .isPositive()
              .isLessThanOrEqualTo(Oracle.bound(Objects.requireNonNull(rules.get(rule))));
        });
  }

  @Override
  public void close() {
    running = false;
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    free.acquireUninterruptibly(IN_FLIGHT); // All requests are answered.
    free.release(IN_FLIGHT);
  }
}
