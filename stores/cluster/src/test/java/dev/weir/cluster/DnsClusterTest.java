package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.cluster.ClusterStatus.Health;
import dev.weir.shared.ClusterMember;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members that find each other behind a name of the DNS: at 127.0.0.2 and so on, with one port. */
@Tag("live")
class DnsClusterTest {
  private static final String NAME = "members.test";
  private static final Policy FIVE =
      Policy.builder(Quota.of(5, Duration.ofHours(1)))
          .algorithm(Algorithm.SLIDING_WINDOW_LOG)
          .build();

  @TempDir private Path folder;
  private final Map<String, Cluster> clusters = new ConcurrentHashMap<>();
  private final Map<String, ClusterStore> stores = new ConcurrentHashMap<>();
  private final Map<String, Thread> starting = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();

  private final Asker asker = new Asker();

  /** The answers of the DNS for each member, and for all others under the empty name. */
  private final Map<String, List<Integer>> dns = new ConcurrentHashMap<>();

  private int port;

  @BeforeEach
  void choosePort() throws IOException {
    port = Ports.free();
  }

  @AfterEach
  void stop() throws InterruptedException {
    for (Thread each : starting.values()) {
      each.interrupt();
      each.join();
    }
    stores.values().forEach(ClusterStore::close);
    clusters.values().forEach(Cluster::close);
  }

  private void dns(Integer... hosts) {
    dns.put("", List.of(hosts));
  }

  private List<InetAddress> addresses(String asking, String host) throws UnknownHostException {
    List<InetAddress> addresses = new ArrayList<>();
    for (int each : dns.getOrDefault(asking, dns.getOrDefault("", List.of()))) {
      addresses.add(InetAddress.getByName("127.0.0." + each));
    }
    if (!host.equals(NAME) || addresses.isEmpty()) {
      throw new UnknownHostException(host);
    }
    return addresses;
  }

  /** Starts a member; it is in {@link #stores} when it takes part. */
  private void start(String name, int host, int size) {
    Thread thread = new Thread(() -> run(name, "127.0.0." + host, size), "start-" + name);
    starting.put(name, thread);
    thread.start();
  }

  private ClusterSettings settings(
      String name, String host, int size, String files, Consumer<String> lines) {
    return ClusterSettings.builder(new ClusterMember(name, host, port), folder.resolve(files))
        .members(List.of(ClusterMember.allBehind(NAME, port)))
        .size(size)
        .resolver(asked -> addresses(name, asked))
        .listen(new InetSocketAddress(host.equals("127.0.0.0") ? "0.0.0.0" : host, port))
        .electionTimeout(Duration.ofMillis(400))
        .log(lines)
        .build();
  }

  private void run(String name, String host, int size) {
    try {
      Cluster cluster =
          Cluster.open(settings(name, host, size, name, line -> log.add(name + ": " + line)));
      clusters.put(name, cluster);
      cluster.form();
      stores.put(name, cluster.store(UsualSettings.store()));
    } catch (IOException e) {
      log.add(name + " cannot start: " + e);
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      log.add(name + " was ended");
    }
  }

  private void end(String name) {
    Objects.requireNonNull(stores.remove(name)).close();
    clusters.remove(name);
  }

  private void await(BooleanSupplier condition) throws Exception {
    Await.until(() -> "what was waited for; " + log, condition::getAsBoolean);
  }

  private void awaitLine(String name, String part) throws Exception {
    await(() -> log.stream().anyMatch(each -> each.startsWith(name) && each.contains(part)));
  }

  private boolean healthy(int members) {
    ClusterStatus status = clusters.values().iterator().next().status();
    return status.members().size() == members && status.health() == Health.HEALTHY;
  }

  private List<String> ids() {
    return clusters.values().stream().map(each -> each.status().cluster()).distinct().toList();
  }

  /** Makes nine requests to a store, and checks how many are admitted. */
  private void admits(int expected, @Nullable ClusterStore store, String key) throws Exception {
    asker.admits(expected, Objects.requireNonNull(store), "rule", FIVE, key, 9);
  }

