package dev.weir.config.internal.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LastKnownTest {
  private static final RuleTexts RULES =
      new RuleTexts(
          "0123", 7, new TreeMap<>(Map.of("a.yaml", "domain: ä \"😀\"\r\n\t#", "b.yml", "")));

  @TempDir Path folder;

  private Path file() {
    return folder.resolve("last").resolve("known");
  }

  @Test
  void rules_areReadAsTheyWereWritten() throws IOException {
    LastRules file = new LastRules(file());
    assertThat(file.read()).isNull();
    file.write(RULES);
    assertThat(file.read()).isEqualTo(RULES);
    RuleTexts others = new RuleTexts("4567", 8, new TreeMap<>(Map.of("c.yaml", "x")));
    file.write(others);
    assertThat(new LastRules(file()).read()).isEqualTo(others);
  }

  @Test
  void halfWrittenFile_leavesTheOneBefore() throws IOException {
    LastRules file = new LastRules(file());
    file.write(RULES);
    Files.writeString(folder.resolve("last").resolve("known.tmp"), "half");
    assertThat(file.read()).isEqualTo(RULES);
    file.write(RULES);
    assertThat(file.read()).isEqualTo(RULES);
  }

  @Test
  void anyOtherBytes_areRefusedWithTheRemedy() throws IOException {
    LastRules file = new LastRules(file());
    file.write(RULES);
    byte[] whole = Files.readAllBytes(file());
    for (int i = 0; i < whole.length; i++) {
      assertRefused(file, Arrays.copyOf(whole, i));
      byte[] flipped = whole.clone();
      flipped[i] ^= 0x10;
      assertRefused(file, flipped);
    }
    assertRefused(file, Arrays.copyOf(whole, whole.length + 1));
    assertRefused(file, new byte[whole.length]);
  }

  private void assertRefused(LastRules file, byte[] bytes) throws IOException {
    Files.write(file(), bytes);
    assertThatThrownBy(file::read)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(file() + ": ")
        .hasMessageContaining("(expected: as written; delete it to wait for the store)");
  }
}
