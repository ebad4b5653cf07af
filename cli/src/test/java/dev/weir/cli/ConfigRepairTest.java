package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cli.command.JsonObject;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.Head;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of commands on an embedded store, and of {@code weir config repair}. */
class ConfigRepairTest {
  @TempDir private Path folder;
  private String data = "";
  private Head head;

  ConfigRepairTest() {
    head = new Head("", 0, 0, "0".repeat(64));
  }

  @BeforeEach
  void write() {
    data = folder.resolve("data").toString();
    try (ConfigStore store = open()) {
      for (int i = 0; i < 20; i++) {
        store.log("test", "{\"number\":" + i + "}", AdminServer.CAUSE);
      }
      head = store.head();
    }
  }

  private ConfigStore open() {
    return ConfigStores.open("rocksdb:" + data);
  }

  private void damage() throws IOException {
    Path log;
    try (var files = Files.list(Path.of(data, "config"))) {
      List<Path> logs =
          files
              .filter(file -> file.toString().endsWith(".log") && file.toFile().length() > 0)
              .sorted(Comparator.naturalOrder())
              .toList();
      assertThat(logs).isNotEmpty();
      log = logs.get(logs.size() - 1);
    }
    byte[] bytes = Files.readAllBytes(log);
    bytes[bytes.length / 2] ^= 1;
    Files.write(log, bytes);
  }

  @Test
  void storeThatIsWhole_staysAsItIs() {
    Ran ran = Ran.weir("config", "repair", "--data-dir", data);
    assertThat(ran.status()).as(ran.err()).isZero();
    assertThat(ran.out())
        .isEqualTo(
            "not damaged, nothing was dropped\nok: 20 changes, the last with hash "
                + head.hash()
                + "; revision 0 of the rules\n");
  }

  @Test
  void damagedLog_isRefused_andRepaired() throws Exception {
    damage();
    Ran refused = Ran.weir("tokens", "list", "--data-dir", data);
    assertThat(refused.status()).isEqualTo(3);
    assertThat(refused.err())
        .startsWith("weir: --data-dir: " + data)
        .contains("is damaged", "'weir config repair --data-dir DIR' does that");
    Ran repaired = Ran.weir("config", "repair", "--data-dir", data);
    assertThat(repaired.status()).as(repaired.err()).isZero();
    assertThat(repaired.out())
        .contains(
            "was refused: " + data,
            "what could not be read at the end of the log was dropped\n",
            "ok: ",
            "changes that were made after that one are lost\n");
    Ran audit = Ran.weir("audit", "--data-dir", data, "--verify", "--json");
    assertThat(audit.status()).isZero();
    assertThat(JsonObject.read(audit.out()).number("up_to")).isBetween(1L, 19L);
    assertThat(
            JsonObject.read(Ran.weir("config", "repair", "--data-dir", data, "--json").out())
                .text("damage"))
        .isEmpty();
  }

  @Test
  void storeThatIsInUse_isOneLine() {
    try (ConfigStore store = open()) {
      for (String[] command :
          new String[][] {
            {"tokens", "list", "--data-dir", data},
            {"audit", "--data-dir", data},
            {"config", "repair", "--data-dir", data}
          }) {
        Ran ran = Ran.weir(command);
        assertThat(ran.status()).isEqualTo(3);
        assertThat(ran.err())
            .startsWith("weir: --data-dir: " + data)
            .endsWith("if a running server has it open, use --server URL instead\n");
        assertThat(ran.err().lines()).hasSize(1);
      }
      assertThat(store.head()).isEqualTo(head);
    }
  }

  @Test
  void folderThatCannotBeMade_isNamedOnceWithItsFlag() throws Exception {
    Path below = Files.writeString(folder.resolve("file"), "").resolve("data");
    Ran ran =
        Ran.weir(
            "tokens", "create", "--name", "n", "--role", "viewer", "--data-dir", below.toString());
    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.err())
        .isEqualTo(
            "weir: --data-dir: "
                + below
                + ": a part of the path is a file (expected: a folder that can be written)\n");
  }

  @Test
  void folderThatIsNotThere_isNotMade() {
    Path none = folder.resolve("none");
    Ran ran = Ran.weir("config", "repair", "--data-dir", none.toString());
    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.err()).contains("--data-dir: " + none + " is no folder");
    assertThat(none).doesNotExist();
  }
}
