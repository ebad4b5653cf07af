package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Ticker;
import dev.weir.cluster.ClusterSettings.ClusterMember;
import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.ClusterStatus.Health;
import dev.weir.shared.Clocks;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Members of an older version and of this one in one cluster. The older one is this one that takes
 * part up to level 1 only, which {@link GoldenBytesTest} keeps what it was.
 */
class RollingUpgradeTest {
  private static final int OLD = 1;
  private static final int NEW = 2;
  private static final int LIMIT = 200;
  private static final int KEYS = 8;

  /** Longer than the test, so that what is admitted of a key can be counted. */
  private static final Policy POLICY =
      Policy.builder(Quota.of(LIMIT, Duration.ofHours(1)))
          .algorithm(Algorithm.SLIDING_WINDOW_LOG)
          .build();

  @TempDir private Path folder;
  private final Map<String, ClusterMember> addresses = new TreeMap<>();
  private final Map<String, Cluster> clusters = new ConcurrentHashMap<>();
  private final Map<String, ClusterStore> stores = new ConcurrentSkipListMap<>();
  private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
  private final Map<String, AtomicInteger> admitted = new ConcurrentHashMap<>();
  private final AtomicInteger answered = new AtomicInteger();
  private volatile boolean loaded = true;
  private @Nullable Thread load;

  @BeforeEach
  void choosePorts() throws IOException {
    for (String name : List.of("a", "b", "c", "d")) {
      addresses.put(name, new ClusterMember(name, "127.0.0.1", Ports.free()));
    }
  }

  @AfterEach
  void stop() throws Exception {
    endLoad();
    stores.values().forEach(ClusterStore::close);
  }

  private List<ClusterMember> seeds() {
    return List.of(address("a"), address("b"), address("c"));
  }

  private ClusterMember address(String name) {
    return Objects.requireNonNull(addresses.get(name));
  }

