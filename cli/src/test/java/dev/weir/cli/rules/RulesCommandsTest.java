package dev.weir.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.Role;
import dev.weir.cli.AdminServer;
import dev.weir.cli.Main;
import dev.weir.cli.Ran;
import dev.weir.config.Node;
import dev.weir.config.Rollout;
import dev.weir.config.Rollouts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of {@code weir rules} over the administration interface. */
class RulesCommandsTest {
  private static final String OTHER =
      """
      domain: blog
      descriptors:
        - key: ip
          rate_limit: {unit: second, requests_per_unit: 5}
      """;

  @TempDir private Path folder;
  private AdminServer server;
  private Path rules;

  @BeforeEach
  void start() throws IOException {
    server = new AdminServer(folder);
    rules = Files.createDirectory(folder.resolve("rules"));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(rules.resolve(name), text);
  }

  private String read(String name) throws IOException {
    return Files.readString(rules.resolve(name));
  }

  private Ran push(String... more) {
    return weir("push", more, "--reason", "a test");
  }

  private Ran weir(String command, String[] more, String... last) {
    List<String> all = new ArrayList<>(List.of("rules", command, rules.toString()));
    all.addAll(List.of(more));
    all.addAll(List.of(last));
    return server.weir(all.toArray(new String[0]));
  }

  private Ran pull(String... more) {
    return weir("pull", more);
  }

  private static void assertDone(Ran ran) {
    assertThat(ran.err()).isEmpty();
    assertThat(ran.status()).isZero();
  }

  @Test
  void push_firstTime_makesRevisionOne() throws Exception {
    write("shop.yaml", AdminServer.RULES);
    Ran ran = push();
    assertDone(ran);
    assertThat(ran.out())
        .contains("file shop.yaml: added\n", "domain shop: added\n", "revision 1: in the store\n");
    assertThat(server.store.revision(1).orElseThrow().reason()).isEqualTo("a test");
    assertThat(server.store.revision(1).orElseThrow().author()).startsWith("operator (");
    assertThat(push().out()).isEqualTo("revision 1: the store has these files already\n");
    assertThat(server.store.head().revision()).isEqualTo(1);
  }

  @Test
  void push_showsWhatChanges_andDeletesWhatIsGone() throws Exception {
    server.commit("shop.yaml", AdminServer.RULES);
    server.commit("old.yml", OTHER);
    write(
        "shop.yaml",
        AdminServer.RULES.replace("requests_per_unit: 100,", "requests_per_unit: 50,"));
    Ran dry = weir("push", new String[] {"--dry-run"});
    assertDone(dry);
    assertThat(dry.out())
        .contains(
            "file old.yml: deleted\n",
            "file shop.yaml: changed\n",
            "shop.user: 100 per minute -> 50 per minute\n",
            "revision 2: would change\n");
    assertThat(server.store.head().revision()).isEqualTo(2);

    Ran kept = push("--keep");
    assertDone(kept);
    assertThat(kept.out()).doesNotContain("old.yml").contains("revision 3: in the store");
    assertThat(server.store.revision(3).orElseThrow().tree().files())
        .containsOnlyKeys("old.yml", "shop.yaml");
    Ran all = push("--json");
    assertDone(all);
    assertThat(all.out())
        .isEqualTo(
            "{\"changed\":true,\"diff\":[\"file old.yml: deleted\",\"domain blog: removed\","
                + "\"blog.ip: removed, was 5 per second by sliding-window\"],\"revision\":4}\n");
    assertThat(server.store.revision(4).orElseThrow().tree().files()).containsOnlyKeys("shop.yaml");
  }

  @Test
  void push_byARollout_beginsWithSomeServers() throws Exception {
    server.commit("shop.yaml", AdminServer.RULES);
    write("shop.yaml", AdminServer.RULES + "# changed\n");
    Ran none = push("--rollout", "10%");
    assertThat(none.status()).isEqualTo(Main.FOUND);
    assertThat(none.err()).contains("no server is live");
    server.store.beat(Node.builder("n1").revision(1).position(1).build());
    Ran wrong = push("--rollout", "10");
    assertThat(wrong.status()).isEqualTo(Main.FOUND);
    assertThat(wrong.err()).contains("rollout: nodes: 10 (expected: such as 2%");
    Ran alone = push("--rollout-time", "5m");
    assertThat(alone.status()).isEqualTo(Main.USAGE);
    assertThat(alone.err()).contains("--rollout SHARE too");
    Ran begun = push("--rollout", "10%", "--rollout-time", "30s", "--max-refused-rise", "2%");
    assertDone(begun);
    assertThat(begun.out()).contains("revision 2: in the store, on 10% of the servers first\n");
    Rollout rollout = Rollouts.running(server.store).orElseThrow();
    assertThat(rollout.time()).isEqualTo(Duration.ofSeconds(30));
    assertThat(rollout.maxRise()).isEqualTo(200);
    write("shop.yaml", AdminServer.RULES);
    assertThat(push().err()).contains("that of revision 2 runs");
  }

