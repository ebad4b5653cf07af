package dev.weir.config.internal.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.engine.SubjectLimits;
import dev.weir.engine.SubjectLimits.OwnLimit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LastKnownSubjectsTest {
  private static final SubjectLimits OWN =
      new SubjectLimits("gold ä", Map.of("r", new OwnLimit(7, 99), "s", new OwnLimit(8)));

  @TempDir Path folder;

  private Path path() {
    return folder.resolve("last").resolve("known.subjects");
  }

  private LastKnownSubjects written() throws IOException {
    LastKnownSubjects file = new LastKnownSubjects(path());
    LastKnownSubjects.Content content = new LastKnownSubjects.Content("0123", 4, 5, 6);
    for (long i = 0; i < 40; i++) {
      content.add(i, i % 3 == 0 ? SubjectLimits.NONE : i % 3 == 1 ? OWN : plan(), (int) i);
    }
    file.write(content);
    return file;
  }

  private static SubjectLimits plan() {
    return new SubjectLimits("silver", Map.of());
  }

  @Test
  void content_isReadAsItWasWritten() throws IOException {
    assertThat(new LastKnownSubjects(path()).read()).isNull();
    LastKnownSubjects.Content read = Objects.requireNonNull(written().read());
    assertThat(read.store).isEqualTo("0123");
    assertThat(new long[] {read.seed0, read.seed1, read.wallNanos}).containsExactly(4, 5, 6);
    Map<Long, SubjectLimits> subjects = new HashMap<>();
    read.forEach(
        (of, limits, age) -> {
          assertThat((long) age).isEqualTo(of);
          subjects.put(of, limits);
        });
    assertThat(subjects).hasSize(40).containsEntry(39L, SubjectLimits.NONE);
    assertThat(subjects).containsEntry(1L, OWN).containsEntry(2L, plan());
  }

  @Test
  void anyOtherBytes_areRefused() throws IOException {
    LastKnownSubjects file = written();
    byte[] whole = Files.readAllBytes(path());
    for (int i = 0; i < whole.length; i++) {
      assertRefused(file, Arrays.copyOf(whole, i));
      byte[] flipped = whole.clone();
      flipped[i] ^= 0x10;
      assertRefused(file, flipped);
    }
    assertRefused(file, Arrays.copyOf(whole, whole.length + 1));
  }

  private void assertRefused(LastKnownSubjects file, byte[] bytes) throws IOException {
    Files.write(path(), bytes);
    assertThatThrownBy(file::read)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(path() + ": ");
  }

  @Test
  void ends_areShiftedAndNoEndStaysNone() {
    SubjectLimits shifted = LastKnownSubjects.shifted(OWN, 5);
    assertThat(shifted.own())
        .containsEntry("r", new OwnLimit(7, 104))
        .containsEntry("s", new OwnLimit(8));
    assertThat(shifted.plan()).isEqualTo("gold ä");
    assertThat(LastKnownSubjects.shifted(shifted, -5)).isEqualTo(OWN);
  }
}
