package dev.weir.config.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.Head;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Trials;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Databases of killed processes, and a second process that opens one too early. */
@Tag("live")
@Tag("sample")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class KilledTest {
  @TempDir Path folder;

  private ConfigStore open() {
    return ConfigStores.open("rocksdb:" + folder + "?min-free=1MB");
  }

  @Test
  void killedWhileItWrites_keepsWhatItAcknowledgedAndNoHalfBatch() throws Exception {
    // The third round is the first that kills the process while it starts.
    int rounds = Trials.unseeded("killed while it writes", Trials.runs(5, 9));
    SplittableRandom random = new SplittableRandom(198);
    Head before = null;
    for (int round = 0; round < rounds; round++) {
      long acknowledged;
      try (ChildProcess writer = Writer.start(folder)) {
        int lines = random.nextInt(25); // Zero kills the process while it starts.
        for (int i = 0; i < lines; i++) {
          writer.line();
        }
        writer.kill();
        acknowledged = writer.output().lines().mapToLong(Long::parseLong).max().orElse(0);
      }
      try (ConfigStore store = open()) {
        Head head = Contents.verify(store);
        assertThat(head.position()).as("round %d", round).isGreaterThanOrEqualTo(acknowledged);
        if (before != null) {
          assertThat(head.store()).isEqualTo(before.store());
          assertThat(head.position()).isGreaterThanOrEqualTo(before.position());
        }
        before = head;
      }
    }
    assertThat(Objects.requireNonNull(before).position()).isGreaterThan(rounds);
  }

  @Test
  void folderInUseByAnotherProcess_isRefusedInOneLineThatNamesIt() throws Exception {
    try (ChildProcess writer = Writer.start(folder)) {
      assertThat(writer.line()).matches("[0-9]+");
      assertInUse("in use by process " + writer.handle().pid() + " (expected:");
      assertThat(writer.line()).matches("[0-9]+");
      writer.kill();
    }
    try (ConfigStore store = open()) {
      Contents.verify(store);
      assertInUse("open in this process already");
      Contents.verify(store);
    }
  }

  private void assertInUse(String message) {
    assertThatThrownBy(this::open)
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.IN_USE))
        .hasMessageStartingWith(folder.toString())
        .hasMessageContaining(message)
        .message()
        .hasLineCount(1);
  }

  @Test
  void nativeLibrary_isInTheFoldersOwnPlace() throws Exception {
    try (ChildProcess writer = Writer.start(folder)) {
      assertThat(writer.line()).matches("[0-9]+");
      try (var files = Files.list(folder.resolve("native"))) {
        assertThat(files.map(file -> String.valueOf(file.getFileName())))
            .anyMatch(name -> name.contains("rocksdbjni"));
      }
      writer.kill();
    }
  }
}
