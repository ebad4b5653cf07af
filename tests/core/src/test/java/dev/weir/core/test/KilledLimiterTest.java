package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weir.MemoryStore;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Trials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of limiters whose store has a folder, in processes that are killed and started again. */
class KilledLimiterTest {
  /** More than any window of a limiter admits. */
  private static final int MANY = 40;

  @TempDir private Path folder;

  /** Elsewhere each process counts as the first one of a boot. */
  @BeforeEach
  void bootIdIsThere() {
    assumeTrue(Files.isReadable(Path.of("/proc/sys/kernel/random/boot_id")));
  }

  /** Starts a limiter with the quotas of the README's first example, and 15 a day. */
  private ChildProcess start() throws IOException {
    return start("10", "100", "15");
  }

  private ChildProcess start(String second, String minute, String day) throws IOException {
    ChildProcess started =
        ChildProcess.java(LimiterProcess.class, counts().toString(), second, minute, day).start();
    started.await("open");
    return started;
  }

  private Path counts() {
    return folder.resolve("counts");
  }

  private static int admitted(ChildProcess process, int requests) throws IOException {
    process.write("request " + requests + "\n");
    return Integer.parseInt(process.line());
  }

  @Test
  void killedLimiter_admitsExactlyTheRestOfTheDay() throws IOException {
    try (ChildProcess first = start()) {
      assertThat(admitted(first, 10)).isEqualTo(10);
      first.kill();
    }
    try (ChildProcess second = start()) {
      assertThat(admitted(second, 3)).isEqualTo(3);
      second.kill();
    }
    try (ChildProcess third = start()) {
      assertThat(admitted(third, MANY)).isEqualTo(2);
    }
  }

  @Test
  void limiterThatHalts_admitsExactlyTheRestOfTheDay() throws IOException {
    try (ChildProcess first = start()) {
      assertThat(admitted(first, 10)).isEqualTo(10);
      first.write("halt\n");
      assertThat(first.endsWithin(Duration.ofMinutes(1))).isTrue();
      assertThat(first.exitStatus()).isEqualTo(3);
    }
    try (ChildProcess second = start()) {
      assertThat(admitted(second, MANY)).isEqualTo(5);
    }
  }

  @Test
  void limiterKilledUnderLoad_missesNoAdmissionThatWasAnswered() throws IOException {
    int daily = 30_000;
    String all = Integer.toString(daily);
    int threads = 3;
    SplittableRandom random = Trials.numbers("kills under load");
    int answered = 0;
    int kills = 5;
    Trials.report("kills under load", kills);
    for (int i = 0; i < kills; i++) {
      try (ChildProcess process = start(all, all, all)) {
        process.write("load " + threads + "\n");
        for (int lines = random.nextInt(1, 3_000); lines > 0; lines--) {
          process.await("admitted");
        }
        process.kill();
        answered += (int) process.output().lines().filter("admitted"::equals).count();
      }
    }
    try (ChildProcess last = start(all, all, all)) {
      last.write("load " + threads + "\n");
      last.await("refused");
      int rest = (int) last.output().lines().filter("admitted"::equals).count();
      assertThat(answered + rest)
          .as(
              "-Dweir.seed=%s: those answered; each thread may have died before it answered",
              Trials.SEED)
          .isBetween(daily - kills * threads, daily);
    }
  }

  @Test
  void closedLimiter_goesOnWithoutAJournal() throws IOException {
    try (ChildProcess first = start()) {
      assertThat(admitted(first, 10)).isEqualTo(10);
      first.write("close\n");
      first.await("closed");
      assertThat(counts().resolve("running")).doesNotExist();
      assertThat(counts().resolve("limits.kept")).doesNotExist();
      assertThat(counts().resolve("limits.image")).exists();
    }
    try (ChildProcess second = start()) {
      assertThat(admitted(second, MANY)).isEqualTo(5);
    }
  }

  @Test
  void secondStoreOnAFolder_isRefused() throws IOException {
    try (ChildProcess first = start();
        MemoryStore own = MemoryStore.builder().journal(folder.resolve("own")).build()) {
      String inUse = ": in use by another server or store (expected: a folder for each)";
      assertThatThrownBy(() -> MemoryStore.builder().journal(counts()).build())
          .isInstanceOf(IOException.class)
          .hasMessage(counts() + inUse);
      assertThatThrownBy(() -> MemoryStore.builder().journal(folder.resolve("own")).build())
          .isInstanceOf(IOException.class)
          .hasMessage(folder.resolve("own") + inUse);
      assertThat(own.keys()).isZero();
      assertThat(admitted(first, MANY)).isEqualTo(15);
      first.write("close\n");
      first.await("closed");
      try (MemoryStore next = MemoryStore.builder().journal(counts()).build()) {
        assertThat(next.keys()).isEqualTo(3);
      }
    }
  }

  @Test
  void folderThatIsAFile_isRefusedWithItsName() throws IOException {
    Files.writeString(counts(), "text");
    assertThatThrownBy(() -> MemoryStore.builder().journal(counts()).build())
        .isInstanceOf(IOException.class)
        .hasMessageContaining(counts().toString());
  }
}
