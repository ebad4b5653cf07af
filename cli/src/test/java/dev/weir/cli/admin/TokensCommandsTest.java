package dev.weir.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.Role;
import dev.weir.cli.AdminServer;
import dev.weir.cli.Ran;
import dev.weir.cli.SharedStores;
import dev.weir.cli.command.JsonObject;
import dev.weir.config.ConfigStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of {@code weir tokens}, with a server and without one. */
class TokensCommandsTest {
  private static final String TOKEN = "weir_[a-z0-9]{8}_[A-Za-z0-9_-]{43}\n";

  @TempDir private Path folder;
  private AdminServer server;

  @BeforeEach
  void start() throws IOException {
    server = new AdminServer(folder);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static Ran offline(String store, String... arguments) {
    String[] all = Arrays.copyOf(arguments, arguments.length + 2);
    all[arguments.length] = "--config-store";
    all[arguments.length + 1] = "shared:" + store;
    return Ran.weir(all);
  }

  private static String id(String token) {
    return token.substring(5, 13);
  }

  @Test
  void create_writesTheTokenAloneToStandardOutput() throws Exception {
    Ran ran = server.weir("tokens", "create", "--name", "ann b", "--role", "viewer");
    assertThat(ran.status()).isZero();
    assertThat(ran.out()).matches(TOKEN);
    assertThat(ran.err())
        .matches("token [a-z0-9]{8}: viewer until \\S+; keep it: it is not shown again\n");
    Path file = Files.writeString(folder.resolve("ann"), ran.out());
    Ran used = Ran.weir("rules", "log", "--server", server.url(), "--token-file", file.toString());
    assertThat(used.status()).as(used.err()).isZero();
  }

  @Test
  void create_wrongly_isSaid() {
    Ran role = server.weir("tokens", "create", "--name", "ann", "--role", "boss");
    assertThat(role.status()).isEqualTo(2);
    assertThat(role.err()).contains("--role: boss (expected: viewer, editor or operator)");
    Ran ttl =
        server.weir("tokens", "create", "--name", "a", "--role", "viewer", "--expires", "400d");
    assertThat(ttl.status()).isEqualTo(2);
    assertThat(ttl.err()).contains("--expires: 400d (expected: 1m..366d");
    Ran name = server.weir("tokens", "create", "--name", "n".repeat(101), "--role", "viewer");
    assertThat(name.status()).isEqualTo(1);
    assertThat(name.err()).startsWith("weir: name: ").contains("1..100 bytes");
    Ran editor = server.as(Role.EDITOR, "tokens", "create", "--name", "a", "--role", "viewer");
    assertThat(editor.status()).isEqualTo(3);
    assertThat(editor.err()).isEqualTo("weir: role: editor (expected: operator)\n");
    assertThat(role.out() + ttl.out() + name.out() + editor.out()).isEmpty();
  }

  @Test
  void revoke_endsAToken_andListShowsThoseThatAreLeft() throws Exception {
    Ran made = server.weir("tokens", "create", "--name", "ann", "--role", "viewer", "--json");
    String token = JsonObject.read(made.out()).text("token");
    Ran list = server.weir("tokens", "list");
    assertThat(list.out()).startsWith("ID ").contains("viewer    ann ", "operator (");
    assertThat(list.out()).doesNotContain(token.substring(14));
    assertThat(server.weir("tokens", "list", "--json").out().lines()).hasSize(4);

    Ran whole = server.weir("tokens", "revoke", token, "--reason", "ann left");
    assertThat(whole.status()).isEqualTo(2);
    assertThat(whole.err()).contains("its id").doesNotContain(token);
    Ran revoke = server.weir("tokens", "revoke", id(token), "--reason", "ann left");
    assertThat(revoke.err()).isEmpty();
    assertThat(revoke.out()).isEqualTo("token " + id(token) + ": revoked\n");
    Ran again = server.weir("tokens", "revoke", id(token), "--reason", "ann left");
    assertThat(again.status()).isEqualTo(1);
    assertThat(again.err()).startsWith("weir: token: ");

    Path file = Files.writeString(folder.resolve("ann"), token);
    Ran used = Ran.weir("rules", "log", "--server", server.url(), "--token-file", file.toString());
    assertThat(used.status()).isEqualTo(3);
    assertThat(used.err())
        .startsWith("weir: ")
        .contains("(expected: a token of 'weir tokens create'")
        .doesNotContain(token);
  }

  @Test
  void storeWithoutServer_makesListsAndRevokes() throws Exception {
    Ran made = offline("tokens", "tokens", "create", "--name", "me", "--role", "operator");
    assertThat(made.status()).as(made.err()).isZero();
    assertThat(made.out()).matches(TOKEN);
    assertThat(made.err()).contains(": operator until ");
    ConfigStore store = SharedStores.of("tokens");
    assertThat(store.changes(0, 1).get(0).details().cause().reason())
        .isEqualTo("token for me, operator");
    Files.createDirectory(folder.resolve("second"));
    try (AdminServer second = new AdminServer(folder.resolve("second"), store)) {
      Path file = Files.writeString(folder.resolve("mine"), made.out());
      Ran used =
          Ran.weir("tokens", "list", "--server", second.url(), "--token-file", file.toString());
      assertThat(used.status()).as(used.err()).isZero();
      Ran list = offline("tokens", "tokens", "list");
      assertThat(list.out()).contains("me ", "user ").doesNotContain("hash");
      assertThat(list.out().lines()).hasSize(5);
      assertThat(offline("tokens", "tokens", "list", "--json").out()).doesNotContain("hash");
    }
    Ran revoke =
        offline("tokens2", "tokens", "revoke", "abcdefgh", "--reason", "not needed any more");
    assertThat(revoke.status()).isEqualTo(1);
    assertThat(revoke.err()).contains("ID: abcdefgh (expected: one that 'weir tokens list' shows)");
    Ran mine = offline("tokens3", "tokens", "create", "--name", "me", "--role", "viewer");
    assertThat(
            offline("tokens3", "tokens", "revoke", id(mine.out()), "--reason", "no more").status())
        .isZero();
    assertThat(offline("tokens3", "tokens", "list").out()).isEqualTo("no tokens\n");
  }

  @Test
  void storeThatAServerHasOpen_isOneLine() {
    Ran ran = offline("busy", "tokens", "create", "--name", "me", "--role", "operator");
    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.out()).isEmpty();
    assertThat(ran.err())
        .isEqualTo(
            "weir: --config-store: data: in use by process 7 (expected: one server a folder); if a running server"
                + " has it open, use --server URL instead\n");
  }

