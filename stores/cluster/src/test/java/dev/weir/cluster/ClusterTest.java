package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.cluster.ClusterSettings.ClusterMember;
import dev.weir.cluster.ClusterStatus.Health;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.StoreSettings;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole members in one process, over the loopback and with real files. */
class ClusterTest {
  private static final Policy TEN =
      Policy.builder(Quota.of(10, Duration.ofMinutes(10)))
          .algorithm(Algorithm.SLIDING_WINDOW_LOG)
          .build();

  @TempDir private Path folder;
  private final List<ClusterMember> members = new ArrayList<>();
  private final Map<String, ClusterStore> stores = new HashMap<>();
  private final Map<String, Cluster> clusters = new HashMap<>();
  private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void choosePorts() throws IOException {
    List<ServerSocket> taken = new ArrayList<>();
    for (String name : List.of("a", "b", "c")) {
      ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      taken.add(socket);
      members.add(new ClusterMember(name, "127.0.0.1", socket.getLocalPort()));
    }
    for (ServerSocket each : taken) {
      each.close();
    }
  }

  @AfterEach
  void stop() {
    stores.values().forEach(ClusterStore::close);
  }

  private ClusterSettings settings(String name, List<ClusterMember> all) {
    ClusterMember self =
        all.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
    return new ClusterSettings(
        name,
        all,
        new InetSocketAddress(self.host(), self.port()),
        folder.resolve(name),
        2,
        Duration.ofMillis(500),
        1_000_000,
        1L << 30,
        null,
        Ticker.system(),
        log::add);
  }

  private static StoreSettings storeSettings() {
    return new StoreSettings(
        "cluster",
        2_000_000_000L,
        new Clocks(Ticker.system(), Ticker.wall()),
        false,
        line -> {},
        line -> {},
        new Counters());
  }

  private void start(String... names) {
    List<CompletableFuture<Void>> starting = new ArrayList<>();
    for (String name : names) {
      starting.add(CompletableFuture.runAsync(() -> startOne(name), task -> thread(name, task)));
    }
    starting.forEach(CompletableFuture::join);
    await(() -> stores.values().stream().allMatch(ClusterStore::available));
  }

  private static void thread(String name, Runnable task) {
    new Thread(task, "start-" + name).start();
  }

  private void startOne(String name) {
    try {
      Cluster cluster = Cluster.open(settings(name, members));
      cluster.form();
      synchronized (this) {
        clusters.put(name, cluster);
        stores.put(name, cluster.store(storeSettings()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void end(String name) {
    Objects.requireNonNull(stores.remove(name)).close();
    clusters.remove(name);
  }

  /** Waits for what happens by itself; the test's own time limit ends it if it does not. */
  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  private static Charges ask(ClusterStore store, Policy policy, String key) {
    Binding binding = store.bind("rule", policy, 0);
    Charges asked = new Charges().add(binding, store.fingerprint().of(key), 1);
    CompletableFuture<Charges> answer = new CompletableFuture<>();
    store.decide(asked, Ticker.system().nanos(), answer::complete);
    return answer.join();
  }

  private int admitted(String key, int requests) {
    int admitted = 0;
    List<ClusterStore> all = List.copyOf(stores.values());
    for (int i = 0; i < requests; i++) {
      admitted += ask(all.get(i % all.size()), TEN, key).allowed() ? 1 : 0;
    }
    return admitted;
  }

  private boolean healthy() {
    return clusters.values().iterator().next().status().health() == Health.HEALTHY;
  }

  @Test
  void limit_holdsOverAllServers_whileOneEndsAndComesBack() {
    start("a", "b", "c");
    await(this::healthy);
    for (String key : List.of("x", "y", "z")) { // In both groups.
      assertThat(admitted(key, 30)).as(key).isEqualTo(10);
    }
    String leader =
        Objects.requireNonNull(clusters.get("a")).status().members().stream()
            .flatMap(each -> each.groups().stream())
            .filter(each -> each.leads())
            .findFirst()
            .orElseThrow()
            .leader();
    end(leader);
    await(() -> stores.values().stream().allMatch(ClusterStore::available));
    assertThat(admitted("x", 30)).isZero();
    await(() -> admitted("fresh", 1) == 1);

    start(leader);
    await(this::healthy);
    assertThat(admitted("y", 30)).isZero();

    for (String name : List.of("a", "b", "c")) { // The whole cluster, too.
      end(name);
    }
    start("a", "b", "c");
    assertThat(admitted("z", 30)).isZero();
    assertThat(log).noneMatch(line -> line.contains("other counts"));
  }

  @Test
  void windows_holdTheLimitByRealTime_whileLeadersChange() {
    start("a", "b", "c");
    await(this::healthy);
    Policy policy =
        Policy.builder(Quota.of(20, Duration.ofMillis(500)))
            .algorithm(Algorithm.SLIDING_WINDOW_LOG)
            .build();
    Collection<Operation> history = new ConcurrentLinkedQueue<>();
    long end = Ticker.system().nanos() + 6_000_000_000L;
    AtomicInteger changes = new AtomicInteger();
    List<CompletableFuture<Void>> askers = new ArrayList<>();
    for (ClusterStore store : List.copyOf(stores.values())) {
      askers.add(
          CompletableFuture.runAsync(
              () -> {
                while (Ticker.system().nanos() - end < 0) {
                  long sent = Ticker.system().nanos();
                  if (ask(store, policy, "hot").allowed()) {
                    long answered = Ticker.system().nanos();
                    history.add(new Operation("hot", 1, sent, answered, true, Reason.WITHIN_LIMIT));
                    if (history.size() % 15 == 0) {
                      String next = List.of("a", "b", "c").get(changes.incrementAndGet() % 3);
                      Objects.requireNonNull(clusters.get(next)).handOver();
                    }
                  }
                }
              },
              task -> thread("asker", task)));
    }
    askers.forEach(CompletableFuture::join);
    assertThat(WindowChecker.certainExcess(history, 500_000_000L, 20)).isZero();
    assertThat(history).hasSizeGreaterThan(20);
  }

  @Test
  void memberThatLostItsFolder_doesNotVoteAgain() throws Exception {
    start("a", "b", "c");
    end("c");
    try (Stream<Path> files = Files.walk(folder.resolve("c"))) {
      for (Path each : files.sorted((one, other) -> other.compareTo(one)).toList()) {
        Files.delete(each);
      }
    }
    try (Cluster again = Cluster.open(settings("c", members))) {
      assertThatThrownBy(again::form)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("must not take part again");
    }
    assertThat(admitted("x", 20)).isEqualTo(10);
  }

  @Test
  void otherMembers_areNoCluster() throws Exception {
    try (Cluster a = Cluster.open(settings("a", members));
        Cluster b = Cluster.open(settings("b", members.subList(0, 2)))) {
      assertThatThrownBy(b::form)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("has the members a, b, c");
      assertThat(a.status().health()).isEqualTo(Health.UNANSWERED);
    }
  }

  @Test
  void folder_isOneMembersAlone() throws Exception {
    try (Cluster a = Cluster.open(settings("a", members))) {
      assertThatThrownBy(() -> Cluster.open(settings("a", members)))
          .hasMessageContaining("in use by another member");
      assertThat(a.status().cluster()).isEmpty();
    }
  }
}
