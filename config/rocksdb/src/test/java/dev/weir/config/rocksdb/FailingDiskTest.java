package dev.weir.config.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.Head;
import dev.weir.config.StoreAddress;
import dev.weir.testkit.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Writes and reads on a disk that refuses writes. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class FailingDiskTest {
  private static final long MIB = 1L << 20;

  @TempDir Path folder;

  /** A bound on the size of files makes the system refuse writes, like a full disk. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void refusedWrites_goOnInTheSameProcessOnceTheDiskWrites() throws Exception {
    long acknowledged = 0;
    try (ChildProcess writer = Writer.start(folder)) {
      for (int i = 0; i < 20; i++) {
        acknowledged = Long.parseLong(writer.line());
      }
      fileSize(writer, "1000");
      String line;
      do {
        line = writer.line();
        acknowledged = line.matches("[0-9]+") ? Long.parseLong(line) : acknowledged;
      } while (line.matches("[0-9]+"));
      assertThat(line).startsWith("UNAVAILABLE at ");
      assertThat(Long.parseLong(line.substring("UNAVAILABLE at ".length())))
          .isGreaterThanOrEqualTo(acknowledged);
      fileSize(writer, "unlimited");
      do {
        line = writer.line();
        assertThat(line).matches("[0-9]+|UNAVAILABLE at [0-9]+");
      } while (!line.matches("[0-9]+"));
      assertThat(Long.parseLong(line)).isGreaterThan(acknowledged);
      for (int i = 0; i < 20; i++) {
        acknowledged = Long.parseLong(writer.line());
      }
      writer.kill();
    }
    try (ConfigStore store = ConfigStores.open("rocksdb:" + folder + "?min-free=1MB")) {
      Head head = Contents.verify(store);
      assertThat(head.position()).isGreaterThanOrEqualTo(acknowledged);
    }
  }

  private static void fileSize(ChildProcess writer, String bytes) throws Exception {
    String pid = Long.toString(writer.handle().pid());
    ChildProcess.of("prlimit", "--pid", pid, "--fsize=" + bytes + ":").run();
  }

  @Test
  void tooLittleFreeSpace_isRefusedBeforeItIsWritten() {
    FreeSpace usual = FreeSpace.usual(folder);
    usual.require(256 * MIB, 1_000 * MIB);
    usual.require(500 * MIB, 10_000 * MIB);
    assertFull(() -> usual.require(255 * MIB, 1_000 * MIB));
    assertFull(() -> usual.require(499 * MIB, 10_000 * MIB));
    FreeSpace.atLeast(folder, MIB).require(MIB, 1L << 50);
    assertFull(() -> FreeSpace.atLeast(folder, MIB).require(MIB - 1, MIB));
  }

  @Test
  void diskNearlyFull_refusesWritesWhileReadsGoOn() {
    Head head;
    try (ConfigStore store = ConfigStores.open("rocksdb:" + folder + "?min-free=1MB")) {
      Writer.write(store, 1);
      head = store.head();
    }
    // More than any disk has. The store reads existing rows, and creates nothing.
    String full = "?min-free=999999MB";
    assertFull(() -> ConfigStores.open("rocksdb:" + folder.resolve("new") + full));
    try (ConfigStore store = ConfigStores.open("rocksdb:" + folder + full)) {
      assertFull(() -> Writer.write(store, 2));
      assertThat(Contents.verify(store)).isEqualTo(head);
    }
  }

  private static void assertFull(Runnable require) {
    assertThatThrownBy(require::run)
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.FULL))
        .hasMessageContaining("MiB free of");
  }

  @Test
  void folderThatCannotBeMade_isRefused() throws Exception {
    Path file = Files.createFile(folder.resolve("file"));
    assertThatThrownBy(() -> ConfigStores.open("rocksdb:" + file))
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.UNAVAILABLE))
        .hasMessageContaining("(expected: a folder that can be written)");
  }

  @Test
  void badAddresses_areRefused() {
    for (String address :
        List.of(
            "rocksdb:",
            "rocksdb:d?cache=1GB",
            "rocksdb:d?cache=0MB",
            "rocksdb:d?min-free=x",
            "rocksdb:d?recover=yes",
            "rocksdb:d?other=1",
            "rocksdb:a\0b")) {
      assertThatIllegalArgumentException()
          .as(address)
          .isThrownBy(() -> ConfigStores.open(address))
          .withMessageContaining("(expected: ");
    }
    RocksSettings usual = RocksSettings.of(StoreAddress.parse("rocksdb:d", ""));
    assertThat(usual).isEqualTo(new RocksSettings(Path.of("d"), 64 * MIB, 0, false));
  }
}
