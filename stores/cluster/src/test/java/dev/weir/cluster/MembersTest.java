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
import dev.weir.cluster.ClusterStatus.MemberStatus;
import dev.weir.shared.Clocks;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members that come, go and are replaced while requests go on. */
class MembersTest {
  private static final int LIMIT = 200;
  private static final int KEYS = 8;

  /** Longer than any test, so that what is admitted of a key can be counted. */
  private static final Policy POLICY =
      Policy.builder(Quota.of(LIMIT, Duration.ofHours(1)))
          .algorithm(Algorithm.SLIDING_WINDOW_LOG)
          .build();

  @TempDir private Path folder;
  private final Map<String, ClusterMember> addresses = new ConcurrentHashMap<>();
  private final Map<String, Cluster> clusters = new ConcurrentHashMap<>();
  private final Map<String, ClusterStore> stores = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
  private Load load = new Load();

  @BeforeEach
  void choosePorts() throws IOException {
    for (String name : List.of("a", "b", "c", "d")) {
      addresses.put(name, new ClusterMember(name, "127.0.0.1", Ports.free()));
    }
  }

  @AfterEach
  void stop() {
    load.stop();
    stores.values().forEach(ClusterStore::close);
  }

  private ClusterSettings settings(String name, String files, String... seeds) {
    List<ClusterMember> members = new ArrayList<>();
    for (String each : new TreeSet<>(List.of(seeds))) {
      members.add(Objects.requireNonNull(addresses.get(each)));
    }
    ClusterMember self = Objects.requireNonNull(addresses.get(name));
    if (!members.contains(self)) {
      members.add(self);
    }
    return new ClusterSettings(
        name,
        members,
        0,
        Resolver.system(),
        new InetSocketAddress(self.host(), self.port()),
        folder.resolve(files),
        "",
        2,
        3,
        Duration.ofMillis(400),
        1_000_000,
        1L << 30,
        0,
        null,
        new Clocks(Ticker.system(), Ticker.wall()),
        Duration.ofSeconds(1),
        line -> log.add(name + ": " + line));
  }

