package dev.weir.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.Role;
import dev.weir.cli.AdminServer;
import dev.weir.cli.Ran;
import dev.weir.cli.SharedStores;
import dev.weir.cli.command.JsonObject;
import dev.weir.config.Change;
import dev.weir.config.ConfigStore;
import dev.weir.config.ForwardingConfigStore;
import dev.weir.config.rows.Tree;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of {@code weir audit}, with a server and without one. */
class AuditCommandTest {
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

  @Test
  void changes_areShownNewestFirst_andFiltered() {
    server.weir("limits", "set", "shop", "user", "a/b", "--plan", "gold", "--reason", "sale, #1");
    Ran all = server.as(Role.VIEWER, "audit");
    assertThat(all.status()).as(all.err()).isZero();
    List<String> lines = all.out().lines().toList();
    assertThat(lines).hasSize(5);
    assertThat(lines.get(0))
        .startsWith("5  20")
        .contains("  operator (")
        .endsWith("  record shop/user/a%2Fb: sale, #1");
    assertThat(lines.get(1)).startsWith("4  ").endsWith("  bob  rules r1: made elsewhere");
    assertThat(lines.get(4)).startsWith("1  ").contains("  token ");

    assertThat(server.weir("audit", "--kind", "token").out().lines()).hasSize(3);
    assertThat(server.weir("audit", "--actor", "operator").out().lines()).hasSize(1);
    assertThat(server.weir("audit", "--target", "r1").out().lines()).hasSize(1);
    assertThat(server.weir("audit", "--after", "3", "--json").out().lines())
        .hasSize(2)
        .allMatch(line -> JsonObject.read(line).text("hash").length() == 64);
    Ran some = server.weir("audit", "--limit", "2");
    assertThat(some.out().lines()).hasSize(2);
    assertThat(some.err()).contains("more follow (expected: --before 4 to go on");
    assertThat(server.weir("audit", "--before", "4").out().lines()).hasSize(3);
    assertThat(server.weir("audit", "--limit", "0").status()).isEqualTo(2);
    assertThat(server.weir("audit", "--after", "-1").status()).isEqualTo(2);
    Ran wide = server.weir("audit", "--actor", "");
    assertThat(wide.status()).isZero();
  }

  @Test
  void verify_saysTheLastHash() {
    Ran ran = server.weir("audit", "--verify");
    assertThat(ran.status()).isZero();
    assertThat(ran.out())
        .isEqualTo("ok: 4 changes, the last with hash " + server.store.head().hash() + "\n");
    assertThat(JsonObject.read(server.weir("audit", "--verify", "--json").out()).isTrue("ok"))
        .isTrue();
    Ran viewer = server.as(Role.VIEWER, "audit", "--verify");
    assertThat(viewer.status()).isEqualTo(3);
    assertThat(viewer.err()).isEqualTo("weir: role: viewer (expected: operator)\n");
  }

  @Test
  void storeWithoutServer_showsAndVerifiesTheSame() {
    ConfigStore store = SharedStores.of("audit");
    store.commit(
        0,
        Tree.of(Map.of("shop.yaml", AdminServer.RULES)),
        List.of(AdminServer.RULES),
        AdminServer.CAUSE);
    Ran ran = Ran.weir("audit", "--config-store", "shared:audit");
    assertThat(ran.err()).isEmpty();
    assertThat(ran.out()).startsWith("1  20").endsWith("  bob  rules r1: made elsewhere\n");
    assertThat(Ran.weir("audit", "--config-store", "shared:audit", "--actor", "al").out())
        .isEmpty();
    Ran verify = Ran.weir("audit", "--config-store", "shared:audit", "--verify");
    assertThat(verify.out())
        .isEqualTo("ok: 1 change, the last with hash " + store.head().hash() + "\n");
  }

  @Test
  void logThatWasRewritten_isFound() throws Exception {
    ConfigStore store = server.store;
    ConfigStore edited =
        new ForwardingConfigStore() {
          @Override
          protected ConfigStore delegate() {
            return store;
          }

          @Override
          public List<Change> changes(long after, int limit) {
            return edited(super.changes(after, limit));
          }
        };
    try (AdminServer bad = new AdminServer(folder, edited)) {
      Ran ran = bad.weir("audit", "--verify");
      assertThat(ran.status()).isEqualTo(1);
      assertThat(ran.out()).startsWith("change 2: edited; sound up to change 1 with hash ");
    }
  }

  private static List<Change> edited(List<Change> changes) {
    return changes.stream()
        .map(
            each ->
                each.number() == 2
                    ? new Change(2, each.json().replace("bob", "eve"), each.hash())
                    : each)
        .toList();
  }
}
