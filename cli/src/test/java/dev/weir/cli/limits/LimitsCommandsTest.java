package dev.weir.cli.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.Role;
import dev.weir.cli.AdminServer;
import dev.weir.cli.Ran;
import dev.weir.cli.command.JsonObject;
import dev.weir.config.OwnLimit;
import dev.weir.config.RecordWrite;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A test of {@code weir limits} for single customers, and for lists of them. */
class LimitsCommandsTest {
  @TempDir private Path folder;
  private AdminServer server;

  @BeforeEach
  void start() throws IOException {
    server = new AdminServer(folder);
    server.commit("shop.yaml", AdminServer.RULES);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Ran limits(String command, String value, String... more) {
    List<String> all = new ArrayList<>(List.of("limits", command));
    all.addAll(List.of(more));
    all.addAll(List.of("--", "shop", "user", value));
    return server.as(Role.EDITOR, all.toArray(new String[0]));
  }

  private Ran set(String value, String... more) {
    List<String> all = new ArrayList<>(List.of(more));
    all.addAll(List.of("--reason", "a test"));
    return limits("set", value, all.toArray(new String[0]));
  }

  private SubjectRecord stored(String value) {
    Subject subject = new Subject("shop", "user", value);
    return Objects.requireNonNull(server.store.records(List.of(subject)).found().get(subject));
  }

  private void put(String value, SubjectRecord record) {
    server.store.write(List.of(RecordWrite.put(record, RecordWrite.ANY)), AdminServer.CAUSE);
    assertThat(record.subject().value()).isEqualTo(value);
  }

  private static SubjectRecord plan(String value, String plan) {
    return SubjectRecord.ofPlan(new Subject("shop", "user", value), plan);
  }

  @Test
  void set_mergesWithWhatIsThere() {
    Ran first =
        set(
            "alice",
            "--plan",
            "gold",
            "--limit",
            "user-minute=1_000,burst=20,window=1m,until=2030-01-31T00:00:00Z");
    assertThat(first.err()).isEmpty();
    assertThat(first.status()).isZero();
    assertThat(first.out())
        .startsWith("shop user \"alice\", version ")
        .contains(
            "  plan gold\n",
            "  limit user-minute=1000,burst=20,window=1m,until=2030-01-31T00:00:00Z\n");
    OwnLimit limit =
        new OwnLimit(
            "user-minute",
            1_000,
            Duration.ofMinutes(1),
            20L,
            Instant.parse("2030-01-31T00:00:00Z"));
    assertThat(stored("alice").limits()).containsExactly(limit);

    assertThat(set("alice", "--note", "owner: bob").status()).isZero();
    assertThat(stored("alice").note()).isEqualTo("owner: bob");
    assertThat(stored("alice").plan()).isEqualTo("gold");
    assertThat(stored("alice").limits()).containsExactly(limit);

    assertThat(set("alice", "--no-plan", "--limit", "user-minute=5").status()).isZero();
    assertThat(stored("alice").plan()).isEmpty();
    assertThat(stored("alice").limits()).containsExactly(OwnLimit.of("user-minute", 5));

    assertThat(set("alice", "--remove", "user-minute").status()).isZero();
    assertThat(stored("alice").limits()).isEmpty();
    Ran nothing = set("alice", "--note", "");
    assertThat(nothing.status()).isEqualTo(1);
    assertThat(nothing.err()).contains("nothing would be left (expected: 'weir limits delete'");
    Ran unknown = set("alice", "--remove", "user-minute");
    assertThat(unknown.status()).isEqualTo(1);
    assertThat(unknown.err()).contains("--remove: user-minute (expected: an own limit of");
  }

  @Test
  void set_ofWhatIsThereAlready_writesNothing() {
    put("alice", plan("alice", "gold"));
    long position = server.store.head().position();
    Ran ran = set("alice", "--plan", "gold");
    assertThat(ran.status()).isZero();
    assertThat(ran.out()).startsWith("shop user \"alice\", unchanged, version ");
    assertThat(server.store.head().position()).isEqualTo(position);
  }

  @Test
  void set_whileSomebodyElseWrites_isAConflict() {
    put("alice", plan("alice", "gold"));
    server.before("PUT", () -> put("alice", plan("alice", "silver")));
    Ran ran = set("alice", "--note", "mine");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err())
        .startsWith("weir: conflict: somebody else changed shop user \"alice\" meanwhile");
    assertThat(stored("alice").plan()).isEqualTo("silver");

    server.before("PUT", () -> put("bert", plan("bert", "silver")));
    assertThat(set("bert", "--plan", "gold").err()).startsWith("weir: conflict: ");
    server.before("DELETE", () -> put("bert", plan("bert", "gold")));
    Ran delete = limits("delete", "bert", "--reason", "a test");
    assertThat(delete.status()).isEqualTo(1);
    assertThat(delete.err()).contains("conflict: ", "nothing was deleted");
    assertThat(stored("bert").plan()).isEqualTo("gold");
  }

  @Test
  void set_ofWhatTheRulesDoNotKnow_saysSo() {
    Ran ran = set("alice", "--plan", "silver", "--limit", "nothing=3");
    assertThat(ran.status()).isZero();
    assertThat(ran.err())
        .contains(
            "weir: has no effect now: plan: silver", "weir: has no effect now: rule: nothing");
  }

