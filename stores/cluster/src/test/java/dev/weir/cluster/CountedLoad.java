package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Ticker;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A load on all stores with a few keys, again and again, which counts the admitted permits of each:
 * at most its limit, whatever becomes of members.
 */
public final class CountedLoad implements AutoCloseable {
  private static final int LIMIT = 200;
  private static final int KEYS = 8;

  /** The fewest answers; fewer would be too little evidence about the time between. */
  private static final int MIN_ANSWERED = 4_000;

  /** A window longer than any test, so that the admitted permits of a key can be counted. */
  private static final Policy POLICY =
      Policy.builder(Quota.of(LIMIT, Duration.ofHours(1)))
          .algorithm(Algorithm.SLIDING_WINDOW_LOG)
          .build();

  private final Collection<? extends ClusterStore> stores;
  private final Map<String, AtomicInteger> admitted = new ConcurrentHashMap<>();
  private final Map<String, AtomicInteger> reasons = new ConcurrentHashMap<>();
  private final AtomicInteger answered = new AtomicInteger();
  private final Thread thread = new Thread(this::run, "load");
  private volatile boolean running = true;

  /**
   * Creates a load.
   *
   * @param stores may change meanwhile
   */
  public CountedLoad(Collection<? extends ClusterStore> stores) {
    this.stores = stores;
  }

  public void start() {
    thread.start();
  }

  private void run() {
    for (int i = 0; running; i++) {
      List<ClusterStore> all = List.copyOf(stores);
      if (!all.isEmpty()) {
        boolean unused = request(all.get(i / KEYS % all.size()), "key-" + i % KEYS);
      }
    }
  }

  private boolean request(ClusterStore store, String key) {
    Binding binding = store.bind("rule", POLICY, 0);
    Charges asked = new Charges().add(binding, store.fingerprint().of(key), 1);
    CompletableFuture<Charges> answer = new CompletableFuture<>();
    try {
      store.decide(asked, Ticker.system().nanos(), answer::complete);
    } catch (IllegalStateException closed) {
      return false;
    }
    Charges decided = answer.join();
    answered.incrementAndGet();
    count(reasons, key + " " + decided.reason(0));
    if (decided.allowed()) {
      count(admitted, key);
    }
    return decided.allowed();
  }

  private static void count(Map<String, AtomicInteger> counts, String of) {
    counts.computeIfAbsent(of, each -> new AtomicInteger()).incrementAndGet();
  }

  /** Uses up the permits of every key, and checks that each had at most its limit in all. */
  public void check() throws Exception {
    Await.until(
        () -> "requests, and each key admitted; " + reasons,
        () -> answered.get() > MIN_ANSWERED && admitted.size() == KEYS);
    close();
    for (int i = 0; i < KEYS; i++) {
      String key = "key-" + i;
      for (ClusterStore store : stores) {
        int more = 0;
        while (request(store, key)) {
          assertThat(++more).as(key).isLessThanOrEqualTo(LIMIT);
        }
      }
      assertThat(admitted.get(key)).as(key).hasValueBetween(1, LIMIT);
    }
  }

  @Override
  public void close() {
    running = false;
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
