package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.wire.testkit.RedisCluster;
import dev.weir.wire.testkit.RedisServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Users of Redis with few permissions, which are those in {@code docs/redis.md}. Functions are
 * tested if the server has them, and scripts always.
 */
class AclTest extends FaultTest {
  private static final String SECRET = "a-secret";

  /** The permissions of a decision, in whichever way the script is called. */
  private static final List<String> WITHIN = List.of("+mget", "+exists", "+set", "+time");

  private static final List<String> SCRIPT = List.of("+evalsha", "+eval");
  private static final List<String> FUNCTION = List.of("+fcall", "+function|load");

  private static List<String> with(List<String> permissions, String... more) {
    List<String> all = new ArrayList<>(permissions);
    all.addAll(Arrays.asList(more));
    return all;
  }

  private static List<String> of(List<String> calling) {
    return with(calling, WITHIN.toArray(String[]::new));
  }

  private static boolean hasFunctions(RedisServer server) {
    return !server.command("COMMAND", "INFO", "fcall").equals("[null]");
  }

  /** Returns the permissions for each way to call the script that the server has. */
  private static List<List<String>> ways(RedisServer server) {
    return hasFunctions(server) ? List.of(of(SCRIPT), of(FUNCTION)) : List.of(of(SCRIPT));
  }

  /** Creates a user who has only these permissions. */
  private static void user(RedisServer server, List<String> permissions) {
    List<String> command =
        new ArrayList<>(List.of("ACL", "SETUSER", "lim", "reset", "on", ">" + SECRET, "~weir:*"));
    command.addAll(permissions);
    server.command(command.toArray(String[]::new));
  }

  private RedisStore open(RedisServer server, int replicas) {
    return closing(
        RedisStore.builder("redis://lim@127.0.0.1:" + server.port())
            .password(SECRET)
            .timeout(LONG)
            .replicas(replicas)
            .log(log::add)
            .build());
  }

  private void assertNobodyWarned() {
    assertThat(log).containsExactly("the store answers: decisions are shared");
    log.clear();
  }

