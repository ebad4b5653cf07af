package dev.weir.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.weir.cli.Ran;
import dev.weir.server.ServerOptions;
import dev.weir.server.WeirServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A test of {@code weir cluster status} and {@code verify}, against possible answers of a member.
 */
class ClusterCommandsTest {
  private static final Instant TIME = Instant.parse("2026-03-04T05:06:07Z");

  private final AtomicInteger asked = new AtomicInteger();
  private final List<String> answers = new ArrayList<>();
  private final List<String> bodies = new ArrayList<>();
  private int code = 200;
  private String token = "";
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/cluster",
        exchange -> {
          bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          token = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
          int next = Math.min(asked.getAndIncrement(), answers.size() - 1);
          byte[] body = answers.get(next).getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(code, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private Ran weir(String verb, String... more) {
    List<String> arguments = new ArrayList<>(List.of("cluster", verb, "--url", url()));
    arguments.addAll(List.of(more));
    return Ran.weir(arguments.toArray(new String[0]));
  }

  private static String cluster(String health, String... members) {
    return "{\"cluster\":\"7f3a1c2e-0000-4000-8000-000000000000\",\"health\":\""
        + health
        + "\",\"by\":\"a\",\"epoch\":4,\"level\":1,\"level_waits_for\":[],\"groups\":1,\"slots\":[4096],\"slots_to_move\":0,\"moves\":[],\"members\":["
        + String.join(",", members)
        + "]}\n";
  }

  private static String down(String name) {
    return "{\"name\":\"" + name + "\",\"zone\":\"z\",\"up\":false,\"problem\":\"\",\"groups\":[]}";
  }

  private static String up(String name, String leader, long applied, long comparedAt, String sum) {
    return member(name, leader, applied, comparedAt, sum, false);
  }

  private static String member(
      String name, String leader, long applied, long comparedAt, String sum, boolean diverged) {
    return "{\"name\":\"%s\",\"zone\":\"z\",\"up\":true,\"problem\":\"\",\"groups\":[{\"group\":0,\"leader\":\"%s\",\"leads\":%s,"
            .formatted(name, leader, name.equals(leader))
        + "\"listeners\":[],\"term\":3,\"committed\":1204551,\"applied\":%d,\"log_bytes\":1572864,\"keys\":12034,"
            .formatted(applied)
        + "\"state_bytes\":4096,\"time\":\"%s\",\"calendar\":\"%s\",\"clock_fault\":false,\"compared_at\":%d,\"sum\":\"%s\",\"diverged\":%s,"
            .formatted(TIME.minusSeconds(7), TIME, comparedAt, sum, diverged)
        + "\"refused_early\":7}]}";
  }

  private static String healthy() {
    return cluster(
        "healthy",
        up("a", "a", 1204551, 1204500, "1f"),
        up("b", "a", 1204549, 1204500, "1f"),
        up("c", "a", 1204551, 1204500, "1f"));
  }

  @Test
  void healthyCluster_isATableAndStatusZero() {
    answers.add(healthy());
    Ran ran = weir("status");
    assertThat(ran.status()).as(ran.err()).isZero();
    assertThat(ran.out().lines().map(line -> line.replaceAll(" {2,}", " ")))
        .startsWith(
            "cluster 7f3a1c2e: healthy, 3 of 3 members up, 1 group, epoch 4, level 1, as a says",
            "",
            "MEMBER STATE LEADS KEYS BEHIND LOG ZONE",
            "a up 0 12,034 0 1.5 MiB z",
            "b up - 12,034 2 1.5 MiB z",
            "c up - 12,034 0 1.5 MiB z",
            "",
            "GROUP LEADER TERM INDEX SLOTS TIME REPLICAS")
        .last()
        .asString()
        .matches("0 a 3 1,204,551 4096 -?[0-9]+\\.[0-9] s (behind|ahead) a b c");
  }

  @Test
  void memberThatListens_catchesUp_andOneWithoutGroupsIsASpare() {
    String leads =
        up("a", "a", 1204551, 8, "1f").replace("\"listeners\":[]", "\"listeners\":[\"b\"]");
    String spare = "{\"name\":\"d\",\"zone\":\"\",\"up\":true,\"groups\":[]}";
    answers.add(cluster("degraded", leads, up("b", "a", 1000000, 8, "1f"), spare));
    assertThat(weir("status").out())
        .containsPattern("b +catching up 83 % ")
        .containsPattern("d +spare ")
        .contains("a b(listener)");
  }

  @Test
  void levelThatWaits_saysForWhom() {
    answers.add(
        healthy()
            .replace("\"level_waits_for\":[]", "\"level_waits_for\":[\"c is down\",\"d is old\"]"));
    assertThat(weir("status").out().lines().map(String::strip))
        .containsSequence(
            "the cluster stays at level 1 for now, because:", "c is down", "d is old");
  }

  @Test
  void change_isAskedAsJson_andWhatWasDoneIsShown() {
    answers.add("done\n");
    for (List<String> each :
        List.of(
            List.of("remove", "c", "--force"),
            List.of("transfer", "1", "b"),
            List.of("rebalance", "--dry-run"),
            List.of("groups", "4"),
            List.of("calendar", "--now"))) {
      Ran ran = weir(each.get(0), each.subList(1, each.size()).toArray(new String[0]));
      assertThat(ran.status()).as(ran.err()).isZero();
      assertThat(ran.out().strip()).isEqualTo("done");
    }
    assertThat(bodies)
        .containsExactly(
            "{\"verb\":\"remove\",\"member\":\"c\",\"force\":true}",
            "{\"verb\":\"transfer\",\"group\":1,\"member\":\"b\"}",
            "{\"verb\":\"rebalance\",\"dry_run\":true}",
            "{\"verb\":\"groups\",\"groups\":4}",
            "{\"verb\":\"calendar\"}");
  }

  @Test
  void slots_areShownByGroup_andThoseThatMove() {
    answers.add(healthy());
    Ran ran = weir("slots");
    assertThat(ran.status()).as(ran.err()).isZero();
    assertThat(ran.out()).containsPattern("0 +4096 +a").contains("every slot is where it should");
    answers.clear();
    answers.add(
        healthy()
            .replace("\"slots\":[4096]", "\"slots\":[4000,96]")
            .replace("\"slots_to_move\":0", "\"slots_to_move\":1952")
            .replace(
                "\"moves\":[]",
                "\"moves\":[{\"slot\":7,\"from\":0,\"to\":1,\"step\":\"moving\"}]"));
    ran = weir("slots");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.out())
        .containsPattern("1 +96 +-")
        .contains("1952 slots to move, of which 1 on the way", "slot 7: group 0 -> 1, moving");
    assertThat(weir("status").out()).contains("1952 slots to move, of which 1 on the way");
  }

  @Test
  void calendar_isShown_andInStatusWhereItDoesNotFollow() {
    answers.add(healthy());
    assertThat(weir("calendar").out())
        .contains("GROUP  LEADER  CALENDAR", "a       " + TIME, "yes");
    answers.add(healthy().replace("clock_fault\":false", "clock_fault\":true"));
    assertThat(weir("status").out())
        .contains(
            "group 0: its calendar does not follow the wall clock of a, which is too far off");
  }

  @Test
  void changeThatIsRefused_isOneClearError() {
    answers.add("{\"detail\":\"b is up (expected: one that is down)\"}");
    code = 409;
    Ran ran = weir("remove", "b");
    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.err()).contains("b is up (expected: one that is down)").hasLineCount(1);
  }

