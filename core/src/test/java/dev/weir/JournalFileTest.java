package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalFileTest {
  private static final int BYTES = 1 << 16;

  @TempDir private Path folder;

  private static void write(JournalFile file, int records) {
    for (int i = 0; i < records; i++) {
      file.write(file.claim(3), Journal.head(Journal.BUCKET, 1, 0), 7, i, i);
    }
  }

  /** A flush of what the file had before must not stand for what it has in its next use. */
  @Test
  @SuppressWarnings("ThreadPriorityCheck") // The flush is to run at this place, in most uses.
  void fileThatIsUsedAgainDuringAFlush_isFlushedAgain() throws Exception {
    JournalFile file =
        JournalFile.create(folder.resolve("file"), BYTES, JournalFile.Flush.BEFORE_ANSWERS);
    for (int use = 1; use <= 3_000; use++) {
      file.begin(use, 1);
      write(file, 1_000);
      CompletableFuture<Boolean> flush = CompletableFuture.supplyAsync(file::force);
      Thread.yield();
      file.end();
      file.begin(-use, 1);
      flush.join();
      write(file, 1);
      assertThat(file.force()).as("use %s", use).isTrue();
      assertThat(file.force()).as("use %s, nothing new", use).isFalse();
      file.end();
    }
  }
}
