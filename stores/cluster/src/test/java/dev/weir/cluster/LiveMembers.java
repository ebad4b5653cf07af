package dev.weir.cluster;

import dev.weir.Ticker;
import dev.weir.cluster.ClusterSettings.ClusterMember;
import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.ClusterStatus.Health;
import dev.weir.shared.Clocks;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Whole members in this process, and processes that only ask them. */
final class LiveMembers implements AutoCloseable {
  static final List<String> NAMES = List.of("a", "b", "c");

  final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
  final Map<String, Cluster> clusters = new ConcurrentHashMap<>();

  /** Also those of processes that are no members. */
  final Map<String, ClusterStore> stores = new ConcurrentHashMap<>();

  private final List<ClusterMember> members = new ArrayList<>();
  private final Path folder;
  private final int groups;

  LiveMembers(Path folder, int groups) throws IOException {
    this.folder = folder;
    this.groups = groups;
    for (String name : NAMES) {
      members.add(new ClusterMember(name, "127.0.0.1", Ports.free()));
    }
  }

  void startAll() throws Exception {
    List<CompletableFuture<Void>> starting = new ArrayList<>();
    for (String name : NAMES) {
      starting.add(
          CompletableFuture.runAsync(() -> start(name), task -> new Thread(task, name).start()));
    }
    starting.forEach(CompletableFuture::join);
    healthy();
    Await.until("the highest level", () -> any().status().level() == Levels.HERE.most());
  }

  void start(String name) {
    ClusterMember self = members.get(NAMES.indexOf(name));
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
                  groups,
                  3,
                  Duration.ofMillis(500),
                  1_000_000,
                  1L << 30,
                  0,
                  null,
                  new Clocks(Ticker.system(), Ticker.wall()),
                  Duration.ofSeconds(1),
                  line -> log.add(name + ": " + line)));
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

  /** Opens a store that is no member's. */
  void guest(String name) throws Exception {
    ClusterClient client =
        ClusterClient.open(
            name,
            members,
            Resolver.system(),
            null,
            Ticker.system(),
            line -> log.add(name + ": " + line));
    client.join();
    stores.put(name, client.store(UsualSettings.store()));
  }

  /** Waits until every store asks every group. */
  void ready() throws Exception {
    Await.until(
        () -> "stores that ask; " + log,
        () -> stores.values().stream().allMatch(ClusterStore::available));
  }

  void end(String name) {
    clusters.remove(name);
    Objects.requireNonNull(stores.remove(name)).close();
  }

  /** Returns a member that runs. */
  Cluster any() {
    return clusters.values().iterator().next();
  }

  void healthy() throws Exception {
    Await.until(() -> "a healthy cluster; " + log, () -> any().status().health() == Health.HEALTHY);
  }

  /** Returns who leads a group, once somebody does. */
  String leader(int group) throws Exception {
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

  private List<GroupStatus> all(int group) {
    return any().status().members().stream()
        .flatMap(each -> each.groups().stream())
        .filter(each -> each.group() == group)
        .toList();
  }

  /** Has more groups, once group 0 has a leader that says so, and waits until this is known. */
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

  /** Waits until every slot is where it should be, and all replicas have come to the same. */
  void settled() throws Exception {
    Await.until(
        () -> "all slots in their groups; " + log,
        () -> {
          SlotsStatus now = any().slots();
          return now.toMove() == 0 && now.moves().isEmpty();
        });
    healthy();
    for (int i = 0; i < any().slots().slots().size(); i++) {
      int group = i;
      Await.until(
          "the same sums of group " + group,
          () -> {
            List<GroupStatus> replicas = all(group);
            return replicas.size() == clusters.size()
                && replicas.stream().noneMatch(GroupStatus::diverged)
                && replicas.stream().map(GroupStatus::tick).distinct().count() == 1
                && replicas.stream().map(GroupStatus::sum).distinct().count() == 1;
          });
    }
  }

  @Override
  public void close() {
    stores.values().forEach(ClusterStore::close);
  }
}
