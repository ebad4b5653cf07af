package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Sharing;
import dev.weir.Ticker;
import dev.weir.cluster.ClusterSettings.ClusterMember;
import dev.weir.cluster.ClusterSettings.TlsFiles;
import dev.weir.shared.Clocks;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that is no member, beside whole members in one process. */
class ClusterClientTest {
  private static final int TEN = 10;

  @TempDir private Path folder;
  private final List<ClusterMember> members = new ArrayList<>();
  private final Map<String, ClusterStore> stores = new HashMap<>();
  private final Map<String, Cluster> clusters = new HashMap<>();
  private final List<ClusterStore> guests = new ArrayList<>();
  private final List<ClusterClient> clients = new ArrayList<>();
  private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
  private boolean tls;

  @BeforeEach
  void choosePorts() throws IOException {
    for (String name : List.of("a", "b", "c")) {
      members.add(new ClusterMember(name, "127.0.0.1", Ports.free()));
    }
  }

  @AfterEach
  void stop() {
    guests.forEach(ClusterStore::close);
    stores.values().forEach(ClusterStore::close);
  }

  private @Nullable TlsFiles tls(String name) {
    return tls
        ? new TlsFiles(
            folder.resolve(name + ".crt"),
            folder.resolve(name + ".key"),
            folder.resolve("trusted.crt"))
        : null;
  }

  private void start(String... names) {
    List<CompletableFuture<Void>> starting = new ArrayList<>();
    for (String name : names) {
      starting.add(
          CompletableFuture.runAsync(() -> startOne(name), task -> new Thread(task).start()));
    }
    starting.forEach(CompletableFuture::join);
  }