  /** Makes requests of every kind. */
  private static void assertDecides(RedisStore store) {
    for (Consistency consistency : Consistency.values()) {
      RateLimiter limiter =
          limiter(
              policy(PERMITS)
                  .name("by " + consistency)
                  .sharing(Sharing.STRICT.consistency(consistency)),
              store);
      List<CompletableFuture<Decision>> many = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        many.add(limiter.tryAcquireAsync("many").toCompletableFuture());
      }
      assertThat(many).allMatch(each -> each.join().reason() == Reason.WITHIN_LIMIT);
      assertThat(limiter.tryAcquire("some", 40).reason()).isEqualTo(Reason.WITHIN_LIMIT);
      assertThat(limiter.peek("some").reason()).isEqualTo(Reason.WITHIN_LIMIT);
      Decision charged = limiter.tryAcquire("back", 10);
      assertThat(limiter.refund("back", 10, charged)).isEqualTo(10);
      assertThat(limiter.reserve("later", 1, WINDOW).granted()).isTrue();
      Binding binding = store.bind(limiter.policy().name(), limiter.policy(), 0);
      Charges charges = new Charges();
      charges.add(binding, store.fingerprint().of("a"), 1);
      charges.add(binding, store.fingerprint().of("b"), 1);
      CompletableFuture<Charges> done = new CompletableFuture<>();
      store.decide(charges, 0, done::complete);
      assertThat(done.orTimeout(60, TimeUnit.SECONDS).join().allowed()).isTrue();
      store.retire(
          limiter.policy().name(), 0); // Gives back unspent permits, and records all others.
    }
    assertThat(store.metrics().failures().values()).containsOnly(0L);
  }

  @Test
  void userOfTheUri_withAPasswordOfItsOwn_isLoggedIn() {
    RedisServer server = closing(RedisServer.start());
    user(server, List.of("+@all"));
    for (String user : new String[] {"lim@", "lim:other@", "lim:@"}) {
      String uri = "redis://" + user + "127.0.0.1:" + server.port();
      RedisStore store =
          closing(RedisStore.builder(uri).password(SECRET).timeout(LONG).log(log::add).build());
      Redis.await(store::available);
      assertThat(limiter(policy(PERMITS), store).tryAcquire("k").reason())
          .isEqualTo(Reason.WITHIN_LIMIT);
      assertThat(server.command("CLIENT", "LIST")).contains("user=lim");
      store.close();
      Redis.await(() -> !server.command("CLIENT", "LIST").contains("user=lim"));
    }
    assertThat(log).noneMatch(line -> line.contains(SECRET));
  }

  @Test
  void userOfASentinelsUri_isLoggedInAtTheMaster() {
    RedisServer master = closing(RedisServer.start());
    user(master, of(SCRIPT));
    RedisServer sentinel = closing(RedisServer.startSentinel("main", master));
    String uri = "redis-sentinel://lim@127.0.0.1:" + sentinel.port() + "#main";
    RedisStore store =
        closing(RedisStore.builder(uri).password(SECRET).timeout(LONG).log(log::add).build());
    Redis.await(store::available);
    assertThat(limiter(policy(PERMITS), store).tryAcquire("k").reason())
        .isEqualTo(Reason.WITHIN_LIMIT);
    assertThat(master.command("CLIENT", "LIST")).contains("user=lim");
  }

  @Test
  void passwordWithoutAUser_isTheDefaultOnes() {
    RedisServer server = closing(RedisServer.start("requirepass " + SECRET));
    for (String user : new String[] {"", ":other@"}) {
      String uri = "redis://" + user + "127.0.0.1:" + server.port();
      RedisStore store = closing(RedisStore.builder(uri).password(SECRET).timeout(LONG).build());
      Redis.await(store::available);
      assertThat(server.command("CLIENT", "LIST")).doesNotContain("user=lim");
    }
  }

  @Test
  void commandsOfTheDocumentation_areEnoughForEveryKindOfRequest() {
    RedisServer server = closing(RedisServer.start());
    for (List<String> permissions : ways(server)) {
      server.command("FLUSHALL");
      user(server, permissions);
      RedisStore store = open(server, 0);
      Redis.await(store::available);
      assertDecides(store);
      assertNobodyWarned();
      store.close();
    }
  }

  @Test
  void eachOfThem_isNeeded_andItsLackIsToldAsSuch_withoutFlapping() {
    RedisServer server = closing(RedisServer.start());
    for (List<String> permissions : ways(server)) {
      for (String lacking : permissions) {
        log.clear();
        server.command("SCRIPT", "FLUSH");
        List<String> others = new ArrayList<>(permissions);
        others.remove(lacking);
        user(server, others);
        RedisStore store = open(server, 0);
        Redis.await(() -> log.stream().anyMatch(line -> line.contains("(noperm: ")));
        RateLimiter limiter = limiter(policy(PERMITS), store);
        for (int i = 0; i < 50; i++) {
          assertThat(limiter.tryAcquire("k").reason()).as(lacking).isEqualTo(Reason.UNCERTAIN);
        }
        assertThat(store.problem()).startsWith("noperm: ");
        assertThat(log).as(lacking).hasSize(1).noneMatch(line -> line.contains("null"));
        assertThat(store.metrics().burned()).isZero();

        // The next connection tries functions again.
        user(server, permissions);
        server.command("CLIENT", "KILL", "USER", "lim");
        Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.WITHIN_LIMIT);
        store.close();
      }
    }
  }

  @Test
  void permissionThatIsTakenAway_isNoBurnedPermit_andHasAKindOfItsOwn() {
    RedisServer server = closing(RedisServer.start());
    user(server, of(SCRIPT));
    RedisStore store = open(server, 0);
    Redis.await(store::available);
    RateLimiter limiter = limiter(policy(PERMITS), store);
    assertThat(limiter.tryAcquire("k").reason()).isEqualTo(Reason.WITHIN_LIMIT);
    server.command("ACL", "SETUSER", "lim", "-set");
    for (int i = 0; i < 3; i++) {
      assertThat(limiter.tryAcquire("k").reason()).isEqualTo(Reason.UNCERTAIN);
    }
    assertThat(store.metrics().failures().get("noperm")).isEqualTo(3);
    assertThat(store.metrics().burned()).isZero();
    assertThat(store.available()).isFalse();
    server.command("ACL", "SETUSER", "lim", "+set");
    Redis.await(store::available);
    Redis.await(() -> log.size() == 3);
    assertThat(limiter.tryAcquire("k").remaining()).isEqualTo(PERMITS - 2);
  }

  @Test
  void userWithoutFunctions_hasScripts() {
    RedisServer server = closing(RedisServer.start());
    List<String> permissions =
        hasFunctions(server) ? with(of(SCRIPT), "+function|load") : of(SCRIPT);
    user(server, permissions);
    RedisStore store = open(server, 0);
    Redis.await(store::available);
    assertDecides(store);
    assertThat(store.metrics().burned()).isZero();
    assertNobodyWarned();
  }

  @Test
  void libraryThatIsFlushed_isLoadedAgain_alsoByAUserWithoutScripts() {
    RedisServer server = closing(RedisServer.start());
    boolean functions = hasFunctions(server);
    user(server, of(functions ? FUNCTION : SCRIPT));
    RedisStore store = open(server, 0);
    Redis.await(store::available);
    for (int i = 0; i < 3; i++) {
      server.command(functions ? "FUNCTION" : "SCRIPT", "FLUSH");
      assertThat(limiter(policy(PERMITS), store).tryAcquire("k").reason())
          .isEqualTo(Reason.WITHIN_LIMIT);
    }
    assertNobodyWarned();
  }

  @Test
  void replicas_takeWaitAsWell() {
    RedisServer server = closing(RedisServer.start());
    closing(server.startReplica());
    user(server, with(of(SCRIPT), "+wait"));
    RedisStore store = open(server, 1);
    Redis.await(store::available);
    assertDecides(store);
    assertNobodyWarned();
    store.close();

    user(server, of(SCRIPT));
    RedisStore lacking = open(server, 1);
    Redis.await(() -> lacking.problem().startsWith("replicas: WAIT: NOPERM"));
    assertThat(lacking.available()).isFalse();
  }

  @Test
  void cluster_takesItsOwnCommandsAsWell() {
    try (RedisCluster cluster = RedisCluster.start(3)) {
      List<String> permissions = with(of(SCRIPT), "+cluster|nodes");
      cluster.nodes().forEach(node -> user(node, permissions));
      String uri = cluster.uri().replace("redis-cluster://", "redis-cluster://lim@");
      try (RedisStore store =
          RedisStore.builder(uri).password(SECRET).timeout(LONG).log(log::add).build()) {
        Redis.await(store::available);
        assertDecides(store);
        cluster
            .nodes()
            .forEach(node -> assertThat(node.command("CLIENT", "LIST")).contains("user=lim"));
      }
    }
  }
}
