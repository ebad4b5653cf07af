package dev.weir.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.admin.AdminFixture.Answer;
import dev.weir.admin.internal.http.Call;
import dev.weir.config.Json;
import dev.weir.config.Node;
import dev.weir.config.Rollout;
import dev.weir.config.Rollouts;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RulesTest {
  private static final String MORE = AdminFixture.RULES.replace("100,", "200,");

  private final AdminFixture admin = new AdminFixture();

  private Answer patch(String tag, Map<String, Object> body) {
    return patch("", tag, body);
  }

  private Answer patch(String query, String tag, Map<String, Object> body) {
    return admin
        .send("PATCH", "/rules" + query)
        .by(admin.editor)
        .field("If-Match", tag)
        .field("Content-Type", "application/json")
        .bytes(Json.write(body).getBytes(java.nio.charset.StandardCharsets.UTF_8))
        .now();
  }

  private static Map<String, Object> put(String text) {
    return Map.of("put", Map.of("shop.yaml", text), "reason", "more for all");
  }

  @Test
  void rules_areShownWithTheirFilesPlansAndServers() {
    admin.store.beat(node("n1", 1, 4, List.of()));
    Answer answer = admin.get("/rules").is(200);
    assertThat(answer.field("ETag")).isEqualTo("\"r1\"");
    assertThat(answer.number("revision")).isEqualTo(1);
    Json.Members file = answer.objects("files").get(0);
    assertThat(Call.reading(() -> file.text("name"))).isEqualTo("shop.yaml");
    assertThat(Call.reading(() -> file.number("rules"))).isEqualTo(2);
    assertThat(answer.body()).contains("\"plans\":{\"shop\":[\"gold\"]}", "\"node\":\"n1\"");
    Answer text = admin.get("/rules/files/shop.yaml").is(200);
    assertThat(text.body()).isEqualTo(AdminFixture.RULES);
    assertThat(text.field("ETag")).isEqualTo('"' + Call.reading(() -> file.text("sha256")) + '"');
    admin.get("/rules/files/none.yaml").is(404);
    admin.get("/rules/files/shop.yaml?revision=2").is(404);
  }

  @Test
  void list_hasTheLimitOfEachRule() {
    Answer answer = admin.get("/rules/list").is(200);
    assertThat(answer.number("revision")).isEqualTo(1);
    assertThat(answer.number("all")).isEqualTo(2);
    Json.Members user = answer.objects("rules").get(0);
    assertThat(Call.reading(() -> user.text("path"))).isEqualTo("shop.user");
    assertThat(Call.reading(() -> user.text("file"))).isEqualTo("shop.yaml");
    assertThat(Call.reading(() -> user.number("limit"))).isEqualTo(100);
    assertThat(Call.reading(() -> user.text("window"))).isEqualTo("1m");
    assertThat(Call.reading(() -> user.text("by"))).isEqualTo("user");
    assertThat(Call.reading(() -> user.object("plans").number("gold"))).isEqualTo(1000);
    assertThat(admin.get("/rules/list?rule=shop.user").is(200).objects("rules")).hasSize(1);
    assertThat(admin.get("/rules/list?rule=none").is(200).number("all")).isEqualTo(0);
  }

  private Node node(String id, long revision, long position, List<String> problems) {
    return Node.builder(id)
        .address("10.0.0.1")
        .version("1")
        .revision(revision)
        .position(position)
        .problems(problems)
        .build();
  }

  @Test
  void change_makesARevisionWithItsDiff() {
    Answer changed = patch("\"r1\"", put(MORE)).is(200);
    assertThat(changed.number("revision")).isEqualTo(2);
    assertThat(changed.field("ETag")).isEqualTo("\"r2\"");
    assertThat(changed.list("diff")).hasSize(1).first().asString().contains("100", "200");
    assertThat(admin.get("/rules/files/shop.yaml").body()).isEqualTo(MORE);
    assertThat(admin.get("/rules/files/shop.yaml?revision=1").body()).isEqualTo(AdminFixture.RULES);
    Answer diff = admin.get("/rules/diff?from=1&to=2").is(200);
    assertThat(diff.text("text_diff")).startsWith("--- a/shop.yaml\n+++ b/shop.yaml\n@@ ");
    Answer list = admin.get("/rules/revisions?limit=1").is(200);
    assertThat(list.body()).contains("\"reason\":\"more for all\"", "\"author\":\"editor (");
    assertThat(list.number("next")).isEqualTo(2);
    assertThat(admin.get("/rules/revisions?before=2").body()).doesNotContain("next");
    assertThat(admin.get("/rules/revisions/2").is(200).objects("files")).hasSize(1);
    admin.get("/rules/revisions/3").is(404);
    admin.get("/rules/revisions/x").is(404);
    admin.get("/rules/diff?from=1&to=9").is(404);
    admin.get("/rules/diff?from=1").is(400);
  }

  @Test
  void sameTextsAgain_makeNoRevision() {
    assertThat(patch("\"r1\"", put(AdminFixture.RULES)).is(200).number("revision")).isEqualTo(1);
    assertThat(admin.store.head().revision()).isEqualTo(1);
  }

  @Test
  void anotherRevision_isAConflict() {
    patch("\"r1\"", put(MORE)).is(200);
    Answer stale = patch("\"r1\"", put(MORE + "# x\n")).is(412);
    assertThat(stale.number("revision")).isEqualTo(2);
    patch("W/\"r2\"", put(MORE + "# x\n")).is(412);
    admin
        .send("PATCH", "/rules")
        .by(admin.editor)
        .json("{'delete':[],'reason':'a test'}")
        .now()
        .is(428);
  }

  @Test
  void brokenRules_areRefusedWithTheirPlaces() {
    Answer refused = patch("\"r1\"", put("domain: shop\nnonsense: 1\n")).is(422);
    assertThat(refused.objects("problems"))
        .anySatisfy(
            problem -> {
              assertThat(problem.text("file")).isEqualTo("shop.yaml");
              assertThat(problem.text("severity")).isEqualTo("error");
              assertThat(problem.text("message")).startsWith("nonsense: unknown key");
              assertThat(problem.number("line")).isEqualTo(2);
            });
    patch("\"r1\"", Map.of("put", Map.of("../x.yaml", "domain: a\n"), "reason", "test")).is(422);
    patch("\"r1\"", Map.of("put", Map.of("x.txt", "domain: a\n"), "reason", "test")).is(422);
    patch("\"r1\"", Map.of("delete", List.of("none.yaml"), "reason", "test")).is(422);
    patch("\"r1\"", Map.of("delete", List.of("shop.yaml"), "reason", "test")).is(422);
    patch("\"r1\"", Map.of("put", Map.of(), "reason", "x")).is(422);
    patch("\"r1\"", Map.of("put", Map.of())).is(400);
    assertThat(admin.store.head().revision()).isEqualTo(1);
  }

  @Test
  void rollback_makesANewRevisionOfTheOldFiles() {
    patch("\"r1\"", put(MORE)).is(200);
    Answer back = rollback("\"r2\"", "{'to':1,'reason':'too much'}").is(200);
    assertThat(back.number("revision")).isEqualTo(3);
    assertThat(back.list("diff")).hasSize(1);
    assertThat(admin.get("/rules/files/shop.yaml").body()).isEqualTo(AdminFixture.RULES);
    rollback("\"r2\"", "{'to':1,'reason':'too much'}").is(412);
    rollback("\"r3\"", "{'to':9,'reason':'too much'}").is(404);
    rollback("\"r3\"", "{'reason':'too much'}").is(400);
  }

  private Answer rollback(String tag, String body) {
    return admin
        .send("POST", "/rules/rollback")
        .by(admin.editor)
        .field("If-Match", tag)
        .json(body)
        .now();
  }

  private Answer check(String body) {
    return admin.send("POST", "/rules/check").by(admin.viewer).json(body).now();
  }

  @Test
  void check_findsProblemsAndDifferencesAndChangesNothing() {
    Answer broken = check("{'put':{'b.yaml':'nonsense: 1'}}").is(200);
    assertThat(broken.body()).contains("\"valid\":false", "\"file\":\"b.yaml\"", "\"line\":1");
    Answer good = check("{'files':{'b.yaml':'domain: b\\n'},'base':1}").is(200);
    assertThat(good.body()).contains("\"valid\":true");
    assertThat(good.list("diff")).contains("domain b: added", "domain shop: removed");
    assertThat(good.text("text_diff"))
        .contains("--- a/shop.yaml\n+++ /dev/null\n@@ -1,", "+domain: b");
    check("{'files':{},'base':9}").is(404);
    check("{'files':{},'put':{}}").is(400);
    check("{}").is(400);
    check("{'files':{'a/b.yaml':''}}").is(422);
    assertThat(admin.store.head().revision()).isEqualTo(1);
  }

  @Test
  void rulesFromFiles_areShownAndCheckedButNotChanged() {
    AdminFixture files =
        new AdminFixture(
            store -> store,
            builder -> builder.ruleFiles(() -> Map.of("f.yaml", "domain: f\n")),
            new MemoryStore());
    Answer shown = files.get("/rules").is(200);
    assertThat(shown.text("source")).isEqualTo("files");
    assertThat(files.get("/rules/files/f.yaml").is(200).body()).isEqualTo("domain: f\n");
    files
        .send("POST", "/rules/check")
        .by(files.viewer)
        .json("{'put':{'g.yaml':'domain: g'}}")
        .now()
        .is(200);
    files
        .send("PATCH", "/rules")
        .by(files.editor)
        .field("If-Match", shown.field("ETag"))
        .json("{'put':{'g.yaml':'domain: g'},'reason':'a test'}")
        .now()
        .is(409);
    files.get("/rules/revisions/1").is(404);
    assertThat(files.get("/rules/revisions").is(200).body()).contains("[]");
  }

  @Test
  void waiting_returnsWhenAllServersHaveIt() {
    admin.store.beat(node("n1", 1, 1, List.of()));
    admin.ticker.schedule(1_000_000_000L, () -> admin.store.beat(node("n1", 2, 5, List.of())));
    long begin = admin.ticker.nanos();
    Answer applied = patch("?wait=applied&timeout=5s", "\"r1\"", put(MORE)).is(200);
    assertThat(applied.body()).contains("\"applied\":true", "\"waiting\":[]");
    assertThat(admin.ticker.nanos() - begin).isEqualTo(1_000_000_000L);
  }

  @Test
  void storeThatEndsWhileWaiting_doesNotHideTheWrite() {
    FailingStore[] failing = new FailingStore[1];
    AdminFixture other =
        new AdminFixture(
            store -> failing[0] = new FailingStore(store), builder -> builder, new MemoryStore());
    other.store.beat(node("n1", 1, 1, List.of()));
    other.ticker.schedule(300_000_000L, () -> failing[0].away = true);
    Answer answer =
        other
            .send("PATCH", "/rules?wait=applied&timeout=1s")
            .by(other.editor)
            .field("If-Match", "\"r1\"")
            .json("{'put':{'b.yaml':'domain: b'},'reason':'a test'}")
            .now()
            .is(202);
    assertThat(answer.number("revision")).isEqualTo(2);
    assertThat(answer.text("unknown")).contains("no answer");
  }

  @Test
  void waitingForALaggard_namesIt() {
    admin.store.beat(node("gone", 1, 1, List.of()));
    admin.ticker.advance(9_000_000_000L);
    admin.store.beat(node("n1", 1, 9, List.of("b.yaml:1:1 wrong")));
    admin.store.beat(node("n2", 2, 9, List.of()));
    long begin = admin.ticker.nanos();
    Answer over = patch("?wait=applied&timeout=2s", "\"r1\"", put(MORE)).is(202);
    assertThat(admin.ticker.nanos() - begin).isEqualTo(2_000_000_000L);
    assertThat(over.body()).contains("\"applied\":false");
    assertThat(over.objects("waiting")).hasSize(1);
    Json.Members laggard = over.objects("waiting").get(0);
    assertThat(Call.reading(() -> laggard.text("id"))).isEqualTo("n1");
    assertThat(Call.reading(() -> laggard.list("problems"))).containsExactly("b.yaml:1:1 wrong");
    patch("?wait=soon", "\"r2\"", put(MORE)).is(400);
    patch("?wait=applied&timeout=2h", "\"r2\"", put(MORE)).is(400);
    assertThat(admin.store.head().revision()).isEqualTo(2);
  }

  private static Map<String, Object> rollout(Map<String, Object> plan) {
    return Map.of("put", Map.of("shop.yaml", MORE), "reason", "more for all", "rollout", plan);
  }

  @Test
  void rollout_beginsOnSomeServersAndRefusesOtherChanges() {
    admin.store.beat(node("n1", 1, 4, List.of()));
    admin.store.beat(node("n2", 1, 4, List.of()));
    Answer begun =
        patch("\"r1\"", rollout(Map.of("nodes", "50%", "for", "10m", "max_refused_rise", "0.5%")))
            .is(200);
    assertThat(begun.body())
        .contains("\"for\":\"10m\"", "\"max_refused_rise\":\"0.50%\"", "\"state\":\"running\"");
    Rollout running = Rollouts.running(admin.store).orElseThrow();
    assertThat(running.nodes()).hasSize(1);
    assertThat(running.maxRise()).isEqualTo(50);
    assertThat(admin.get("/nodes").is(200).body()).contains("\"rollout\":{\"revision\":2,");
    Answer refused = patch("\"r2\"", put(AdminFixture.RULES)).is(409);
    assertThat(refused.body()).contains("that of revision 2 runs");
    rollback("\"r2\"", "{'to':1,'reason':'too much'}").is(200);
    assertThat(Rollouts.judge(admin.store, "n1").orElseThrow().state())
        .isEqualTo(Rollout.State.UNDONE);
    patch("\"r3\"", put(MORE + "# again\n")).is(200);
  }

  @Test
  void barrierOfARollout_waitsForTheFirstServersOnly() {
    admin.store.beat(node("n1", 1, 4, List.of()));
    admin.store.beat(node("n2", 1, 4, List.of()));
    Answer begun =
        patch("?wait=applied&timeout=0s", "\"r1\"", rollout(Map.of("nodes", "50%"))).is(202);
    assertThat(begun.objects("waiting")).hasSize(1);
    Json.Members waiting = begun.objects("waiting").get(0);
    assertThat(Call.reading(() -> waiting.text("id")))
        .isEqualTo(Rollouts.running(admin.store).orElseThrow().nodes().get(0));
  }

  @Test
  void badRollouts_areRefusedAndChangeNothing() {
    patch("\"r1\"", rollout(Map.of("nodes", "50%"))).is(409); // No server is live.
    admin.store.beat(node("n1", 1, 4, List.of()));
    for (Map<String, Object> plan :
        List.<Map<String, Object>>of(
            Map.of(),
            Map.of("nodes", "0%"),
            Map.of("nodes", "100%"),
            Map.of("nodes", "2.5%"),
            Map.of("nodes", "10"),
            Map.of("nodes", "10%", "for", "2d"),
            Map.of("nodes", "10%", "for", "0s"),
            Map.of("nodes", "10%", "max_refused_rise", "101%"),
            Map.of("nodes", "10%", "extra", "1"))) {
      patch("\"r1\"", rollout(plan)).is(400);
    }
    assertThat(admin.store.head().revision()).isEqualTo(1);
    assertThat(Rollouts.running(admin.store)).isEmpty();
  }
}
