package dev.weir.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.admin.AdminFixture.Answer;
import dev.weir.admin.internal.access.InstallationSecret;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Documents;
import dev.weir.admin.internal.limits.KeyText;
import dev.weir.config.Change;
import dev.weir.config.Json;
import dev.weir.rules.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests of the routes for requests over time, their keys, and the reasons for refusals. */
class InsightRoutesTest {
  private final AdminFixture admin = new AdminFixture();

  private void request(String key, String value, int times) {
    request(admin, key, value, times);
  }

  private static void request(AdminFixture of, String key, String value, int times) {
    for (int i = 0; i < times; i++) {
      var unused = of.engine.decide(Request.of("shop", key, value));
    }
  }

  private void second() {
    admin.advance(Duration.ofSeconds(1));
    admin.insight.tick();
  }

  private long now() {
    return admin.ticker.nanos() / 1_000_000_000L;
  }

  private static List<@Nullable Object> column(Answer answer, String name) {
    Json.Members columns = Call.reading(() -> answer.json().object("columns"));
    return new ArrayList<>(Documents.list(columns.without(Set.of()).get(name)));
  }

  private static List<String> texts(Answer answer, String list, String member) {
    return answer.objects(list).stream()
        .map(each -> Call.reading(() -> each.text(member)))
        .toList();
  }

  private static long number(Json.Members of, String name) {
    return Call.reading(() -> of.number(name));
  }

  @Test
  void stats_haveEachSecond_andGapsAsNull() {
    second();
    request("ip", "1.2.3.4", 8);
    second();
    admin.advance(Duration.ofSeconds(1));
    second();
    long from = now() - 4;
    Answer stats = admin.get("/stats?from=" + from + "&to=" + now()).is(200);
    assertThat(stats.text("node")).isEqualTo("n0");
    assertThat(stats.number("step")).isEqualTo(1);
    assertThat(stats.body()).contains("\"persistent\":false", "\"asked\":1,\"answered\":1");
    assertThat(column(stats, "time")).containsExactly(from, from + 1, from + 2, from + 3);
    assertThat(column(stats, "millis")).containsExactly(0L, 1_000L, 2_000L, 0L);
    assertThat(column(stats, "asked")).containsExactly(null, 8L, 0L, null);
    assertThat(column(stats, "refused")).containsExactly(null, 3L, 0L, null);
    Answer rule = admin.get("/stats?rule=shop.ip&from=" + from + "&to=" + now()).is(200);
    assertThat(column(rule, "asked")).containsExactly(null, 8L, 0L, null);
    assertThat(column(rule, "over")).containsExactly(null, 3L, 0L, null);
    assertThat(admin.get("/stats").is(200).number("step")).isEqualTo(1);
  }

  @Test
  void stats_refuseWhatMakesNoSense() {
    assertThat(admin.get("/stats?from=5&to=5").is(400).detail()).contains("before to");
    assertThat(admin.get("/stats?step=0").is(400).detail()).contains("1..86400");
    assertThat(admin.get("/stats?scope=some").is(400).detail()).contains("node or all");
    long to = now();
    Answer wide = admin.get("/stats?from=" + (to - 30 * 86_400) + "&to=" + to).is(200);
    assertThat(column(wide, "time")).hasSizeLessThanOrEqualTo(2_160);
    assertThat(admin.get("/stats?step=1&from=" + (to - 86_400)).is(400).detail())
        .contains("at most 2160");
    assertThat(admin.get("/top?by=size").is(400).detail()).contains("refused or asked");
  }

  @Test
  void rules_areSorted_mostRefusedFirst_withTheirCourse() {
    second();
    request("user", "alice", 50);
    request("ip", "1.2.3.4", 8);
    second();
    Answer rules = admin.get("/stats/rules?points=10").is(200);
    assertThat(texts(rules, "rules", "rule")).containsExactly("shop.ip", "shop.user");
    assertThat(texts(rules, "rules", "policy")).containsExactly("shop.ip", "user-minute");
    Json.Members ip = rules.objects("rules").get(0);
    assertThat(number(ip, "asked")).isEqualTo(8);
    assertThat(number(ip, "over")).isEqualTo(3);
    assertThat(rules.number("millis")).isEqualTo(1_000);
    assertThat(rules.body()).contains("\"spark\"");
    assertThat(admin.get("/stats/rules?points=0").body()).doesNotContain("spark");
  }

  @Test
  void top_isMasked_andTheRefIsThatOfTheRefusal() {
    request("ip", "192.0.2.77", 9);
    request("ip", "198.51.100.4", 6);
    admin.advance(Duration.ofSeconds(2));
    Answer top = admin.get("/top").is(200);
    assertThat(top.body()).doesNotContain("192.0.2.77");
    assertThat(texts(top, "keys", "text"))
        .first()
        .asString()
        .matches("ip=192\\.0\\.2\\.0/24\u00b7[0-9a-f]{4}");
    assertThat(number(top.objects("keys").get(0), "count")).isEqualTo(4);
    assertThat(number(top.objects("keys").get(0), "at_most_too_high_by")).isZero();
    String ref = texts(top, "keys", "ref").get(0);
    Answer refusals = admin.get("/refusals?ref=" + ref).is(200);
    assertThat(texts(refusals, "refusals", "ref")).hasSize(4).containsOnly(ref);
    assertThat(texts(admin.get("/top?limit=1"), "keys", "ref")).containsExactly(ref);
    assertThat(texts(admin.get("/top?rule=shop.user"), "keys", "ref")).isEmpty();
  }