  private Cluster opened(String name, int most) throws IOException {
    List<ClusterMember> list = new ArrayList<>(seeds());
    if (!list.contains(address(name))) {
      list.add(address(name));
    }
    return Cluster.open(
        new ClusterSettings(
            name,
            list,
            0,
            Resolver.system(),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), address(name).port()),
            folder.resolve(name),
            "",
            2,
            3,
            Duration.ofMillis(400),
            1_000_000,
            1L << 30,
            most,
            null,
            new Clocks(Ticker.system(), Ticker.wall()),
            Duration.ofSeconds(1),
            line -> log.add(name + ": " + line)),
        1);
  }

  private void start(String name, int most) throws Exception {
    Cluster cluster = opened(name, most);
    try {
      cluster.form();
    } catch (IOException | InterruptedException e) {
      cluster.close();
      throw e;
    }
    clusters.put(name, cluster);
    stores.put(name, cluster.store(UsualSettings.store()));
  }

  private void startAll(int most) throws Exception {
    List<CompletableFuture<Void>> starting = new ArrayList<>();
    for (String name : List.of("a", "b", "c")) {
      CompletableFuture<Void> started = new CompletableFuture<>();
      starting.add(started);
      new Thread(
              () -> {
                try {
                  start(name, most);
                  started.complete(null);
                } catch (Exception e) {
                  started.completeExceptionally(e);
                }
              },
              "start-" + name)
          .start();
    }
    starting.forEach(CompletableFuture::join);
    healthy();
  }

  private void end(String name) {
    clusters.remove(name);
    Objects.requireNonNull(stores.remove(name)).close();
  }

  private void restart(String name, int most) throws Exception {
    end(name);
    start(name, most);
    healthy();
  }

  private ClusterStatus status() {
    return clusters.values().iterator().next().status();
  }

  private void healthy() throws Exception {
    Await.until(() -> "a healthy cluster; " + log, () -> status().health() == Health.HEALTHY);
  }

  /** Waits until all members, and all of their groups, are at a level. */
  private void level(int level) throws Exception {
    Await.until(
        "level " + level + "; " + log,
        () ->
            clusters.values().stream()
                .allMatch(
                    each -> each.status().level() == level && each.levels().equals(Set.of(level))));
  }

  private void startLoad() {
    load =
        new Thread(
            () -> {
              for (int i = 0; loaded; i++) {
                List<ClusterStore> all = List.copyOf(stores.values());
                if (!all.isEmpty()) {
                  ask(all.get(i / KEYS % all.size()), "key-" + i % KEYS);
                }
              }
            },
            "load");
    load.start();
  }

  private void endLoad() throws InterruptedException {
    loaded = false;
    if (load != null) {
      load.join();
    }
  }

  /** Asks once, and counts what is admitted. */
  private boolean ask(ClusterStore store, String key) {
    Binding binding = store.bind("rule", POLICY, 0);
    Charges asked = new Charges().add(binding, store.fingerprint().of(key), 1);
    CompletableFuture<Charges> answer = new CompletableFuture<>();
    try {
      store.decide(asked, Ticker.system().nanos(), answer::complete);
    } catch (IllegalStateException closed) {
      return false;
    }
    boolean allowed = answer.join().allowed();
    answered.incrementAndGet();
    if (allowed) {
      admitted.computeIfAbsent(key, each -> new AtomicInteger()).incrementAndGet();
    }
    return allowed;
  }

  /** Uses up what is left of every key: it is never more than the limit in all. */
  private void checkLimit() throws Exception {
    Await.until("requests", () -> answered.get() > 4_000);
    endLoad();
    for (int i = 0; i < KEYS; i++) {
      String key = "key-" + i;
      for (ClusterStore store : stores.values()) {
        for (int more = 0; more < LIMIT && ask(store, key); more++) {
          assertThat(more).isLessThan(LIMIT);
        }
      }
      assertThat(Objects.requireNonNull(admitted.get(key)).get()).as(key).isBetween(1, LIMIT);
    }
  }

  private void sameEverywhere() throws Exception {
    Await.until(
        "the same sums everywhere",
        () -> {
          Map<Integer, Set<String>> sums = new TreeMap<>();
          status().members().stream()
              .flatMap(each -> each.groups().stream())
              .forEach(
                  (GroupStatus each) ->
                      sums.computeIfAbsent(each.group(), group -> ConcurrentHashMap.newKeySet())
                          .add(each.tick() + ":" + each.sum() + ":" + each.diverged()));
          return sums.size() == 2 && sums.values().stream().allMatch(each -> each.size() == 1);
        });
    assertThat(log).noneMatch(line -> line.contains("other counts"));
  }

  @Test
  void membersRestartedOneByOne_raiseTheLevelByThemselves_andTheLimitHolds() throws Exception {
    startAll(OLD);
    startLoad();
    restart("a", NEW);
    restart("b", NEW);
    assertThat(status().levelWaitsFor()).containsExactly("c understands no more than level 1");
    restart("a", OLD); // It may go back as long as one of them is old.
    assertThat(clusters.values()).allSatisfy(each -> assertThat(each.levels()).containsOnly(1));
    restart("a", NEW);
    restart("c", NEW);
    level(NEW);
    sameEverywhere();
    assertThat(status().levelWaitsFor()).isEmpty();

    assertThatThrownBy(() -> start("d", OLD))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "cluster: this member was refused: hello of d: it understands levels 1..1 (expected:"
                + " one of levels 2..2): its version of Weir is too old for this cluster");
    end("c");
    Await.until("a note", () -> Identity.level(folder.resolve("c"), Levels.HERE) == NEW);
    assertThatThrownBy(() -> start("c", OLD))
        .isInstanceOf(IOException.class)
        .hasMessage(
            folder.resolve("c")
                + " is of level 2 (expected: one of levels 1..1): this version of Weir is too old"
                + " for it");
    start("c", NEW);
    healthy();
    level(NEW);
    sameEverywhere();
    checkLimit();
  }

  @Test
  void serverThatIsNoMember_holdsTheLevelBack_untilItIsGone() throws Exception {
    ClusterClient old =
        ClusterClient.open(
            "edge",
            seeds(),
            Resolver.system(),
            null,
            Ticker.system(),
            new Levels(OLD, OLD),
            log::add);
    try {
      startAll(OLD);
      old.join();
      for (String each : List.of("a", "b", "c")) {
        restart(each, NEW);
      }
      Await.until(
          () -> "the server among those who are waited for; " + log,
          () ->
              status()
                  .levelWaitsFor()
                  .equals(List.of("the server edge understands no more than level 1")));
      assertThat(clusters.values()).allSatisfy(each -> assertThat(each.levels()).containsOnly(OLD));
    } finally {
      old.close();
    }
    level(NEW);
    ClusterClient again =
        ClusterClient.open(
            "edge",
            List.of(address("a")),
            Resolver.system(),
            null,
            Ticker.system(),
            new Levels(OLD, OLD),
            log::add);
    Thread joining =
        new Thread(
            () -> {
              try {
                again.join();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "join");
    joining.start();
    try {
      Await.until(
          () -> "a refusal; " + log,
          () ->
              log.stream()
                  .anyMatch(
                      line ->
                          line.contains(
                              "it refuses: hello of edge: it understands levels 1..1 (expected: one"
                                  + " of levels 2..2): its version of Weir is too old")));
    } finally {
      joining.interrupt();
      joining.join();
      again.close();
    }
    try (ClusterClient able =
        ClusterClient.open("edge", seeds(), Resolver.system(), null, Ticker.system(), log::add)) {
      able.join();
      assertThat(able.epoch()).isGreaterThan(1);
    }
  }
}
