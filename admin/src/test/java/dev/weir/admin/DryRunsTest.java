package dev.weir.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.AdminFixture.Answer;
import dev.weir.config.Json;
import dev.weir.rules.Request;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class DryRunsTest {
  private static final String LOWER =
      "{'rules':{'put':{'shop.yaml':'"
          + AdminFixture.RULES
              .replace("requests_per_unit: 100,", "requests_per_unit: 3,")
              .replace("\n", "\\n")
          + "'}},'minutes':10}";

  private final AdminFixture admin = new AdminFixture();

  private void asks(String user, int times) {
    for (int i = 0; i < times; i++) {
      admin.ticker.advance(1_000_000);
      admin.traffic.add(Request.of("shop", "user", user));
    }
  }

  private Answer start(String body) {
    return admin.send("POST", "/dry-runs").by(admin.editor).json(body).now();
  }

  @Test
  void lowerLimit_isTriedAndShown() throws IOException {
    asks("mallory.example", 10);
    Answer started = start(LOWER).is(202);
    String id = admin.ended(started.text("id"));
    assertThat(started.field("Location")).isEqualTo("/admin/v1/dry-runs/" + id);
    Answer shown = admin.get("/dry-runs/" + id).is(200);
    assertThat(shown.text("state")).isEqualTo("done");
    assertThat(shown.body()).doesNotContain("mallory");
    Json.Members summary = shown.json().object("summary");
    assertThat(summary.object("before").number("refused")).isZero();
    assertThat(summary.object("after").number("refused")).isEqualTo(7);
    assertThat(summary.object("after").number("asked")).isEqualTo(10);
    Json.Members key = summary.objects("refused_more").get(0);
    assertThat(key.text("key")).matches("user=ma\u2026e\u00b7[0-9a-f]{4}");
    assertThat(key.number("after")).isEqualTo(7);
    assertThat(key.text("path")).isEqualTo("shop.user");
    // The rules have not changed.
    assertThat(admin.get("/rules").number("revision")).isEqualTo(1);
    assertThat(admin.engine.revision()).isEqualTo(1);
  }

  @Test
  void report_isAPageWithoutScriptsAndValues() {
    asks("mallory.example", 10);
    String id = admin.ended(start(LOWER).is(202).text("id"));
    Answer page = admin.get("/dry-runs/" + id + "/report").is(200);
    assertThat(page.field("Content-Type")).isEqualTo("text/html; charset=utf-8");
    assertThat(page.field("Content-Security-Policy"))
        .contains("default-src 'none'", "sandbox", "frame-ancestors 'self'")
        .doesNotContain("script-src", "*");
    assertThat(page.body()).contains("Before and after", "Refused more often");
    assertThat(page.body()).doesNotContain("mallory", "<script");
  }

  @Test
  void recordAlone_isTried() throws IOException {
    asks("alice", 10);
    String body =
        "{'records':[{'domain':'shop','key':'user','value':'alice',"
            + "'limits':[{'rule':'user-minute','requests_per_unit':4}]}]}";
    String id = admin.ended(start(body).is(202).text("id"));
    Json.Members summary = admin.get("/dry-runs/" + id).json().object("summary");
    assertThat(summary.object("before").number("refused")).isZero();
    assertThat(summary.object("after").number("refused")).isEqualTo(6);
  }

  @Test
  void nothingRecorded_isAConflict() {
    assertThat(start(LOWER).is(409).detail()).startsWith("traffic: no request");
  }

  @Test
  void serverThatDoesNotRecord_saysHow() {
    AdminFixture silent = AdminFixture.withoutDryRuns();
    Answer answer = silent.send("POST", "/dry-runs").by(silent.editor).json(LOWER).now().is(409);
    assertThat(answer.detail()).contains("--record-traffic 1h");
    silent.get("/dry-runs/0123").is(404);
    silent.get("/dry-runs/0123/report").is(404);
    silent.send("DELETE", "/dry-runs/0123").by(silent.editor).now().is(404);
  }

  @Test
  void brokenRules_areProblems() {
    asks("alice", 1);
    Answer answer = start("{'rules':{'put':{'shop.yaml':'domain: ['}}}").is(422);
    assertThat(answer.objects("problems")).isNotEmpty();
    start("{'rules':{'delete':['none.yaml']}}").is(422);
    start("{'rules':{'delete':['shop.yaml']}}").is(422);
    assertThat(start("{}").is(422).detail()).contains("no change");
    assertThat(start("{'records':[],'minutes':61}").is(422).detail()).contains("minutes: ");
    start("{'records':[],'minutes':0}").is(422);
    start("{'rulez':{}}").is(400);
  }

  @Test
  void recordsThatTheRulesDoNotKnow_areProblems() {
    asks("alice", 1);
    String alice = "{'domain':'shop','key':'user','value':'alice'";
    assertThat(start("{'records':[" + alice + ",'plan':'silver'}]}").is(422).list("problems"))
        .hasSize(1);
    assertThat(start("{'records':[" + alice + "}," + alice + "}]}").is(422).list("problems"))
        .containsExactly("shop/user/alice twice (expected: each subject once)");
    String burst = alice + ",'limits':[{'rule':'user-minute','requests_per_unit':1,'burst':1}]}";
    assertThat(start("{'records':[" + burst + "]}").is(422).list("problems")).hasSize(1);
    start("{'records':[{'domain':'shop'}]}").is(400);
  }

  @Test
  void cancel_forgetsWhatHasEnded() {
    asks("alice", 1);
    String id = admin.ended(start(LOWER).is(202).text("id"));
    admin.send("DELETE", "/dry-runs/" + id).by(admin.editor).now().is(204);
    admin.get("/dry-runs/" + id).is(404);
    admin.send("DELETE", "/dry-runs/" + id).by(admin.editor).now().is(404);
  }
}
