package dev.weir.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.admin.AdminFixture.Answer;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.PercentText;
import dev.weir.admin.internal.limits.LimitImport;
import dev.weir.admin.internal.rules.MergePatch;
import dev.weir.config.Node;
import dev.weir.config.RecordWrite;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LimitsTest {
  private static final String ALICE = "/limits/shop/user/alice";
  private static final String FULL =
      "{'plan':'gold','limits':[{'rule':'user-minute','requests_per_unit':500,'burst':500,"
          + "'window':'1m','until':'2027-12-01T00:00:00Z'}],'note':'VIP','reason':'a deal'}";

  private final AdminFixture admin = new AdminFixture();

  private Answer put(String path, String condition, String tag, String body) {
    return admin.send("PUT", path).by(admin.editor).field(condition, tag).json(body).now();
  }

  private Answer patch(String tag, String body) {
    return admin.send("PATCH", ALICE).by(admin.editor).field("If-Match", tag).json(body).now();
  }

  @Test
  void record_isPutAndReadWithItsVersion() {
    admin.get(ALICE).is(404);
    Answer made = put(ALICE, "If-None-Match", "*", FULL).is(201);
    Answer read = admin.get(ALICE).is(200);
    assertThat(read.body())
        .isEqualTo(made.body())
        .contains(
            "\"limits\":[{\"rule\":\"user-minute\",\"requests_per_unit\":500,\"burst\":500,"
                + "\"window\":\"1m\",\"until\":\"2027-12-01T00:00:00Z\"}],\"note\":\"VIP\"");
    assertThat(read.field("ETag")).isEqualTo("\"" + read.number("version") + "\"");
    assertThat(read.body()).doesNotContain("problems");
    put(ALICE, "If-None-Match", "*", FULL).is(412);
    String again = read.body().strip().replaceFirst("}$", ",\"reason\":\"again\"}");
    Answer replaced = put(ALICE, "If-Match", read.field("ETag"), again).is(200);
    assertThat(replaced.number("version")).isGreaterThan(read.number("version"));
    Answer stale = put(ALICE, "If-Match", read.field("ETag"), FULL).is(412);
    assertThat(stale.number("version")).isEqualTo(replaced.number("version"));
    put(ALICE, "If-Match", "*", FULL).is(200);
    put("/limits/shop/user/none", "If-Match", "*", FULL).is(412);
    assertThat(admin.changes("record").get(0).details().cause().reason()).isEqualTo("a deal");
  }

  @Test
  void writeWithoutCondition_isRefused() {
    put(ALICE, "X", "", FULL).is(428);
    put(ALICE, "If-None-Match", "\"1\"", FULL).is(400);
    admin
        .send("PUT", ALICE)
        .by(admin.editor)
        .field("If-Match", "*")
        .field("If-None-Match", "*")
        .json(FULL)
        .now()
        .is(400);
    admin.send("DELETE", ALICE + "?reason=test").by(admin.editor).now().is(428);
  }

  @Test
  void mergePatch_changesWhatItNames() {
    put(ALICE, "If-None-Match", "*", FULL).is(201);
    Answer changed = patch("*", "{'plan':null,'note':'was VIP','reason':'over'}").is(200);
    assertThat(changed.body()).doesNotContain("\"plan\"").contains("was VIP", "500");
    Answer none = patch("*", "{'limits':null,'reason':'over'}").is(200);
    assertThat(none.body()).contains("\"limits\":[]");
    patch("\"1\"", "{'limits':null,'reason':'over'}").is(412);
    patch("*", "{'limits':{'a':1},'reason':'over'}").is(400);
    patch("*", "{'other':1,'reason':'over'}").is(400);
    Answer typed =
        admin
            .send("PATCH", "/limits/shop/user/new")
            .by(admin.editor)
            .field("If-None-Match", "*")
            .field("Content-Type", "application/merge-patch+json")
            .bytes("{\"plan\":\"gold\",\"reason\":\"new\"}".getBytes(UTF_8))
            .now();
    assertThat(typed.is(201).text("plan")).isEqualTo("gold");
  }

  /** The examples of RFC 7396, appendix A, whose target and patch are objects. */
  @Test
  void mergePatch_isAsTheStandardSays() {
    String[][] examples = {
      {"{'a':'b'}", "{'a':'c'}", "{'a':'c'}"},
      {"{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}"},
      {"{'a':'b'}", "{'a':null}", "{}"},
      {"{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}"},
      {"{'a':['b']}", "{'a':'c'}", "{'a':'c'}"},
      {"{'a':'c'}", "{'a':['b']}", "{'a':['b']}"},
      {"{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}"},
      {"{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}"},
      {"{'e':null}", "{'a':1}", "{'e':null,'a':1}"},
      {"{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}"},
    };
    for (String[] example : examples) {
      Map<?, ?> target = object(example[0]);
      assertThat(MergePatch.apply(target, object(example[1]))).isEqualTo(object(example[2]));
    }
  }

  private static Map<?, ?> object(String text) {
    return Call.json(text.replace('\'', '"')).without(java.util.Set.of());
  }

  @Test
  void recordsThatMakeNoSense_areRefused() {
    put(
            ALICE,
            "If-None-Match",
            "*",
            "{'limits':[{'rule':'r','requests_per_unit':-1}],'reason':'abc'}")
        .is(422);
    put(
            ALICE,
            "If-None-Match",
            "*",
            "{'limits':[{'rule':'r','requests_per_unit':4294967296}],'reason':'abc'}")
        .is(422);
    put(
            ALICE,
            "If-None-Match",
            "*",
            "{'limits':[{'rule':'r','requests_per_unit':1,'window':'9999999999999w'}],'reason':'abc'}")
        .is(422);
    put(
            ALICE,
            "If-None-Match",
            "*",
            "{'limits':[{'rule':'r','requests_per_unit':1,'until':'soon'}],'reason':'abc'}")
        .is(422);
    put(
            ALICE,
            "If-None-Match",
            "*",
            "{'limits':[{'rule':'r','requests_per_unit':1,'x':1}],'reason':'abc'}")
        .is(400);
    put(ALICE, "If-None-Match", "*", "{'limits':[{'rule':'r'}],'reason':'abc'}").is(400);
    put(ALICE, "If-None-Match", "*", "{'limits':[1],'reason':'abc'}").is(400);
    put(ALICE, "If-None-Match", "*", "{'value':'bob','reason':'abc'}").is(422);
    put(ALICE, "If-None-Match", "*", "{'plan':'gold'}").is(400);
    put(ALICE, "If-None-Match", "*", "{'plan':'gold','reason':'ab'}").is(422);
    put("/limits/" + "x".repeat(1_025) + "/user/a", "If-None-Match", "*", FULL).is(400);
    assertThat(admin.changes("record")).isEmpty();
  }

  @Test
  void whatTheRulesDoNotKnow_isWarnedOf() {
    Answer unknown =
        put(
                ALICE,
                "If-None-Match",
                "*",
                "{'plan':'silver','limits':[{'rule':'none','requests_per_unit':1},"
                    + "{'rule':'shop.ip','requests_per_unit':1},"
                    + "{'rule':'user-minute','requests_per_unit':1,'window':'1h'}],'reason':'abc'}")
            .is(201);
    assertThat(unknown.list("problems"))
        .containsExactly(
            "plan: silver (expected: one of domain shop)",
            "rule: none (expected: the name of a rule in force)",
            "rule: shop.ip (expected: a rule with by: user)",
            "window: user-minute (expected: the rule's own window; another is not counted)");
    assertThat(put("/limits/none/user/a", "If-None-Match", "*", FULL).list("problems"))
        .containsExactly("domain: none (expected: one of the rules in force)");
  }

  @Test
  void deletion_needsAReasonAndAVersion() {
    put(ALICE, "If-None-Match", "*", FULL).is(201);
    admin.send("DELETE", ALICE).by(admin.editor).field("If-Match", "*").now().is(400);
    admin
        .send("DELETE", ALICE + "?reason=gone")
        .by(admin.editor)
        .field("If-Match", "\"1\"")
        .now()
        .is(412);
    admin
        .send("DELETE", ALICE)
        .by(admin.editor)
        .field("Weir-Reason", "gone home")
        .field("If-Match", admin.get(ALICE).field("ETag"))
        .now()
        .is(204);
    admin.get(ALICE).is(404);
    assertThat(admin.changes("record").get(1).details().cause().reason()).isEqualTo("gone home");
  }

  @Test
  void waiting_isForThePositionOfTheChange() {
    admin.store.beat(Node.builder("n1").revision(1).position(1).build());
    put(ALICE + "?wait=applied&timeout=1s", "If-None-Match", "*", FULL).is(202);
    admin.ticker.schedule(
        500_000_000L, () -> admin.store.beat(Node.builder("n1").revision(1).position(99).build()));
    put(ALICE + "?wait=applied", "If-Match", "*", FULL).is(200);
    admin
        .send("DELETE", ALICE + "?wait=applied&reason=gone")
        .by(admin.editor)
        .field("If-Match", "*")
        .now()
        .is(204);
  }

  private void fill(int count) {
    List<RecordWrite> writes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Subject subject = new Subject("shop", "user", "u%05d".formatted(i));
      writes.add(RecordWrite.put(SubjectRecord.ofPlan(subject, i % 7 == 0 ? "gold" : "free"), 0));
      if (writes.size() == 1_000 || i == count - 1) {
        admin.store.write(writes, AdminFixture.CAUSE);
        writes.clear();
      }
    }
  }

  private List<String> pages(String query) {
    List<String> values = new ArrayList<>();
    String after = "";
    while (true) {
      Answer page = admin.get("/limits?domain=shop&key=user" + query + after).is(200);
      page.objects("records")
          .forEach(record -> values.add(Call.reading(() -> record.text("value"))));
      if (!page.json().has("next")) {
        return values;
      }
      after = "&after=" + PercentText.encode(page.text("next"));
    }
  }

  @Test
  void pages_haveEveryRecordOnce() {
    fill(2_500);
    assertThat(pages("&limit=1000")).hasSize(2_500).doesNotHaveDuplicates();
    assertThat(pages("&limit=7&prefix=u001")).hasSize(100).doesNotHaveDuplicates();
    assertThat(pages("&limit=10&plan=gold")).hasSize(358).doesNotHaveDuplicates();
    assertThat(pages("&limit=1&plan=none")).isEmpty();
    admin.get("/limits?domain=shop").is(400);
    admin.get("/limits?domain=shop&key=user&limit=1001").is(400);
    admin.get("/limits?domain=&key=user").is(400);
  }

  private Answer load(String query, String body) {
    return admin
        .send("POST", "/limits/import?reason=nightly" + query)
        .by(admin.operator)
        .field("Content-Type", "application/x-ndjson")
        .bytes(body.getBytes(UTF_8))
        .now();
  }

  private Answer export(String query) {
    return admin.send("GET", "/limits/export" + query).by(admin.operator).now().is(200);
  }

  @Test
  void exportAndImport_areInverse() {
    fill(2_100);
    put("/limits/other/tenant/%0A", "If-None-Match", "*", FULL).is(201);
    Answer all = export("");
    assertThat(all.field("Content-Type")).isEqualTo("application/x-ndjson");
    assertThat(all.body().lines()).hasSize(2_101);
    assertThat(export("?domain=shop").body().lines()).hasSize(2_100);
    assertThat(export("?domain=other&key=tenant").body().lines()).hasSize(1);
    assertThat(export("?domain=none").body()).isEmpty();
    long before = admin.store.head().position();
    Answer same = load("", all.body()).is(200);
    assertThat(same.number("unchanged")).isEqualTo(2_101);
    assertThat(admin.store.head().position()).isEqualTo(before);
    String changed = all.body().replace("\"gold\"", "\"silver\"");
    assertThat(load("&dry_run=true", changed).is(200).number("written")).isEqualTo(301);
    assertThat(admin.store.head().position()).isEqualTo(before);
    Answer written = load("", changed).is(200);
    assertThat(written.number("written")).isEqualTo(301);
    assertThat(written.objects("problems").size()).isBetween(301, LimitImport.MAX_LISTED);
    assertThat(export("").body().replaceAll("\"version\":\\d+", ""))
        .isEqualTo(changed.replaceAll("\"version\":\\d+", ""));
  }

  @Test
  void badLines_areRefusedByTheirNumberAndOthersWritten() {
    String lines =
        """
        {"domain":"shop","key":"user","value":"a","plan":"gold"}

        {"domain":"shop","key":"user"}
        not json
        {"domain":"shop","key":"user","value":"a","plan":"free"}
        {"domain":"shop","key":"user","value":"b","limits":[{"rule":"r","requests_per_unit":-1}]}
        """;
    Answer answer = load("", lines).is(200);
    assertThat(answer.number("lines")).isEqualTo(6);
    assertThat(answer.number("records")).isEqualTo(2);
    assertThat(answer.number("refused")).isEqualTo(3);
    assertThat(answer.objects("refused_lines"))
        .extracting(line -> Call.reading(() -> line.number("line")))
        .containsExactly(3L, 4L, 6L);
    assertThat(admin.get("/limits/shop/user/a").text("plan")).isEqualTo("free");
    admin.send("POST", "/limits/import").by(admin.operator).json("").now().is(400);
  }

  @Test
  void importLargerThanABody_isRefused() {
    admin
        .send("POST", "/limits/import?reason=large")
        .by(admin.operator)
        .field("Content-Type", "application/x-ndjson")
        .bytes(new byte[AdminHandler.MAX_BODY_BYTES + 1])
        .now()
        .is(413);
    assertThat(load("", "x\n".repeat(100_000)).is(200).objects("refused_lines")).hasSize(1_000);
  }

  @Test
  void storeThatFailsInBetween_isSaidWithTheCounts() {
    FailingStore[] failing = new FailingStore[1];
    AdminFixture other =
        new AdminFixture(
            store -> failing[0] = new FailingStore(store), builder -> builder, new MemoryStore());
    other.get("/session").is(200);
    failing[0].full = true;
    Answer answer =
        other
            .send("POST", "/limits/import?reason=nightly")
            .by(other.operator)
            .json("{'domain':'shop','key':'user','value':'a','plan':'gold'}")
            .now()
            .is(507);
    assertThat(answer.number("written")).isZero();
  }

  @Test
  void importThatFails_saysFromWhichLineNothingIsWritten() {
    FailingStore[] failing = new FailingStore[1];
    AdminFixture late =
        new AdminFixture(
            store -> failing[0] = new FailingStore(store), builder -> builder, new MemoryStore());
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 1_500; i++) {
      lines.append("{\"domain\":\"shop\",\"key\":\"user\",\"value\":\"u");
      lines.append(i).append("\",\"plan\":\"gold\"}\n");
    }
    failing[0].full = true;
    Answer failed =
        late.send("POST", "/limits/import?reason=a+test")
            .by(late.operator)
            .field("Content-Type", "application/x-ndjson")
            .bytes(lines.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8))
            .now()
            .is(507);
    assertThat(failed.number("written")).isZero();
    assertThat(failed.body()).contains("import: ended before line 1,");
  }
}