  @Test
  void flagsForStores_thatDoNotFit_areSaid() throws Exception {
    Ran both = Ran.weir("tokens", "list", "--config-store", "shared:a", "--server", "http://h");
    assertThat(both.status()).isEqualTo(2);
    assertThat(both.err()).contains("--config-store: given with flags for a server");
    Ran two = Ran.weir("tokens", "list", "--config-store", "shared:a", "--data-dir", "d");
    assertThat(two.err()).contains("--data-dir: given with --config-store");
    Ran memory = offline("x", "tokens", "list", "--json");
    assertThat(memory.status()).isZero();
    assertThat(Ran.weir("tokens", "list", "--config-store", "memory:").err())
        .contains("--config-store: memory: (expected: a store that does not end");
    assertThat(Ran.weir("tokens", "list", "--config-store", "nowhere:x").err())
        .contains("configuration store: nowhere:x (expected: ", " or memory: or ");
    Ran none = Ran.weir("tokens", "list", "--data-dir", folder.resolve("none").toString());
    assertThat(none.status()).isEqualTo(3);
    assertThat(none.err()).contains("--data-dir: " + folder.resolve("none") + " is no folder");
    assertThat(Ran.weir("tokens", "list", "--config-store-password-file", "f").err())
        .contains("given alone (expected: with --config-store URI)");
  }

  @Test
  void passwordOfAStore_isReadFromItsFile() throws Exception {
    Path file = Files.writeString(folder.resolve("pw"), SharedStores.PASSWORD + "\nmore\n");
    String[] list = {"tokens", "list", "--config-store-password-file", file.toString()};
    assertThat(offline("locked", list).status()).isZero();
    Files.writeString(file, "other\n");
    Ran wrong = offline("locked", list);
    assertThat(wrong.status()).isEqualTo(3);
    assertThat(wrong.err()).isEqualTo("weir: --config-store: shared:locked: wrong password\n");
    Files.writeString(file, "");
    assertThat(offline("locked", list).status()).isEqualTo(2);
  }
}