  @Test
  void set_wrongly_isWrongUsage() {
    for (List<String> wrong :
        List.of(
            List.of("--limit", "user-minute", "RULE=N[,burst=N]"),
            List.of("--limit", "user-minute=-1", "RULE=N[,burst=N]"),
            List.of("--limit", "user-minute=4294967296", "0..4294967295"),
            List.of("--limit", "user-minute=1,burst=", "--limit: burst"),
            List.of("--limit", "user-minute=1,window=1", "--limit: window"),
            List.of("--limit", "user-minute=1,until=soon", "--limit: until: soon"),
            List.of("--limit", "user-minute=1,until=1d,until=2d", "until once"),
            List.of("--plan", "", "a plan, or --no-plan"))) {
      Ran ran = set("alice", wrong.get(0), wrong.get(1));
      assertThat(ran.status()).as("%s", wrong).isEqualTo(2);
      assertThat(ran.err()).as("%s", wrong).contains(wrong.get(2));
    }
    assertThat(set("alice").err()).contains("change: none (expected: --plan, --no-plan");
    assertThat(limits("set", "alice", "--plan", "gold").err()).contains("--reason: none");
    assertThat(set("alice", "--limit", "a=1", "--limit", "a=2").err()).contains("each rule once");
    assertThat(server.requests()).isEmpty();
  }

  @Test
  void set_ofAValueThatTheServerRefuses_showsItsWords() {
    Ran ran = set("alice", "--plan", "p".repeat(300));
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err()).startsWith("weir: plan: 300 bytes (expected: ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a/b",
        "two words",
        "100%",
        "%2F",
        "ünïcødé 🎉",
        "a+b&c=d?e#f",
        "..",
        ".",
        "@alice",
        "-rf",
        "\"quoted\"",
        "line\nfeed",
        "${env:HOME}",
        "<script>"
      })
  void value_ofAnyText_isQuoted(String value) {
    Ran set = set(value, "--plan", "gold");
    assertThat(set.status()).as(set.err()).isZero();
    assertThat(stored(value).plan()).isEqualTo("gold");
    Ran get = limits("get", value, "--json");
    assertThat(get.status()).isZero();
    assertThat(JsonObject.read(get.out()).text("value")).isEqualTo(value);
    assertThat(limits("get", value).out()).contains("  plan gold\n").doesNotContain("line\nfeed");
    assertThat(limits("delete", value, "--reason", "a test").status()).isZero();
    Ran gone = limits("get", value);
    assertThat(gone.status()).isEqualTo(1);
    assertThat(gone.err()).startsWith("weir: record: ");
  }

  @Test
  void delete_ofNothing_isSaid() {
    Ran ran = limits("delete", "alice", "--reason", "a test");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err()).startsWith("weir: record: alice (expected: ");
    Ran viewer =
        server.as(
            Role.VIEWER, "limits", "set", "shop", "user", "a", "--note", "x", "--reason", "a test");
    assertThat(viewer.status()).isEqualTo(3);
    assertThat(viewer.err()).isEqualTo("weir: role: viewer (expected: editor)\n");
  }

  @Test
  void list_showsPages_withPrefixAndPlan() {
    for (int i = 0; i < 2_500; i++) {
      String value = "u%04d".formatted(i);
      put(value, plan(value, i % 2 == 0 ? "gold" : "silver"));
    }
    put("v", SubjectRecord.ofLimits(new Subject("shop", "user", "v"), OwnLimit.of("r", 3)));
    Ran first = server.as(Role.VIEWER, "limits", "list", "shop", "user");
    assertThat(first.out().lines()).hasSize(1 + 1_000);
    assertThat(first.err()).contains("more follow (expected: --after 'u0999' to go on");
    Ran all = server.weir("limits", "list", "shop", "user", "--limit", "9999", "--json");
    assertThat(all.err()).isEmpty();
    assertThat(all.out().lines()).hasSize(2_501);
    Ran gold =
        server.weir(
            "limits", "list", "shop", "user", "--plan", "gold", "--limit", "9999", "--json");
    assertThat(gold.out().lines()).hasSize(1_250);
    Ran prefix = server.weir("limits", "list", "shop", "user", "--prefix", "v");
    assertThat(prefix.out()).isEqualTo("VALUE  PLAN  LIMITS  NOTE\nv      -     r=3     -\n");
    Ran after = server.weir("limits", "list", "shop", "user", "--after", "u2498", "--json");
    assertThat(after.out().lines()).hasSize(2);
    assertThat(server.weir("limits", "list", "shop", "ip").err()).isEqualTo("weir: no records\n");
  }

  @Test
  void export_isWhatImportReads() throws Exception {
    for (int i = 0; i < 1_200; i++) {
      put("u" + i, plan("u" + i, "gold"));
    }
    Path file = folder.resolve("all.ndjson");
    Ran export = server.weir("limits", "export", file.toString());
    assertThat(export.status()).isZero();
    assertThat(export.err()).isEqualTo("1200 records in " + file + "\n");
    assertThat(Files.readAllLines(file)).hasSize(1_200);
    Ran some = server.weir("limits", "export", file.toString(), "--domain", "shop", "--key", "ip");
    assertThat(some.err()).isEqualTo("0 records in " + file + "\n");
    assertThat(server.weir("limits", "export", file.toString(), "--key", "ip").status())
        .isEqualTo(2);
    Ran editor = server.as(Role.EDITOR, "limits", "export", file.toString());
    assertThat(editor.status()).isEqualTo(3);
    assertThat(editor.err()).isEqualTo("weir: role: editor (expected: operator)\n");
    assertThat(file).isEmptyFile(); // The last whole export is still there.
  }
}
