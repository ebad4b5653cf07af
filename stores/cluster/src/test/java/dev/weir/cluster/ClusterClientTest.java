package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Sharing;
import dev.weir.cluster.ClusterSettings.TlsFiles;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.shared.ClusterMember;
import dev.weir.testkit.Ports;
import dev.weir.wire.testkit.Pem;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that is no member, with whole members in one process. */
@Tag("live")
class ClusterClientTest {
  private static final int TEN = 10;

  @TempDir private Path folder;
  private final List<ClusterMember> members = new ArrayList<>();
  private final Map<String, ClusterStore> stores = new HashMap<>();
  private final Map<String, Cluster> clusters = new HashMap<>();
  private final List<ClusterStore> guests = new ArrayList<>();
  private final List<ClusterClient> clients = new ArrayList<>();
  private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
  private final Asker asker = new Asker();
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
              ClusterSettings.builder(self, folder.resolve(name))
                  .members(members)
                  .groups(2)
                  .electionTimeout(Duration.ofMillis(500))
                  .tls(tls(name))
                  .log(log::add)
                  .build());
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
        ClusterClient.builder("outside", List.of(seeds)).tls(tls("outside")).log(log::add).open();
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

  /** Requests 30 permits of a rule of ten from stores in turn, and checks how many are admitted. */
  private void admit(int expected, String key, List<ClusterStore> by) throws Exception {
    asker.admits(expected, by, "strict", policy(Consistency.STRICT), key, 30);
  }

  private int admitted(Consistency consistency, List<ClusterStore> by) throws Exception {
    return asker.admitted(by, consistency.name(), policy(consistency), "x", 30);
  }

  private List<ClusterStore> all() {
    List<ClusterStore> all = new ArrayList<>(guests);
    all.addAll(stores.values());
    return all;
  }

  private void ready() throws Exception {
    Await.until(
        () -> "stores that ask; " + log, () -> all().stream().allMatch(ClusterStore::available));
  }

  @Test
  void limit_isExactThroughMembersAndOthers_whileLeadersAreKilledAndSeedsGo() throws Exception {
    start("a", "b", "c");
    ClusterStore first = guest(members.get(0)); // Any single member is enough.
    guest(new ClusterMember("nobody", "127.0.0.1", 1), members.get(2));
    ready();
    for (String key : List.of("x", "y", "z")) { // In both groups.
      admit(TEN, key, all());
    }
    for (String name : List.of("a", "b", "c")) { // Each member restarts, including the seeds.
      Objects.requireNonNull(stores.remove(name)).close();
      clusters.remove(name);
      Asker.awaitDecision(first, "after " + name); // Once the others have a leader.
      admit(0, "x", guests);
      start(name);
      ready();
    }
    admit(0, "y", all());
    assertThat(log).noneMatch(line -> line.contains("other counts"));
  }

  @Test
  void leased_isExact_andApproximateNearlyThrough_processesThatAreNoMembers() throws Exception {
    start("a", "b", "c");
    guest(members.get(0));
    guest(members.get(1));
    ready();
    assertThat(admitted(Consistency.LEASED, guests)).isBetween(1, TEN);
    int approximate = admitted(Consistency.APPROXIMATE, guests);
    int undecided = asker.undecided(Consistency.APPROXIMATE.name(), "x");
    assertThat(approximate).isBetween(TEN - undecided, 2 * TEN);
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
    admit(TEN, "x", List.of(guest));
    assertThat(clients.get(0).epoch()).isPositive();
    AtomicLong epoch = new AtomicLong();
    Await.until(
        "a change of the map",
        () -> {
          clusters.values().stream()
              .map(ClusterClientTest::changed)
              .filter(Objects::nonNull)
              .findFirst()
              .ifPresent(map -> epoch.set(map.epoch()));
          return epoch.get() > 0;
        });
    Await.until("the next epoch", () -> clients.get(0).epoch() >= epoch.get());
    admit(TEN, "y", List.of(guest));
  }

  @Test
  void certificate_isAskedForOfProcessesThatAreNoMembers() throws Exception {
    Pem.make(folder, "a", "weir", "dns:a");
    Pem.make(folder, "b", "weir", "dns:b");
    Pem.make(folder, "c", "weir", "dns:c");
    Pem.make(folder, "outside", "weir", "dns:outside");
    Pem.make(folder, "stranger", "weir", "dns:outside");
    StringBuilder trusted = new StringBuilder();
    for (String name : List.of("a", "b", "c", "outside")) {
      trusted.append(Files.readString(folder.resolve(name + ".crt")));
    }
    Files.writeString(folder.resolve("trusted.crt"), trusted);
    tls = true;
    start("a", "b", "c");
    ClusterStore guest = guest(members.get(1));
    ready();
    admit(TEN, "x", List.of(guest));

    try (ClusterClient stranger =
        ClusterClient.builder("outside", members.subList(0, 1))
            .tls(tls("stranger"))
            .log(log::add)
            .open()) {
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
      Await.until(
          "a line", () -> log.stream().anyMatch(l -> l.contains("waiting for one of its members")));
      joining.interrupt();
      joining.join();
      assertThat(log).contains("stranger gave up");
    }
  }
}