  @Test
  void threeForm_oneMoves_anotherJoinsInItsPlace_andServersFindThem() throws Exception {
    dns(2, 3, 4);
    start("a", 2, 3);
    start("b", 3, 3);
    start("c", 4, 3);
    await(() -> stores.size() == 3 && healthy(3));
    assertThat(ids()).hasSize(1);
    admits(5, stores.get("a"), "x");

    end("c");
    dns(2, 3, 5);
    start("c", 5, 3);
    await(() -> stores.size() == 3 && healthy(3));

    dns(2, 3, 5, 4);
    start("d", 4, 3);
    await(() -> stores.size() == 4 && healthy(4));
    assertThat(ids()).hasSize(1);
    assertThat(log).anyMatch(each -> each.contains("d has joined"));

    try (ClusterClient client =
        ClusterClient.builder("outside", List.of(ClusterMember.allBehind(NAME, port)))
            .resolver(asked -> addresses("outside", asked))
            .log(line -> log.add("outside: " + line))
            .open()) {
      client.join();
      ClusterStore store = client.store(UsualSettings.store());
      admits(0, store, "x");
      admits(5, store, "y");
    }
  }

  @Test
  void all_startAgainElsewhere_andFindEachOther() throws Exception {
    dns(2, 3, 4);
    start("a", 2, 3);
    start("b", 3, 3);
    start("c", 4, 3);
    await(() -> stores.size() == 3 && healthy(3));
    for (String each : List.of("a", "b", "c")) {
      end(each);
    }
    dns(12, 13, 14);
    start("a", 14, 3);
    start("b", 12, 3);
    start("c", 13, 3);
    await(() -> stores.size() == 3 && healthy(3));
    assertThat(ids()).hasSize(1);
  }

  @Test
  void fewerThanTheSize_waitAndSayForHowMany() throws Exception {
    dns(2, 3);
    start("a", 2, 3);
    start("b", 3, 3);
    awaitLine("a", "waiting for 1 more of 3 members (a, b so far)");
    assertThat(stores).isEmpty();
    dns(2, 3, 4);
    awaitLine("b", "127.0.0.4:" + port + " does not answer");
    start("c", 4, 3);
    await(() -> stores.size() == 3 && healthy(3));
    assertThat(ids()).hasSize(1);
  }

  @Test
  void addressThatDoesNotAnswer_mayBeAMemberOfACluster_soNoneIsFormed() throws Exception {
    dns(2, 3, 9);
    start("a", 2, 2);
    start("b", 3, 2);
    awaitLine("a", "waiting for 127.0.0.9:" + port + " does not answer");
    assertThat(stores).isEmpty();
    dns(2, 3);
    await(() -> stores.size() == 2 && healthy(2));
  }

  @Test
  void membersThatSeeDifferentOnes_formNothing_untilTheyAgree() throws Exception {
    dns(2, 3, 4);
    dns.put("a", List.of(2, 3));
    dns.put("c", List.of(3, 4));
    start("a", 2, 2);
    start("b", 3, 2);
    start("c", 4, 2);
    awaitLine("a", "waiting for b, which sees a, b, c (here: a, b)");
    awaitLine("c", "waiting for b, which sees a, b, c (here: b, c)");
    assertThat(stores).isEmpty();
    dns.remove("a");
    dns.remove("c");
    await(() -> stores.size() == 3 && healthy(3));
    assertThat(ids()).hasSize(1);
  }

  @Test
  void severalAddressesOfOneMember_areOneMember() throws Exception {
    dns(2, 3, 4);
    start("a", 0, 1);
    await(() -> stores.size() == 1 && healthy(1));
    admits(5, stores.get("a"), "x");
  }

  @Test
  void twoOfOneName_areNotFormedInto() throws Exception {
    dns(2, 3);
    start("a", 2, 2);
    Thread second =
        new Thread(
            () -> {
              try (Cluster other =
                  Cluster.open(settings("a", "127.0.0.3", 2, "second", line -> {}))) {
                other.form();
              } catch (IOException | InterruptedException e) {
                log.add("second: " + e);
              }
            });
    starting.put("second", second);
    second.start();
    awaitLine("a", "two members of the name a answer");
    assertThat(stores).isEmpty();
  }

  @Test
  void nameThatTheDnsDoesNotKnow_isSaid_andWaitedFor() throws Exception {
    start("a", 2, 1);
    awaitLine("a", "the DNS has no address of " + NAME);
    dns(2);
    await(() -> stores.size() == 1 && healthy(1));
  }
}
