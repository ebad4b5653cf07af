package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of the commands with a server in a separate process, with an embedded store. */
class AdminProcessTest {
  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(60);

  @TempDir private Path folder;
  private Path rules = Path.of("");
  private String data = "";
  private String token = "";

  @BeforeEach
  void write() throws IOException {
    rules = Files.createDirectory(folder.resolve("rules"));
    Files.writeString(rules.resolve("shop.yaml"), AdminServer.RULES);
    data = folder.resolve("data").toString();
    token = folder.resolve("token").toString();
  }

  private Ran admin(Served served, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(
        List.of(
            "--server",
            "http://127.0.0.1:" + served.adminPort(),
            "--token-file",
            token,
            "--timeout",
            "60"));
    Ran ran = Ran.weir(all.toArray(new String[0]));
    assertThat(ran.status()).as(ran.err()).isZero();
    return ran;
  }

  private static Ran check(Served served, String user) {
    return Ran.weir(
        "check",
        "--url",
        "http://127.0.0.1:" + served.httpPort(),
        "--domain",
        "shop",
        "--descriptor",
        "user=" + user,
        "--permits",
        "0",
        "--timeout",
        "60");
  }

  /** Waits until a server's decision is as expected. */
  private static void awaitLimit(Served served, String user, String expected) {
    long begin = Ticker.system().nanos();
    String last = "";
    while (!last.contains(expected)) {
      assertThat(Ticker.system().nanos() - begin).as(last).isLessThan(DEADLINE_NANOS);
      last = check(served, user).out();
    }
  }

  @Test
  void firstTokenToVerifiedAudit_worksOverAServer() throws Exception {
    Ran first =
        Ran.weir("tokens", "create", "--data-dir", data, "--name", "me", "--role", "operator");
    assertThat(first.status()).as(first.err()).isZero();
    assertThat(first.err()).startsWith("weir: --data-dir: " + data + " was not there, made\n");
    Files.writeString(Path.of(token), first.out());
    Path records = folder.resolve("records.csv");
    Files.writeString(
        records, "domain,key,value,plan,rule,requests_per_unit\nshop,user,alice,gold,,\n");

    try (Served served =
        Served.serve(List.of(), List.of(), Main.class, "--data-dir", data, "--admin-port", "0")) {
      Ran inUse = Ran.weir("tokens", "list", "--data-dir", data);
      assertThat(inUse.status()).isEqualTo(3);
      assertThat(inUse.err())
          .contains(
              "in use by process " + served.process().handle().pid(), "use --server URL instead");

      Ran push = admin(served, "rules", "push", rules.toString(), "--reason", "first", "--wait");
      assertThat(push.out()).contains("revision 1: in the store");
      assertThat(push.err()).isEqualTo("every live server has it\n");
      awaitLimit(served, "bert", "q=100;w=60");

      admin(served, "limits", "import", records.toString(), "--reason", "customers");
      awaitLimit(served, "alice", "q=1000;w=60");
      admin(
          served,
          "limits",
          "set",
          "shop",
          "user",
          "al/ice 2",
          "--limit",
          "user-minute=7",
          "--reason",
          "a sale",
          "--wait");
      awaitLimit(served, "al/ice 2", "q=7;w=60");
      assertThat(admin(served, "limits", "list", "shop", "user").out())
          .contains("al/ice 2", "user-minute=7", "alice", "gold");

      Files.writeString(rules.resolve("shop.yaml"), AdminServer.RULES.replace("100,", "50,"));
      admin(served, "rules", "push", rules.toString(), "--reason", "fewer");
      awaitLimit(served, "bert", "q=50;w=60");
      admin(served, "rules", "rollback", "1", "--reason", "too few");
      awaitLimit(served, "bert", "q=100;w=60");
      assertThat(admin(served, "rules", "log").out().lines()).hasSize(4);
      assertThat(admin(served, "audit").out()).contains("rules r3: too few", ": a sale");
      assertThat(admin(served, "audit", "--verify").out()).startsWith("ok: ");

      served.process().terminate();
      assertThat(served.process().endsWithin(Duration.ofMinutes(1))).isTrue();
    }

    Ran verify = Ran.weir("audit", "--data-dir", data, "--verify");
    assertThat(verify.status()).as(verify.err()).isZero();
    assertThat(verify.out()).startsWith("ok: ");
    assertThat(Ran.weir("tokens", "list", "--data-dir", data).out()).contains("operator  me ");
  }
}