  @Test
  void refusal_saysWhy_andIsFoundByRuleAndSubject() {
    request("user", "alice", 103);
    request("ip", "1.2.3.4", 7);
    Answer all = admin.get("/refusals").is(200);
    assertThat(texts(all, "refusals", "rule"))
        .containsExactly("shop.ip", "shop.ip", "shop.user", "shop.user", "shop.user");
    assertThat(all.number("came")).isEqualTo(5);
    Answer alice = admin.get("/refusals?subject=alice").is(200);
    assertThat(alice.objects("refusals")).hasSize(3);
    Json.Members one = alice.objects("refusals").get(0);
    assertThat(number(one, "limit")).isEqualTo(100);
    assertThat(number(one, "window_seconds")).isEqualTo(60);
    assertThat(number(one, "revision")).isEqualTo(1);
    assertThat(number(one, "stands_for")).isEqualTo(1);
    assertThat(number(one, "retry_after_millis")).isPositive();
    assertThat(texts(alice, "refusals", "reason")).containsOnly("over_limit");
    assertThat(texts(alice, "refusals", "origin")).containsOnly("rule");
    assertThat(alice.body()).doesNotContain("alice").contains("al\u2026e\u00b7");
    assertThat(admin.get("/refusals?subject=ALICE").objects("refusals")).isEmpty();
    assertThat(admin.get("/refusals?rule=shop.ip").objects("refusals")).hasSize(2);
    assertThat(admin.get("/refusals?reason=uncertain").objects("refusals")).isEmpty();
  }

  @Test
  void pages_goOnWhereTheyEnded() {
    request("user", "alice", 125);
    List<Long> numbers = new ArrayList<>();
    String before = "";
    for (int i = 0; i < 3; i++) {
      Answer page = admin.get("/refusals?limit=10" + before).is(200);
      page.objects("refusals").forEach(each -> numbers.add(number(each, "number")));
      before = page.body().contains("\"next\"") ? "&before=" + page.number("next") : "none";
    }
    assertThat(before).isEqualTo("none");
    assertThat(numbers)
        .hasSize(25)
        .doesNotHaveDuplicates()
        .isSortedAccordingTo(Comparator.reverseOrder());
  }

  @Test
  void reveal_showsOneKey_andWritesItDown() {
    request("ip", "192.0.2.77", 6);
    String ref = texts(admin.get("/refusals"), "refusals", "ref").get(0);
    String body = "{'ref':'" + ref + "','reason':'ticket 4712'}";
    admin.send("POST", "/reveal").by(admin.editor).json(body).now().is(403);
    Answer shown = admin.send("POST", "/reveal").by(admin.operator).json(body).now().is(200);
    assertThat(shown.text("text")).isEqualTo("ip=192.0.2.77");
    List<Change> noted = admin.changes("reveal");
    assertThat(noted).hasSize(1);
    assertThat(noted.get(0).toString()).contains("ticket 4712", ref).doesNotContain("192.0.2.77");
    String none = "{'ref':'0123456789abcdef','reason':'ticket 4712'}";
    admin.send("POST", "/reveal").by(admin.operator).json(none).now().is(404);
    String noReason = "{'ref':'" + ref + "'}";
    admin.send("POST", "/reveal").by(admin.operator).json(noReason).now().is(400);
    assertThat(admin.changes("reveal")).hasSize(1);
  }

  @Test
  void secretOfTheInstallation_isMadeOnce_andNotInTheLog() {
    request("ip", "192.0.2.77", 6);
    String first = texts(admin.get("/top"), "keys", "ref").get(0);
    KeyText other = new KeyText(new InstallationSecret(admin.store), ShowKeys.HASHED);
    assertThat(other.ref(admin.insight.refusals().after(0).get(0).key())).isEqualTo(first);
    assertThat(other.text(admin.insight.refusals().after(0).get(0).key()))
        .matches("ip=#[0-9a-f]{16}");
    List<Change> made = admin.changes(InstallationSecret.KIND);
    assertThat(made).hasSize(1);
    String secret = new String(new InstallationSecret(admin.store).get(), StandardCharsets.UTF_8);
    assertThat(made.get(0).toString()).doesNotContain(secret);
    assertThat(admin.send("GET", "/audit").by(admin.viewer).now().body()).doesNotContain(secret);
  }

  @Test
  void withoutHotKeys_topSaysSo() {
    AdminFixture without =
        new AdminFixture(
            store -> store,
            builder ->
                builder.observed(
                    new Observations(
                        AdminFixture.withoutKeys(), ShowKeys.PLAIN, "n0", () -> 1, Runnable::run)),
            new MemoryStore());
    Answer top = without.get("/top").is(200);
    assertThat(top.body()).contains("\"enabled\":false", "\"keys\":[]");
  }

  @Test
  void hostileText_isEscaped() {
    request("ip", "<script>alert(1)</script>", 6);
    assertThat(admin.get("/refusals").is(200).body()).doesNotContain("<s");
    assertThat(admin.get("/top").is(200).body()).doesNotContain("<s");
  }
}
