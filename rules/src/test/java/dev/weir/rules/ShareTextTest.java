package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShareTextTest {
  @ParameterizedTest
  @CsvSource({
    "0,0",
    "0%,0",
    "1,1000000",
    "100%,1000000",
    "29%,290000",
    "0.29,290000",
    "0.1%,1000",
    "0.000001,1",
    "0.0001%,1",
    "0.5000000,500000",
    "150%,1500000",
  })
  void text_isExactMillionths(String text, long millionths) {
    assertThat(ShareText.parse(text)).isEqualTo(millionths);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "%",
        "-1%",
        "+1%",
        "1 %",
        ".5",
        "1.",
        "1e-2",
        "0.0000001",
        "0.00001%",
        "\u0661%"
      })
  void otherText_isNoShare(String text) {
    assertThat(ShareText.parse(text)).isEqualTo(-1);
  }

  @Test
  void everyMillionth_isReadAsItIsWritten() {
    for (long millionths = 0; millionths <= ShareText.WHOLE; millionths += 7) {
      assertThat(ShareText.read("share", ShareText.format(millionths))).isEqualTo(millionths);
    }
    assertThat(ShareText.format(250_000)).isEqualTo("25%");
  }

  @Test
  void moreThanAll_isRefusedByName() {
    assertThatThrownBy(() -> ShareText.read("--denied", "101%"))
        .hasMessage("--denied: 101% (expected: 0..1 or 0%..100%)");
  }
}