  @Test
  void push_ofLargeFiles_isTaken() throws Exception {
    String comment = "# " + "x".repeat(90) + "\n";
    write("shop.yaml", comment.repeat(10_000) + AdminServer.RULES);
    write("blog.yaml", comment.repeat(10_000) + OTHER);
    assertDone(push());
    assertThat(server.store.revision(1).orElseThrow().tree().files()).hasSize(2);
  }

  @Test
  void push_problems_areShownAndNothingIsSent() throws Exception {
    write("shop.yaml", "domain: shop\ndescriptors:\n  - key: a\n    rate_limit: {unit: minut}\n");
    Ran ran = push();
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err()).contains(rules.resolve("shop.yaml") + ":4:", "minut", "error");
    assertThat(server.requests()).isEmpty();
    assertThat(server.store.head().revision()).isZero();
  }

  @Test
  void push_withFilesThatDoNotFitThoseThatAreKept_isRefused() throws Exception {
    server.commit("old.yml", AdminServer.RULES);
    write("shop.yaml", AdminServer.RULES);
    Ran ran = push("--keep");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err()).contains("shop.yaml:", "old.yml");
    assertThat(server.store.head().revision()).isEqualTo(1);
  }

  @Test
  void push_whileSomebodyElsePushes_saysWhoAndWhatToDo() throws Exception {
    server.commit("shop.yaml", AdminServer.RULES);
    write("shop.yaml", AdminServer.RULES);
    write("blog.yaml", OTHER);
    server.before("PATCH", () -> server.commit("more.yaml", OTHER));
    Ran ran = push();
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err())
        .startsWith("weir: conflict: revision 2 is by bob of ")
        .contains(
            ": made elsewhere; this command began with revision 1, and nothing was changed"
                + " (expected: 'weir rules diff DIR'");
    assertThat(server.store.head().revision()).isEqualTo(2);
  }

  @Test
  void push_withoutReason_isWrongUsage() throws Exception {
    write("shop.yaml", AdminServer.RULES);
    Ran none = server.weir("rules", "push", rules.toString());
    assertThat(none.status()).isEqualTo(2);
    assertThat(none.err()).contains("--reason: none (expected: why this is changed");
    Ran brief = server.weir("rules", "push", rules.toString(), "--reason", "x");
    assertThat(brief.status()).isEqualTo(2);
    assertThat(brief.err()).contains("--reason: \"x\" (expected: 3 to 500 characters");
  }

  @Test
  void push_ofAFileThatIsNone_isSaid() throws Exception {
    assertThat(push().err()).contains(rules + ": no rule file (expected: at least one *.yaml");
    Ran text =
        server.weir("rules", "push", rules.resolve("a.txt").toString(), "--reason", "a test");
    assertThat(text.status()).isEqualTo(2);
    assertThat(text.err()).contains("a.txt (expected: a file *.yaml or *.yml");
    Ran gone =
        server.weir("rules", "push", rules.resolve("a.yaml").toString(), "--reason", "a test");
    assertThat(gone.status()).isEqualTo(3);
    assertThat(gone.err()).contains("a.yaml: not there (expected: a file or folder to read)");
    Files.write(rules.resolve("b.yaml"), new byte[] {(byte) 0xc3, (byte) 0x28});
    Ran binary = push();
    assertThat(binary.status()).isEqualTo(1);
    assertThat(binary.err()).contains("b.yaml: no text in UTF-8");
  }

  @Test
  void push_asAViewer_isRefusedInTheServersWords() throws Exception {
    write("shop.yaml", AdminServer.RULES);
    Ran ran = server.as(Role.VIEWER, "rules", "push", rules.toString(), "--reason", "a test");
    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.err()).isEqualTo("weir: role: viewer (expected: editor)\n");
  }

  @Test
  void push_thatWaits_namesServersThatAreBehind() throws Exception {
    write("shop.yaml", AdminServer.RULES);
    server.before(
        "PATCH",
        () ->
            server.store.beat(
                Node.builder("n1")
                    .address("10.0.0.7")
                    .version("0.1")
                    .problems(List.of("shop.yaml:1:1 bad"))
                    .build()));
    Ran ran = push("--wait", "--timeout", "1");
    assertThat(ran.status()).isEqualTo(2); // The flag is given twice, by this test.
    Ran behind =
        Ran.weir(
            "rules",
            "push",
            rules.toString(),
            "--reason",
            "a test",
            "--wait",
            "--timeout",
            "1",
            "--server",
            server.url(),
            "--token-file",
            server.tokenFile(Role.EDITOR).toString());
    assertThat(behind.status()).isEqualTo(1);
    assertThat(behind.err())
        .contains(
            "weir: the change is made, but these servers do not have it yet:\n",
            "  n1, 10.0.0.7, has revision 0 and change 0; shop.yaml:1:1 bad\n");
    assertThat(behind.out()).contains("revision 1: in the store");

    write("blog.yaml", OTHER);
    server.store.beat(
        Node.builder("n1").address("10.0.0.7").version("0.1").revision(9).position(99).build());
    Ran all = push("--wait");
    assertThat(all.status()).isZero();
    assertThat(all.err()).isEqualTo("every live server has it\n");
  }

  @Test
  void pull_writesOnlyWhatDiffers() throws Exception {
    server.commit("shop.yaml", AdminServer.RULES);
    server.commit("blog.yaml", OTHER);
    Path made = rules.resolve("new");
    Ran first = server.weir("rules", "pull", made.toString());
    assertDone(first);
    assertThat(first.out())
        .isEqualTo("file blog.yaml: added\nfile shop.yaml: added\nrevision 2: in " + made + "\n");
    assertThat(Files.readString(made.resolve("blog.yaml"))).isEqualTo(OTHER);
    assertThat(server.weir("rules", "pull", made.toString()).out())
        .isEqualTo("revision 2: the folder has these files already\n");
    server.commit("blog.yaml", OTHER.replace("5", "6"));
    Ran second = server.weir("rules", "pull", made.toString(), "--json");
    assertThat(second.out())
        .isEqualTo("{\"deleted\":[],\"revision\":3,\"written\":[\"blog.yaml\"]}\n");
    try (var left = Files.list(made)) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("blog.yaml", "shop.yaml");
    }
  }

  @Test
  void pull_intoAFolderThatCannotBeMade_namesItOnce() throws Exception {
    server.commit("shop.yaml", AdminServer.RULES);
    Path below = Files.writeString(folder.resolve("file"), "").resolve("rules");
    Ran ran = server.weir("rules", "pull", below.toString());
    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.err())
        .isEqualTo(
            "weir: DIR: "
                + below
                + ": a part of the path is a file (expected: a folder that can be written)\n");
  }

  @Test
  void pull_leavesTheRightsOfFilesAsTheyWere() throws Exception {
    server.commit("shop.yaml", AdminServer.RULES);
    assertDone(pull());
    Path file = rules.resolve("shop.yaml");
    assertThat(Files.getPosixFilePermissions(file))
        .as("as of any new file")
        .isEqualTo(Files.getPosixFilePermissions(Files.createFile(rules.resolve("other"))));
    Set<PosixFilePermission> all = PosixFilePermissions.fromString("rw-rw-r--");
    Files.setPosixFilePermissions(file, all);
    server.commit("shop.yaml", AdminServer.RULES + "# changed\n");
    assertDone(pull());
    assertThat(Files.readString(file)).endsWith("# changed\n");
    assertThat(Files.getPosixFilePermissions(file)).isEqualTo(all);
  }

  @Test
  void pull_ofAnOldRevision_bringsItsFiles() throws Exception {
    server.commit("shop.yaml", AdminServer.RULES);
    server.commit("shop.yaml", OTHER);
    assertDone(pull("--revision", "1"));
    assertThat(read("shop.yaml")).isEqualTo(AdminServer.RULES);
    assertDone(pull());
    assertThat(read("shop.yaml")).isEqualTo(OTHER);
    Ran none = pull("--revision", "9");
    assertThat(none.status()).isEqualTo(1);
    assertThat(none.err()).startsWith("weir: ").contains("9");
  }

  @Test
  void pull_overAnEditedFile_isRefusedWithoutForce() throws Exception {
    server.commit("shop.yaml", AdminServer.RULES);
    server.commit("blog.yaml", OTHER);
    write("shop.yaml", "# edited\n" + AdminServer.RULES);
    Ran ran = pull();
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err())
        .contains("edited here and never pushed: shop.yaml; nothing was written", "--force");
    assertThat(rules.resolve("blog.yaml")).doesNotExist();
    assertThat(read("shop.yaml")).startsWith("# edited");
    assertDone(pull("--force"));
    assertThat(read("shop.yaml")).isEqualTo(AdminServer.RULES);
  }

  @Test
  void pull_deletesNothingUnlessAsked() throws Exception {
    server.commit("shop.yaml", AdminServer.RULES);
    write("mine.yaml", OTHER);
    write("notes.txt", "mine");
    Ran left = pull();
    assertDone(left);
    assertThat(left.out()).contains("file mine.yaml: not in the store, left alone");
    Ran refused = pull("--delete");
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).contains("never pushed: mine.yaml");
    Ran done = pull("--delete", "--force");
    assertDone(done);
    assertThat(done.out()).contains("file mine.yaml: deleted");
    assertThat(rules.resolve("mine.yaml")).doesNotExist();
    assertThat(rules.resolve("notes.txt")).exists();
  }

  @Test
  void pull_beforeAnythingWasPushed_isSaid() {
    Ran ran = pull();
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err()).contains("the store has no rules yet");
  }

  @Test
  void diff_showsWhatAPushWouldChange_orWhatRevisionsChanged() throws Exception {
    server.commit("shop.yaml", AdminServer.RULES);
    server.commit("shop.yaml", AdminServer.RULES.replace("100,", "70,"));
    write("shop.yaml", AdminServer.RULES.replace("100,", "50,"));

    Ran local = weir("diff", new String[0]);
    assertThat(local.status()).isEqualTo(1);
    assertThat(local.out())
        .isEqualTo("file shop.yaml: changed\nshop.user: 70 per minute -> 50 per minute\n");
    Ran newest = server.weir("rules", "diff");
    assertThat(newest.out()).contains("shop.user: 100 per minute -> 70 per minute\n");
    Ran back = server.weir("rules", "diff", "--from", "2", "--to", "1", "--text");
    assertThat(back.out())
        .contains(
            "shop.user: 70 per minute -> 100 per minute\n",
            "--- a/shop.yaml\n",
            "requests_per_unit: 70");
    Ran first = server.weir("rules", "diff", "--to", "1");
    assertThat(first.out()).contains("file shop.yaml: added\n");
    assertThat(weir("diff", new String[] {"--text"}).out()).contains("+++ b/shop.yaml\n");

    write("shop.yaml", AdminServer.RULES.replace("100,", "70,"));
    Ran same = weir("diff", new String[0]);
    assertDone(same);
    assertThat(same.out()).isEqualTo("no difference\n");
    Ran both = weir("diff", new String[] {"--to", "1"});
    assertThat(both.status()).isEqualTo(2);
  }

  @Test
  void log_listsRevisionsNewestFirst() {
    assertThat(server.weir("rules", "log").out()).isEqualTo("no revisions yet\n");
    for (int i = 1; i <= 130; i++) {
      server.commit("shop.yaml", AdminServer.RULES.replace("100,", i + ","));
    }
    Ran some = server.as(Role.VIEWER, "rules", "log", "--limit", "2");
    assertThat(some.out().lines()).hasSize(3);
    assertThat(some.out().lines().skip(1).findFirst().orElse(""))
        .startsWith("130 ")
        .contains("  bob ", "  made elsewhere");
    Ran all = server.weir("rules", "log", "--limit", "1000", "--json");
    assertThat(all.out().lines()).hasSize(130);
    assertThat(all.out().lines().reduce((first, last) -> last).orElse(""))
        .contains("\"revision\":1,");
    assertThat(server.weir("rules", "log", "--limit", "0").status()).isEqualTo(2);
  }

  @Test
  void rollback_makesANewRevisionWithTheOldFiles() {
    server.commit("shop.yaml", AdminServer.RULES);
    server.commit("shop.yaml", AdminServer.RULES.replace("100,", "70,"));
    Ran dry = server.weir("rules", "rollback", "1", "--dry-run");
    assertThat(dry.out()).contains("70 per minute -> 100 per minute", "revision 2: would change");
    Ran ran = server.weir("rules", "rollback", "1", "--reason", "too strict");
    assertDone(ran);
    assertThat(ran.out())
        .contains(
            "shop.user: 70 per minute -> 100 per minute\n",
            "revision 3: has the rules of revision 1\n");
    assertThat(server.store.revision(3).orElseThrow().tree())
        .isEqualTo(server.store.revision(1).orElseThrow().tree());
    assertThat(server.weir("rules", "rollback", "1", "--reason", "too strict").out())
        .isEqualTo("revision 3: has these files already\n");
    assertThat(server.weir("rules", "rollback", "9", "--reason", "too strict").status())
        .isEqualTo(1);
    server.before("POST", () -> server.commit("more.yaml", OTHER));
    Ran late = server.weir("rules", "rollback", "2", "--reason", "too lax");
    assertThat(late.status()).isEqualTo(1);
    assertThat(late.err()).contains("conflict: revision 4 is by bob");
  }
}
