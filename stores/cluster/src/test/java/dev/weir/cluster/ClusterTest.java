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
import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.ClusterStatus.Health;
import dev.weir.shared.Clocks;
import dev.weir.shared.ClusterMember;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Ports;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
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
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole members in one process, over the loopback interface and with real files. */
@Tag("live")
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
  private final Asker asker = new Asker();

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
    return ClusterSettings.builder(self, folder.resolve(name))
        .members(all)
        .zone("zone-" + name)
        .groups(2)
        .electionTimeout(Duration.ofMillis(500))
        .clocks(new Clocks(Ticker.system(), () -> Ticker.wall().nanos() + wallAheadNanos.get()))
        .log(log::add)
        .build();
  }

  private void start(String... names) throws Exception {
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

  private void await(Callable<Boolean> condition) throws Exception {
    Await.until(() -> "what was waited for; " + log, condition);
  }

  private ClusterStore store(String name) {
    return Objects.requireNonNull(stores.get(name));
  }

  /** Requests 30 permits from all stores in turn, and checks how many are admitted. */
  private void admit(int expected, String key) throws Exception {
    asker.admits(expected, stores.values(), "rule", TEN, key, 30);
  }

  private boolean healthy() {
    return clusters.values().iterator().next().status().health() == Health.HEALTHY;
  }

  @Tag("once")
  @Test
  void limit_holdsOverAllServers_whileOneEndsAndComesBack() throws Exception {
    start("a", "b", "c");
    await(this::healthy);
    for (String key : List.of("x", "y", "z")) { // In both groups.
      admit(10, key);
    }
    await(() -> clusters.containsKey(leaderOfGroup(0)));
    String leader = leaderOfGroup(0);
    end(leader);
    await(() -> stores.values().stream().allMatch(ClusterStore::available));
    admit(0, "x");
    admit(10, "fresh");

    start(leader);
    await(this::healthy);
    admit(0, "y");

    for (String name : List.of("a", "b", "c")) { // The whole cluster restarts, too.
      end(name);
    }
    start("a", "b", "c");
    admit(0, "z");
    assertThat(log).noneMatch(line -> line.contains("other counts"));
  }

  @Test
  void windows_holdTheLimitByRealTime_whileLeadersChange() throws Exception {
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
                  if (Asker.request(store, "rule", policy, "hot").allowed()) {
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
  void calendar_followsTheWallClock_andByHandWhereThatIsFarAhead() throws Exception {
    start("a", "b", "c");
    await(this::healthy);
    wallAheadNanos.set(800_000_000L);
    await(() -> replicas().stream().allMatch(each -> each.offsetNanos() >= 500_000_000L));
    assertThat(replicas()).noneMatch(GroupStatus::clockFault);

    Policy yearly =
        Policy.builder(Quota.of(5, Duration.ofDays(365))).algorithm(Algorithm.FIXED_WINDOW).build();
    asker.admits(5, store("a"), "rule", yearly, "x", 9);

    long year = Duration.ofDays(365).toNanos();
    wallAheadNanos.set(year);
    await(() -> replicas().stream().filter(GroupStatus::clockFault).count() == 2);
    assertThat(replicas()).allMatch(each -> each.offsetNanos() < 3_600_000_000_000L);
    asker.admits(0, store("a"), "rule", yearly, "x", 1);
    assertThat(log).anyMatch(each -> each.contains("does not follow it"));

    await(() -> setCalendar("b"));
    await(() -> replicas().stream().allMatch(each -> each.offsetNanos() > year / 2));
    await(() -> replicas().stream().noneMatch(GroupStatus::clockFault));
    await(() -> asker.admitted(List.of(store("a")), "rule", yearly, "x", 1) == 1);
    asker.admits(4, store("a"), "rule", yearly, "x", 9);
    await(this::healthy);
  }

  /** Sets the calendars; returns false while a group has no leader. */
  private boolean setCalendar(String member) {
    try {
      Objects.requireNonNull(clusters.get(member)).setCalendar();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void metrics_sayWhatMembersDid_onceTheyDidIt() throws Exception {
    start("a", "b", "c");
    await(this::healthy);
    admit(10, "x");
    await(
        () ->
            clusters.values().stream()
                .allMatch(each -> each.metrics().roundTripNanos().size() == 2));
    List<GroupMetrics> all = new ArrayList<>();
    await(
        () -> {
          all.clear();
          clusters.values().forEach(each -> all.addAll(each.metrics().groups()));
          return all.stream().filter(GroupMetrics::leads).count() == 2;
        });
    assertThat(all).hasSize(6);
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
    assertThat(all.get(0).undecided()).containsOnlyKeys("not_leader", "overloaded", "unknown");
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

  private static boolean run(String... command) {
    try {
      ChildProcess.of(command).run();
      return true;
    } catch (IOException refused) {
      return false;
    }
  }

  /** On a disk of its own, the member stops leading, then takes no part, and comes back. */
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
      asker.admits(stores.size(), stores.values(), "rule", TEN, "fresh", stores.size());
      admit(10, "x");

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
      Binding binding = store("a").bind("much", much, 0);
      while (!problemOfC().startsWith("the log cannot be written")) {
        manyKeys(store("a"), binding);
      }
      // The groups have just been asked for as much as they can write: one may be late for a
      // moment.
      await(() -> Objects.requireNonNull(clusters.get("a")).status().health() == Health.DEGRADED);
      admit(0, "x");
      end("c");

      Files.delete(filler);
      start("c");
      await(this::healthy);
      admit(0, "x");
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

  @Tag("once")
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

  @Tag("once")
  @Test
  void folder_isOneMembersAlone() throws Exception {
    try (Cluster a = Cluster.open(settings("a", members))) {
      assertThatThrownBy(() -> Cluster.open(settings("a", members)))
          .hasMessageContaining("in use by another member");
      assertThat(a.status().cluster()).isEmpty();
    }
  }
}
