package dev.weir.cluster;

import dev.weir.Policy;
import dev.weir.Ticker;
import dev.weir.cluster.ClusterStatus.Health;
import dev.weir.shared.Clocks;
import dev.weir.shared.ClusterMember;
import dev.weir.shared.Counters;
import dev.weir.shared.StoreSettings;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** Whole members in this process, over the loopback interface, with a folder each. */
public final class Servers implements AutoCloseable {
  private final Path folder;
  private final int groups;
  private final Map<String, ClusterMember> addresses = new TreeMap<>();
  private final Map<String, Cluster> clusters = new ConcurrentHashMap<>();
  final Map<String, ClusterStore> stores = new ConcurrentSkipListMap<>();
  final AtomicLong wallAheadNanos = new AtomicLong();
  final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
  private final Asker asker = new Asker();

  /**
   * Creates the addresses of servers.
   *
   * @param names of the servers that have an address from the start on
   */
  public Servers(Path folder, int groups, String... names) throws IOException {
    this.folder = folder;
    this.groups = groups;
    for (String name : names) {
      addresses.put(name, new ClusterMember(name, "127.0.0.1", Ports.free()));
    }
  }

  ClusterMember address(String name) {
    return Objects.requireNonNull(addresses.get(name));
  }

  Path folder(String name) {
    return folder.resolve(name);
  }

  public Cluster cluster(String name) {
    return Objects.requireNonNull(clusters.get(name));
  }

  ClusterStore store(String name) {
    return Objects.requireNonNull(stores.get(name));
  }

  /** Starts members with a list of exactly these, and waits until each of them decides. */
  public void start(String... names) throws Exception {
    Stream.of(names)
        .map(name -> CompletableFuture.runAsync(() -> open(name, names), Servers::thread))
        .toList()
        .forEach(CompletableFuture::join);
    deciding();
  }

  /** Waits until each server decides the keys of each group. */
  void deciding() throws Exception {
    for (ClusterStore store : stores.values()) {
      for (int i = 0; i < 8 * groups; i++) {
        Asker.awaitDecision(store, "deciding-" + i);
      }
    }
  }

  private static void thread(Runnable task) {
    new Thread(task, "start").start();
  }

  /** Starts a member with a list of these; waits until the cluster is formed. */
  void open(String name, String... list) {
    try {
      Cluster cluster = Cluster.open(settings(name, list));
      try {
        cluster.form();
      } catch (IOException | InterruptedException e) {
        cluster.close();
        throw e;
      }
      clusters.put(name, cluster);
      stores.put(name, cluster.store(storeSettings()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private ClusterSettings settings(String name, String... list) {
    return ClusterSettings.builder(address(name), folder(name))
        .members(Stream.of(list).map(this::address).toList())
        .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), address(name).port()))
        .groups(groups)
        .electionTimeout(Duration.ofMillis(600))
        .clocks(new Clocks(Ticker.system(), () -> Ticker.wall().nanos() + wallAheadNanos.get()))
        .log(line -> log.add(name + ": " + line))
        .build();
  }

  private static StoreSettings storeSettings() {
    return new StoreSettings(
        "cluster",
        5_000_000_000L,
        new Clocks(Ticker.system(), Ticker.wall()),
        false,
        line -> {},
        line -> {},
        new Counters());
  }

  void end(String... names) {
    for (String name : names) {
      clusters.remove(name);
      Objects.requireNonNull(stores.remove(name)).close();
    }
  }

  void healthy() throws Exception {
    Cluster any = clusters.values().iterator().next();
    Await.until(() -> "a healthy cluster; " + log, () -> any.status().health() == Health.HEALTHY);
  }

  /** Makes requests to one server, and checks how many are admitted. */
  public void admits(
      int expected, String name, String rule, Policy policy, String key, int requests)
      throws Exception {
    asker.admits(expected, store(name), rule, policy, key, requests);
  }

  Asker asker() {
    return asker;
  }

  @Override
  public void close() {
    stores.values().forEach(ClusterStore::close);
  }
}