  private void startOne(String name) {
    ClusterMember self =
        members.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
    try {
      Cluster cluster =
          Cluster.open(
              new ClusterSettings(
                  name,
                  members,
                  0,
                  Resolver.system(),
                  new InetSocketAddress(self.host(), self.port()),
                  folder.resolve(name),
                  "",
                  2,
                  3,
                  Duration.ofMillis(500),
                  1_000_000,
                  1L << 30,
                  0,
                  tls(name),
                  new Clocks(Ticker.system(), Ticker.wall()),
                  Duration.ofSeconds(1),
                  log::add));
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

  private ClusterStore guest(ClusterMember... seeds) throws Exception {
    ClusterClient client =
        ClusterClient.open(
            "outside",
            List.of(seeds),
            Resolver.system(),
            tls("outside"),
            Ticker.system(),
            log::add);
    assertThatIllegalStateException().isThrownBy(() -> client.store(UsualSettings.store()));
    client.join();
    clients.add(client);
    ClusterStore store = client.store(UsualSettings.store());
    guests.add(store);
    return store;
  }

  private static Policy policy(Consistency consistency) {
    return Policy.builder(Quota.of(TEN, Duration.ofMinutes(10)))
        .algorithm(Algorithm.SLIDING_WINDOW_LOG)
        .sharing(Sharing.STRICT.consistency(consistency))
        .build();
  }

  private static boolean ask(ClusterStore store, Policy policy, String key) {
    Binding binding = store.bind(policy.sharing().consistency().name(), policy, 0);
    Charges asked = new Charges().add(binding, store.fingerprint().of(key), 1);
    CompletableFuture<Charges> answer = new CompletableFuture<>();
    store.decide(asked, Ticker.system().nanos(), answer::complete);
    return answer.join().allowed();
  }

  private int admitted(Policy policy, String key, List<ClusterStore> by) {
    int admitted = 0;
    for (int i = 0; i < 30; i++) {
      admitted += ask(by.get(i % by.size()), policy, key) ? 1 : 0;
    }
    return admitted;
  }

  private List<ClusterStore> all() {
    List<ClusterStore> all = new ArrayList<>(guests);
    all.addAll(stores.values());
    return all;
  }

  private void ready() {
    while (!all().stream().allMatch(ClusterStore::available)) {
      Thread.onSpinWait();
    }
  }

  @Test
  void limit_isExactThroughMembersAndOthers_whileLeadersAreKilledAndSeedsGo() throws Exception {
    start("a", "b", "c");
    ClusterStore first = guest(members.get(0)); // Any one member will do.
    guest(new ClusterMember("nobody", "127.0.0.1", 1), members.get(2));
    ready();
    for (String key : List.of("x", "y", "z")) { // In both groups.
      assertThat(admitted(policy(Consistency.STRICT), key, all())).as(key).isEqualTo(TEN);
    }
    for (String name : List.of("a", "b", "c")) { // Each restarts, the seeds among them.
      Objects.requireNonNull(stores.remove(name)).close();
      clusters.remove(name);
      while (!ask(first, policy(Consistency.STRICT), "after " + name)) {
        Thread.onSpinWait(); // Until the others have a leader.
      }
      assertThat(admitted(policy(Consistency.STRICT), "x", guests)).isZero();
      start(name);
      ready();
    }
    assertThat(admitted(policy(Consistency.STRICT), "y", all())).isZero();
    assertThat(log).noneMatch(line -> line.contains("other counts"));
  }

  @Test
  void leased_isExact_andApproximateNearlyThrough_processesThatAreNoMembers() throws Exception {
    start("a", "b", "c");
    guest(members.get(0));
    guest(members.get(1));
    ready();
    assertThat(admitted(policy(Consistency.LEASED), "x", guests)).isBetween(1, TEN);
    assertThat(admitted(policy(Consistency.APPROXIMATE), "x", guests)).isBetween(TEN, 2 * TEN);
  }

  /** Returns a map of the next epoch, if the member leads group 0; null if not. */
  private static @Nullable ClusterMap changed(Cluster by) {
    return by.changeMap(map -> map.with(map.members(), map.replicas()))
        .toCompletableFuture()
        .exceptionally(error -> null)
        .join();
  }

  @Test
  void map_isFollowed_whereItChanges() throws Exception {
    start("a", "b", "c");
    ClusterStore guest = guest(members.get(0));
    ready();
    assertThat(ask(guest, policy(Consistency.STRICT), "x")).isTrue();
    assertThat(clients.get(0).epoch()).isPositive();
    ClusterMap changed = null;
    while (changed == null) {
      changed =
          clusters.values().stream()
              .map(ClusterClientTest::changed)
              .filter(Objects::nonNull)
              .findFirst()
              .orElse(null);
    }
    while (clients.get(0).epoch() < changed.epoch()) {
      Thread.onSpinWait();
    }
    assertThat(ask(guest, policy(Consistency.STRICT), "x")).isTrue();
  }

  @Test
  void certificate_isAskedForOfProcessesThatAreNoMembers() throws Exception {
    PeerCertificates.create(
        folder, Map.of("a", "a", "b", "b", "c", "c", "outside", "outside", "stranger", "outside"));
    StringBuilder trusted = new StringBuilder();
    for (String name : List.of("a", "b", "c", "outside")) {
      trusted.append(Files.readString(folder.resolve(name + ".crt")));
    }
    Files.writeString(folder.resolve("trusted.crt"), trusted);
    tls = true;
    start("a", "b", "c");
    ClusterStore guest = guest(members.get(1));
    ready();
    assertThat(admitted(policy(Consistency.STRICT), "x", List.of(guest))).isEqualTo(TEN);

    try (ClusterClient stranger =
        ClusterClient.open(
            "outside",
            members.subList(0, 1),
            Resolver.system(),
            tls("stranger"),
            Ticker.system(),
            log::add)) {
      Thread joining =
          new Thread(
              () -> {
                try {
                  stranger.join();
                } catch (InterruptedException e) {
                  log.add("stranger gave up");
                }
              });
      joining.start();
      while (log.stream().noneMatch(line -> line.contains("waiting for one of its members"))) {
        Thread.onSpinWait();
      }
      joining.interrupt();
      joining.join();
      assertThat(log).contains("stranger gave up");
    }
  }
}
