package dev.weir.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TextTableTest {
  @Test
  void columns_areAsWideAsTheirLongestTextAndAligned() {
    List<String[]> rows =
        List.of(new String[] {"key", "count", "note"}, new String[] {"a-long-key", "7", ""});

    assertThat(TextTable.of("  ", rows, "lrl"))
        .isEqualTo("  key         count  note\n  a-long-key      7\n");
  }

  @Test
  void width_isCountedInCharactersThatAreSeen() {
    List<String[]> rows = List.of(new String[] {"\uD83D\uDE00", "b"}, new String[] {"aa", "b"});

    assertThat(TextTable.of("", rows, "ll")).isEqualTo("\uD83D\uDE00   b\naa  b\n");
  }
}
