package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.ClusterStatus.Health;
import dev.weir.cluster.internal.forming.LevelRaise;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.shared.ClusterMember;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Whole members in this process, in folders of their names, and clients of them. */
public final class LiveMembers implements AutoCloseable {
  /** The members that form the cluster. */
  public static final List<String> NAMES = List.of("a", "b", "c");

  /** A member that may join them. */
  static final String FOURTH = "d";

  /** Of each group. */
  private static final int REPLICAS = 3;

  public final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
  public final Map<String, Cluster> clusters = new ConcurrentHashMap<>();

  /** The stores of members and of clients. */
  public final Map<String, ClusterStore> stores = new ConcurrentHashMap<>();

  /** The address of each member; a test may change it. */
  public final Map<String, ClusterMember> addresses = new ConcurrentHashMap<>();

  private final Path folder;
  private final int groups;
  private final int raiseRounds;

  public LiveMembers(Path folder, int groups) throws IOException {
    this(folder, groups, LevelRaise.ROUNDS);
  }

  /** Creates members that raise the level in force after all have agreed for that many seconds. */
  LiveMembers(Path folder, int groups, int raiseRounds) throws IOException {
    this.folder = folder;
    this.groups = groups;
    this.raiseRounds = raiseRounds;
    for (String name : NAMES) {
      addresses.put(name, new ClusterMember(name, "127.0.0.1", Ports.free()));
    }
    addresses.put(FOURTH, new ClusterMember(FOURTH, "127.0.0.1", Ports.free()));
  }

  public ClusterMember address(String name) {
    return Objects.requireNonNull(addresses.get(name));
  }

  /** Returns the addresses of the members that form the cluster. */
  List<ClusterMember> seeds() {
    return NAMES.stream().map(this::address).toList();
  }

  /** Starts the members that form the cluster, and waits until they are at the highest level. */
  void startAll() throws Exception {
    startAll(0, NAMES);
    Await.until("the highest level", () -> any().status().level() == Levels.HERE.most());
  }

  /**
   * Starts some members, and waits until the cluster is healthy.
   *
   * @param most the highest level at which they take part, or 0
   */
  public void startAll(int most, List<String> names) throws Exception {
    List<CompletableFuture<Void>> starting = new ArrayList<>();
    for (String name : names) {
      CompletableFuture<Void> started = new CompletableFuture<>();
      starting.add(started);
      Runnable task =
          () -> {
            try {
              start(name, name, most);
              started.complete(null);
            } catch (IOException | InterruptedException | RuntimeException e) {
              started.completeExceptionally(e);
            }
          };
      new Thread(task, "start-" + name).start();
    }
    starting.forEach(CompletableFuture::join);
    healthy();
  }

  public void start(String name) throws IOException, InterruptedException {
    start(name, name, 0);
  }

  /**
   * Starts a member.
   *
   * @param files the name of its folder
   * @param most the highest level at which it takes part, or 0
   */
  public void start(String name, String files, int most) throws IOException, InterruptedException {
    ClusterMember self = address(name);
    Cluster cluster =
        Cluster.open(
            ClusterSettings.builder(self, folder.resolve(files))
                .members(seeds())
                .groups(groups)
                .replicas(REPLICAS)
                .electionTimeout(Duration.ofMillis(500))
                .levelMost(most)
                .log(line -> log.add(name + ": " + line))
                .build(),
            raiseRounds);
    try {
      cluster.form();
    } catch (IOException | InterruptedException e) {
      cluster.close();
      throw e;
    }
    clusters.put(name, cluster);
    stores.put(name, cluster.store(UsualSettings.store()));
  }

  /** Opens a store of a client. */
  void guest(String name) throws Exception {
    ClusterClient client =
        ClusterClient.builder(name, seeds()).log(line -> log.add(name + ": " + line)).open();
    client.join();
    stores.put(name, client.store(UsualSettings.store()));
  }

  /** Waits until every store reaches every group. */
  void ready() throws Exception {
    Await.until(
        () -> "stores that ask; " + log,
        () -> stores.values().stream().allMatch(ClusterStore::available));
  }

  public void end(String name) {
    clusters.remove(name);
    Objects.requireNonNull(stores.remove(name)).close();
  }

  /** Returns a member that runs. */
  public Cluster any() {
    return clusters.values().iterator().next();
  }

  public void healthy() throws Exception {
    Await.until(() -> "a healthy cluster; " + log, () -> any().status().health() == Health.HEALTHY);
  }

  /** Returns the leader of a group, once there is one. */
  public String leader(int group) throws Exception {
    String[] found = new String[1];
    Await.until(
        "a leader of group " + group,
        () -> {
          found[0] =
              all(group).stream()
                  .filter(GroupStatus::leads)
                  .map(GroupStatus::leader)
                  .findFirst()
                  .orElse("");
          return clusters.containsKey(found[0]);
        });
    return found[0];
  }

  /** Returns the replicas of a group. */
  private List<GroupStatus> all(int group) {
    return any().status().members().stream()
        .flatMap(each -> each.groups().stream())
        .filter(each -> each.group() == group)
        .toList();
  }

  /** Adds groups, once group 0 has a leader, and waits until the change is known. */
  void raise(int groups) throws Exception {
    Await.until(
        groups + " groups; " + log,
        () -> {
          try {
            any().raiseGroups(groups);
          } catch (IOException e) {
            log.add(String.valueOf(e.getMessage()));
            return false;
          }
          return true;
        });
    Await.until("the map", () -> any().slots().slots().size() == groups);
  }

  /** Waits until every slot is in its place, and all replicas have the same sums. */
  void settled() throws Exception {
    Await.until(
        () -> "all slots in their groups; " + log,
        () -> {
          SlotsStatus now = any().slots();
          return now.toMove() == 0 && now.moves().isEmpty();
        });
    healthy();
    sameEverywhere(any().slots().slots().size());
  }

  /** Waits until that many groups have all their replicas, with the same sums. */
  public void sameEverywhere(int groups) throws Exception {
    for (int i = 0; i < groups; i++) {
      int group = i;
      Await.until(
          "the same sums of group " + group,
          () -> {
            List<GroupStatus> replicas = all(group);
            return replicas.size() == REPLICAS
                && replicas.stream().noneMatch(GroupStatus::diverged)
                && replicas.stream().map(GroupStatus::tick).distinct().count() == 1
                && replicas.stream().map(GroupStatus::sum).distinct().count() == 1;
          });
    }
    assertThat(log).noneMatch(line -> line.contains("other counts"));
  }

  @Override
  public void close() {
    stores.values().forEach(ClusterStore::close);
  }
}