  private void start(String name, String files) {
    try {
      Cluster cluster = Cluster.open(settings(name, files, "a", "b", "c"));
      try {
        cluster.form();
      } catch (IOException | InterruptedException e) {
        cluster.close();
        throw e;
      }
      clusters.put(name, cluster);
      stores.put(name, cluster.store(UsualSettings.store()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void startAll(String... names) throws Exception {
    List<CompletableFuture<Void>> starting = new ArrayList<>();
    for (String name : names) {
      starting.add(
          CompletableFuture.runAsync(
              () -> start(name, name), task -> new Thread(task, "start-" + name).start()));
    }
    starting.forEach(CompletableFuture::join);
    healthy();
  }

  private void end(String name) {
    clusters.remove(name);
    Objects.requireNonNull(stores.remove(name)).close();
  }

  private void wipe(String name) throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve(name))) {
      for (Path each : files.sorted((one, other) -> other.compareTo(one)).toList()) {
        Files.delete(each);
      }
    }
  }

  private ClusterStatus status() {
    return clusters.values().iterator().next().status();
  }

  private void healthy() throws Exception {
    Await.until(() -> "a healthy cluster; " + log, () -> status().health() == Health.HEALTHY);
  }

  /** Waits until every member knows that there are these. */
  private void members(String... names) throws Exception {
    Await.until(
        "members " + List.of(names),
        () ->
            clusters.values().stream()
                .allMatch(
                    each ->
                        each.status().members().stream()
                            .map(MemberStatus::name)
                            .toList()
                            .equals(List.of(names))));
  }

  /** Waits until these members, and no others, have all groups, and each of them is up. */
  private void voters(String... names) throws Exception {
    TreeSet<String> wanted = new TreeSet<>(List.of(names));
    Await.until(
        "groups of " + wanted,
        () -> {
          ClusterStatus now = status();
          return now.health() == Health.HEALTHY
              && leaders(now).size() == 2
              && leaders(now).stream()
                  .allMatch(each -> new TreeSet<>(each.voterNames()).equals(wanted));
        });
  }

  private static List<GroupStatus> leaders(ClusterStatus now) {
    return now.members().stream()
        .flatMap(each -> each.groups().stream())
        .filter(GroupStatus::leads)
        .toList();
  }

  /** Every replica that is up has come to the same. */
  private void sameEverywhere() throws Exception {
    Await.until(
        "the same sums everywhere",
        () -> {
          for (int group = 0; group < 2; group++) {
            int number = group;
            List<GroupStatus> all =
                status().members().stream()
                    .flatMap(each -> each.groups().stream())
                    .filter(each -> each.group() == number)
                    .toList();
            assertThat(all).noneMatch(GroupStatus::diverged);
            if (all.stream().map(GroupStatus::tick).distinct().count() != 1
                || all.stream().map(GroupStatus::sum).distinct().count() != 1) {
              return false;
            }
          }
          return true;
        });
    assertThat(log).noneMatch(line -> line.contains("other counts"));
  }

  /** Asks for keys by every server, again and again, and counts what is admitted of each. */
  private final class Load {
    private final Map<String, AtomicInteger> admitted = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> reasons = new ConcurrentHashMap<>();
    private final AtomicInteger answered = new AtomicInteger();
    private volatile boolean running = true;
    private @Nullable Thread thread;

    Load start() {
      thread = new Thread(this::run, "load");
      thread.start();
      return this;
    }

    private void run() {
      for (int i = 0; running; i++) {
        List<ClusterStore> all = List.copyOf(stores.values());
        if (all.isEmpty()) {
          continue;
        }
        String key = "key-" + i % KEYS;
        if (ask(all.get(i / KEYS % all.size()), key)) {
          admitted.computeIfAbsent(key, each -> new AtomicInteger()).incrementAndGet();
        }
      }
    }

    private boolean ask(ClusterStore store, String key) {
      Binding binding = store.bind("rule", POLICY, 0);
      Charges asked = new Charges().add(binding, store.fingerprint().of(key), 1);
      CompletableFuture<Charges> answer = new CompletableFuture<>();
      try {
        store.decide(asked, Ticker.system().nanos(), answer::complete);
        Charges decided = answer.join();
        answered.incrementAndGet();
        String reason = key + " " + decided.reason(0);
        reasons.computeIfAbsent(reason, each -> new AtomicInteger()).incrementAndGet();
        return decided.allowed();
      } catch (IllegalStateException closed) {
        return false;
      }
    }

    void stop() {
      running = false;
      Thread mine = thread;
      if (mine != null) {
        try {
          mine.join();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
    }

    /** Every key has had its limit, and not one more. */
    void check() throws Exception {
      Await.until(
          () -> "requests, and each key admitted; " + reasons,
          () -> answered.get() > 4_000 && admitted.size() == KEYS);
      stop();
      for (int i = 0; i < KEYS; i++) {
        String key = "key-" + i;
        int count = admitted.getOrDefault(key, new AtomicInteger()).get();
        assertThat(count).as(key).isBetween(1, LIMIT);
        for (ClusterStore store : stores.values()) {
          int more = 0;
          while (more < LIMIT && ask(store, key)) {
            more++;
          }
          count += more;
        }
        assertThat(count).as(key).isLessThanOrEqualTo(LIMIT);
      }
    }
  }

  @Test
  void fourthMember_joins_andTakesPart() throws Exception {
    startAll("a", "b", "c");
    load = new Load().start();
    start("d", "d");
    members("a", "b", "c", "d");
    healthy();
    assertThat(status().replicas()).allSatisfy(each -> assertThat(each).hasSize(3));
    sameEverywhere();
    load.check();
  }

  @Test
  void memberWhoseFolderIsLost_isReplaced_andItsOldIdNeverComesBack() throws Exception {
    startAll("a", "b", "c");
    load = new Load().start();
    String before = incarnation("c");
    end("c");
    wipe("c");
    start("c", "c");
    voters("a", "b", "c");
    assertThat(incarnation("c")).isNotEqualTo(before);
    assertThat(leaders(status()))
        .allSatisfy(each -> assertThat(each.voters()).doesNotContain("c@" + before));
    assertThat(log).anyMatch(line -> line.contains("c has a new folder"));
    sameEverywhere();
    end("a"); // The new one counts: it and b are a majority.
    Await.until(
        "b and c to decide", () -> stores.values().stream().allMatch(ClusterStore::available));
    load.check();
  }

  /** It was no voter when it started, and is one when the leader is gone. */
  @Test
  void memberThatIsRestartedWhileItListens_isElectedOrElectsLater() throws Exception {
    startAll("a", "b", "c");
    end("c");
    wipe("c");
    start("c", "c");
    Await.until(
        "c to listen",
        () -> leaders(status()).stream().anyMatch(each -> each.listenerNames().contains("c")));
    end("c");
    start("c", "c");
    voters("a", "b", "c");
    for (String each : List.of("a", "b")) {
      end(each);
      Await.until("two leaders without " + each, () -> leaders(status()).size() == 2);
      start(each, each);
      healthy();
    }
  }

  private String incarnation(String name) {
    return status().members().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow()
        .incarnation();
  }

  @Test
  void memberThatIsDown_isRemoved_andTheOthersGoOn() throws Exception {
    startAll("a", "b", "c");
    start("d", "d");
    members("a", "b", "c", "d");
    healthy();
    load = new Load().start();
    end("c");
    Cluster a = Objects.requireNonNull(clusters.get("a"));
    Await.until("c to be down", () -> a.status().health() == Health.DEGRADED);
    assertThatThrownBy(() -> a.remove("b", false)).hasMessageContaining("b is up");
    assertThatThrownBy(() -> a.remove("x", false)).hasMessageContaining("is no member");
    a.remove("c", false);
    voters("a", "b", "d");
    sameEverywhere();
    load.check();
    for (String each : List.of("a", "b", "d")) {
      end(each);
    }
    startAll("a", "b", "d"); // Also the one that was not there when it was formed.
    voters("a", "b", "d");
  }

  @Test
  void secondMemberOfAName_isRefused_whileTheFirstRuns() throws Exception {
    startAll("a", "b", "c");
    ClusterMember first = Objects.requireNonNull(addresses.get("c"));
    int port = Objects.requireNonNull(addresses.get("d")).port();
    addresses.put("c", new ClusterMember("c", first.host(), port));
    for (String leader : List.of("a", "c")) { // Another one asks a leader of its own name as well.
      Await.until(leader + " leads", () -> leads0(leader));
      assertThatThrownBy(() -> start("c", "another"))
          .hasMessageContaining("another member of the name c runs at");
    }
    addresses.put("c", first);
    assertThat(log).anyMatch(line -> line.contains("was refused"));
    healthy();
  }

  private boolean leads0(String name) {
    try {
      Objects.requireNonNull(clusters.get("b")).transfer(0, name);
    } catch (IOException e) {
      return false; // None leads right now, or it was not taken over in time.
    }
    return true;
  }

  @Test
  void joinGoesOn_whenWhoLedGroup0IsGone() throws Exception {
    startAll("a", "b", "c");
    load = new Load().start();
    String leader =
        leaders(status()).stream()
            .filter(each -> each.group() == 0)
            .findFirst()
            .orElseThrow()
            .leader();
    start("d", "d"); // It is in the map, and has not caught up with anything.
    end(leader);
    Await.until("another leader", () -> leaders(status()).size() == 2);
    start(leader, leader);
    members("a", "b", "c", "d");
    healthy();
    sameEverywhere();
    load.check();
  }

  @Test
  void rollingRestart_duringAJoin_losesNothing() throws Exception {
    startAll("a", "b", "c");
    load = new Load().start();
    start("d", "d");
    for (String each : List.of("a", "b", "c", "d")) {
      end(each);
      start(each, each);
      healthy();
    }
    sameEverywhere();
    load.check();
  }
}
