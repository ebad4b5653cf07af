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
import dev.weir.cluster.ClusterMetrics.GroupMetrics;
import dev.weir.cluster.ClusterSettings.ClusterMember;
import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.ClusterStatus.Health;
import dev.weir.shared.Clocks;
import dev.weir.testkit.Ports;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
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
  private final AtomicLong wallAheadNanos = new AtomicLong();
  private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void choosePorts() throws IOException {
    for (String name : List.of("a", "b", "c")) {
      members.add(new ClusterMember(name, "127.0.0.1", Ports.free()));
    }
  }

  @AfterEach
  void stop() {
    stores.values().forEach(ClusterStore::close);
    stores.clear();
  }

  private ClusterSettings settings(String name, List<ClusterMember> all) {
    ClusterMember self =
        all.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
    return new ClusterSettings(
        name,
        all,
        0,
        Resolver.system(),
        new InetSocketAddress(self.host(), self.port()),
        folder.resolve(name),
        "zone-" + name,
        2,
        3,
        Duration.ofMillis(500),
        1_000_000,
        1L << 30,
        0,
        null,
        new Clocks(Ticker.system(), () -> Ticker.wall().nanos() + wallAheadNanos.get()),
        Duration.ofSeconds(1),
        log::add);
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
        stores.put(name, cluster.store(UsualSettings.store()));
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
    long latest = end + 60_000_000_000L;
    AtomicInteger changes = new AtomicInteger();
    List<CompletableFuture<Void>> askers = new ArrayList<>();
    for (ClusterStore store : List.copyOf(stores.values())) {
      askers.add(
          CompletableFuture.runAsync(
              () -> {
                while (Ticker.system().nanos() - (history.size() > 20 ? end : latest) < 0) {
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

  private List<GroupStatus> replicas() {
    return clusters.values().iterator().next().status().members().stream()
        .flatMap(each -> each.groups().stream())
        .toList();
  }

  @Test
  void calendar_followsTheWallClock_andByHandWhereThatIsFarAhead() throws IOException {
    start("a", "b", "c");
    await(this::healthy);
    wallAheadNanos.set(800_000_000L);
    await(() -> replicas().stream().allMatch(each -> each.offsetNanos() >= 500_000_000L));
    assertThat(replicas()).noneMatch(GroupStatus::clockFault);

    Policy yearly =
        Policy.builder(Quota.of(5, Duration.ofDays(365))).algorithm(Algorithm.FIXED_WINDOW).build();
    ClusterStore store = Objects.requireNonNull(stores.get("a"));
    assertThat(IntStream.range(0, 9).filter(i -> ask(store, yearly, "x").allowed()).count())
        .isEqualTo(5);

    long year = Duration.ofDays(365).toNanos();
    wallAheadNanos.set(year);
    await(() -> replicas().stream().filter(GroupStatus::clockFault).count() == 2);
    assertThat(replicas()).allMatch(each -> each.offsetNanos() < 3_600_000_000_000L);
    assertThat(ask(store, yearly, "x").allowed()).isFalse();
    assertThat(log).anyMatch(each -> each.contains("does not follow it"));

    Objects.requireNonNull(clusters.get("b")).setCalendar();
    await(() -> replicas().stream().allMatch(each -> each.offsetNanos() > year / 2));
    await(() -> replicas().stream().noneMatch(GroupStatus::clockFault));
    await(() -> ask(store, yearly, "x").allowed());
    assertThat(IntStream.range(0, 9).filter(i -> ask(store, yearly, "x").allowed()).count())
        .isEqualTo(4);
    await(this::healthy);
  }

  @Test
  void metrics_sayWhatMembersDid_onceTheyDidIt() {
    start("a", "b", "c");
    await(this::healthy);
    assertThat(admitted("x", 30)).isEqualTo(10);
    await(
        () ->
            clusters.values().stream()
                .allMatch(each -> each.metrics().roundTripNanos().size() == 2));
    List<GroupMetrics> all =
        clusters.values().stream().flatMap(each -> each.metrics().groups().stream()).toList();
    assertThat(all).hasSize(6);
    assertThat(all.stream().filter(GroupMetrics::leads)).hasSize(2);
    assertThat(all)
        .allSatisfy(
            each -> {
              assertThat(each.term()).isPositive();
              assertThat(each.elections()).isPositive();
              assertThat(each.logBytes()).isPositive();
              assertThat(count(each.applies())).isPositive();
              assertThat(each.clockLagNanos()).isBetween(-5_000_000_000L, 60_000_000_000L);
              assertThat(each.diverged()).isFalse();
            });
    assertThat(sum(all, each -> count(each.charges()))).isGreaterThanOrEqualTo(10);
    assertThat(sum(all, each -> each.charges().sum())).isGreaterThanOrEqualTo(10);
    assertThat(sum(all, each -> count(each.commits()))).isGreaterThanOrEqualTo(10);
    assertThat(sum(all, GroupMetrics::refusedEarly)).isPositive();
    assertThat(all.get(0).uncertain()).containsOnlyKeys("not_leader", "overloaded", "unknown");
    end("c");
    await(
        () ->
            clusters.values().stream()
                .allMatch(each -> each.metrics().roundTripNanos().size() == 1));
  }

  private static long count(ClusterMetrics.Counts counts) {
    return counts.counts().stream().mapToLong(Long::longValue).sum();
  }

  private static long sum(List<GroupMetrics> all, ToLongFunction<GroupMetrics> value) {
    return all.stream().mapToLong(value).sum();
  }

  private String leaderOfGroup(int group) {
    return clusters.values().iterator().next().status().members().stream()
        .flatMap(each -> each.groups().stream().filter(GroupStatus::leads))
        .filter(each -> each.group() == group)
        .map(GroupStatus::leader)
        .findFirst()
        .orElse("");
  }

  private String problemOfC() {
    return Objects.requireNonNull(clusters.get("a")).status().members().get(2).problem();
  }

  private static boolean run(String... command) throws Exception {
    return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
  }

  /** On a disk of its own: the member stops leading, then takes no part, and comes back. */
  @Test
  void memberWhoseDiskIsFull_doesNotLead_andTheOthersGoOn() throws Exception {
    Path disk = Files.createDirectory(folder.resolve("c"));
    if (!run("mount", "-t", "tmpfs", "-o", "size=160m", "weir-test", disk.toString())) {
      System.getLogger("dev.weir.cluster")
          .log(System.Logger.Level.WARNING, "no disk can be mounted here: a full one is not tried");
      return;
    }
    try {
      start("a", "b", "c");
      await(this::healthy);
      while (!leaderOfGroup(0).equals("c")) {
        clusters.values().forEach(Cluster::handOver);
      }
      assertThat(problemOfC()).isEmpty();
      Path filler = disk.resolve("filler");
      long room = Files.getFileStore(disk).getUsableSpace();
      Files.write(filler, new byte[(int) (room - (60L << 20))]);
      await(() -> problemOfC().equals("its disk is nearly full"));
      await(() -> !leaderOfGroup(0).equals("c") && !leaderOfGroup(0).isEmpty());
      int[] tries = new int[1];
      await(() -> admitted("fresh " + tries[0]++, stores.size()) == stores.size());
      assertThat(admitted("x", 30)).isEqualTo(10);

      byte[] block = new byte[1 << 16];
      for (int length = block.length; length > 0; length /= 2) {
        try (OutputStream out = Files.newOutputStream(filler, StandardOpenOption.APPEND)) {
          while (true) {
            out.write(block, 0, length);
          }
        } catch (IOException full) {
          assertThat(full).hasMessageContaining("No space left");
        }
      }
      Policy much = Policy.of(Quota.of(1_000_000_000, Duration.ofMinutes(10)));
      Binding binding = Objects.requireNonNull(stores.get("a")).bind("much", much, 0);
      while (!problemOfC().startsWith("the log cannot be written")) {
        manyKeys(Objects.requireNonNull(stores.get("a")), binding);
      }
      assertThat(Objects.requireNonNull(clusters.get("a")).status().health())
          .isEqualTo(Health.DEGRADED);
      assertThat(admitted("x", 30)).isZero();
      end("c");

      Files.delete(filler);
      start("c");
      await(this::healthy);
      assertThat(admitted("x", 30)).isZero();
      assertThat(log).noneMatch(line -> line.contains("other counts"));
    } finally {
      stop();
      assertThat(run("umount", disk.toString())).isTrue();
    }
  }

  /** Makes the logs grow by some 100 KB. */
  private static void manyKeys(ClusterStore store, Binding binding) {
    List<CompletableFuture<Charges>> answers = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      CompletableFuture<Charges> answer = new CompletableFuture<>();
      answers.add(answer);
      store.decide(
          new Charges().add(binding, store.fingerprint().of("key" + i), 1),
          Ticker.system().nanos(),
          answer::complete);
    }
    answers.forEach(CompletableFuture::join);
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