  @Test
  void groupsTime_isComparedWithTheWallClock() {
    ClusterView view = ClusterView.read(healthy());
    assertThat(ClusterTable.of(view, TIME.plusMillis(260))).contains("  0.3 s behind  ");
    assertThat(ClusterTable.of(view, TIME.minusSeconds(61))).contains("  61.0 s ahead  ");
    ClusterView begun =
        ClusterView.read(healthy().replace(TIME.toString(), "1970-01-01T00:00:00Z"));
    assertThat(ClusterTable.of(begun, TIME)).containsPattern("1,204,551 +4096 +- +a b c");
  }

  @Test
  void memberThatIsDown_isStatusOne() {
    answers.add(cluster("degraded", up("a", "a", 9, 8, "1f"), down("b"), up("c", "a", 9, 8, "1f")));
    Ran ran = weir("status");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.out()).contains("degraded, 2 of 3 members up").containsPattern("b +down +- +-");
  }

  @Test
  void memberWithAProblem_isNamedWithIt() {
    String full =
        up("b", "a", 9, 8, "1f").replace("\"problem\":\"\"", "\"problem\":\"its disk is full\"");
    answers.add(cluster("degraded", up("a", "a", 9, 8, "1f"), full));
    Ran ran = weir("status");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.out().lines().toList()).last().isEqualTo("b: its disk is full");
  }

  @Test
  void groupWithoutLeader_isStatusTwo() {
    answers.add(cluster("unanswered", up("a", "", 9, 8, "1f"), down("b"), down("c")));
    Ran ran = weir("status");
    assertThat(ran.status()).isEqualTo(2);
    assertThat(ran.out())
        .contains("unanswered", "group 0 has no leader", "on_failure")
        .containsPattern("0 +- +- +- +4096 +- +a");
  }

  @Test
  void twoThatTakeThemselvesForTheLeader_theLaterTermIsShown() {
    String stale = up("b", "b", 9, 8, "1f").replace("\"term\":3", "\"term\":2");
    answers.add(cluster("healthy", up("a", "a", 9, 8, "1f"), stale));
    assertThat(weir("status").out()).containsPattern("(?m)^0 +a +3 ");
  }

  @Test
  void clusterThatIsNotFormed_isNamedSo() {
    answers.add(
        "{\"cluster\":\"\",\"health\":\"unanswered\",\"by\":\"a\",\"epoch\":0,\"level\":1,\"level_waits_for\":[],\"groups\":1,\"members\":[]}");
    Ran ran = weir("status");
    assertThat(ran.status()).isEqualTo(2);
    assertThat(ran.out()).startsWith("no cluster yet: unanswered, 0 of 0 members up");
  }

  @Test
  void json_isTheAnswerAsItIs() {
    answers.add(cluster("degraded", down("a")));
    Ran ran = weir("status", "--json");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.out().strip()).isEqualTo(answers.get(0).strip());
  }

  @Test
  void waitHealthy_asksUntilItIs() {
    answers.add(cluster("unanswered", down("a")));
    answers.add(cluster("degraded", down("a")));
    answers.add(healthy());
    Ran ran = weir("status", "--wait-healthy", "1m");
    assertThat(ran.status()).isZero();
    assertThat(ran.out()).containsOnlyOnce("cluster 7f3a1c2e: healthy");
    assertThat(asked.get()).isEqualTo(3);
  }

  @Test
  void waitHealthy_endsWithWhatItIsThen() {
    answers.add(cluster("degraded", down("a")));
    Ran ran = weir("status", "--wait-healthy", "300ms");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(asked.get()).isGreaterThan(1);
    assertThat(weir("status", "--wait-healthy", "soon").status()).isEqualTo(2);
  }

  @Test
  void memberThatIsNotThere_isOneClearErrorAndStatusTwo() {
    String url = url();
    server.stop(0);
    for (String verb : List.of("status", "verify")) {
      Ran ran = Ran.weir("cluster", verb, "--url", url);
      assertThat(ran.status()).as(verb).isEqualTo(2);
      assertThat(ran.err()).contains(url, "a running 'weir serve'").hasLineCount(1);
      assertThat(ran.out()).isEmpty();
    }
    assertThat(Ran.weir("cluster", "status", "--url", url, "--wait-healthy", "300ms").status())
        .isEqualTo(2);
  }

  @Test
  void answerThatIsNone_isOneClearErrorAndStatusThree() {
    String good = healthy();
    Map<String, String> wrong =
        Map.of(
            "",
            "cannot be read",
            "<html>",
            "cannot be read",
            good.substring(0, good.length() / 2),
            "cannot be read",
            good.replace("\"healthy\"", "\"splendid\""),
            "health: splendid",
            good.replace("\"term\":3", "\"term\":\"x\""),
            "term: x",
            good.replace(TIME.toString(), "noon"),
            "time: noon",
            good.replace("\"members\":[", "\"members\":[1,"),
            "an object");
    wrong.forEach(
        (answer, says) -> {
          answers.clear();
          answers.add(answer);
          for (String verb : List.of("status", "verify")) {
            Ran ran = weir(verb);
            assertThat(ran.status()).as(answer).isEqualTo(3);
            assertThat(ran.err()).contains(says).hasLineCount(1);
          }
        });
  }

  @Test
  void serverOfItsOwn_isNoMember() throws Exception {
    try (WeirServer alone =
        WeirServer.start(
            ServerOptions.of(
                Map.of("port", "0", "grpc-port", "0", "resp-port", "off", "no-warmup", "true")))) {
      Ran ran =
          Ran.weir(
              "cluster",
              "status",
              "--url",
              "http://127.0.0.1:" + alone.httpPort(),
              "--timeout",
              "60");
      assertThat(ran.status()).as(ran.err()).isEqualTo(3);
      assertThat(ran.err()).contains("no member of a cluster", "weir serve --cluster");
    }
  }

  @Test
  void token_isSent(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("tokens"), "token-of-sixteen-characters\n");
    answers.add(healthy());
    assertThat(weir("status", "--token-file", file.toString()).status()).isZero();
    assertThat(token).isEqualTo("Bearer token-of-sixteen-characters");
    code = 401;
    Ran ran = weir("status");
    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.err()).contains("requires a token");
  }

  @Test
  void controlCharacters_areNotSentToTheTerminal() {
    answers.add(cluster("degraded", down("\\u001b[31m"), up("a", "a", 9, 8, "\\u001b[31m")));
    assertThat(weir("status").out()).doesNotContain("\u001b");
    assertThat(weir("verify").out()).doesNotContain("\u001b");
  }

  @Test
  void sameSums_areVerified() {
    answers.add(healthy());
    Ran ran = weir("verify");
    assertThat(ran.status()).as(ran.out()).isZero();
    assertThat(ran.out().strip()).isEqualTo("group 0: the same at a, b, c, at index 1204500");
  }

  /**
   * Tests answers of different moments: members compare every second, but not at the same moment.
   */
  @Test
  void sumsOfSeveralAnswers_areComparedAtOneIndex() {
    answers.add(cluster("healthy", up("a", "a", 9, 20, "2f"), up("b", "a", 9, 10, "1f")));
    answers.add(cluster("healthy", up("a", "a", 9, 30, "3f"), up("b", "a", 9, 20, "2f")));
    Ran ran = weir("verify");
    assertThat(ran.status()).as(ran.out()).isZero();
    assertThat(ran.out()).contains("the same at a, b, at index 20");
  }

  /** Tests a member that has some of the groups, or none. */
  @Test
  void memberWithoutTheGroup_isNotWaitedFor() {
    String spare = "{\"name\":\"d\",\"zone\":\"\",\"up\":true,\"groups\":[]}";
    answers.add(cluster("healthy", up("a", "a", 9, 20, "2f"), up("b", "a", 9, 20, "2f"), spare));
    Ran ran = weir("verify");
    assertThat(ran.status()).as(ran.out()).isZero();
    assertThat(ran.out().strip()).isEqualTo("group 0: the same at a, b, at index 20");
  }

  @Test
  void differentSums_areStatusOne() {
    answers.add(cluster("healthy", up("a", "a", 9, 20, "2f"), up("b", "a", 9, 10, "1f")));
    answers.add(cluster("healthy", up("a", "a", 9, 30, "3f"), up("b", "a", 9, 20, "4f")));
    Ran ran = weir("verify");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.out().strip()).isEqualTo("group 0: the sums differ at index 20: a 2f, b 4f");
  }

  @Test
  void replicaThatHasDiverged_isStatusOne() {
    answers.add(
        cluster("degraded", up("a", "a", 9, 20, "2f"), member("b", "a", 9, 10, "1f", true)));
    Ran ran = weir("verify");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.out()).contains("b differs from its leader");
    assertThat(weir("status").out()).containsPattern("b +diverged").contains("answers nothing");
  }

  @Test
  void memberThatIsDown_isNotVerified() {
    answers.add(
        cluster("degraded", up("a", "a", 9, 20, "2f"), up("b", "a", 9, 20, "2f"), down("c")));
    Ran ran = weir("verify");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.out()).contains("the same at a, b", "c is down");
  }

  @Test
  void demo_hasAtMostNineMembers() {
    for (String members : List.of("0", "10", "x")) {
      assertThat(Ran.weir("cluster", "demo", "--members", members).status()).isEqualTo(2);
    }
  }
}
