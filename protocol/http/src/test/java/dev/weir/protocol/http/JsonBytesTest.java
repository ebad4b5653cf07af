package dev.weir.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonBytesTest {
  private static String written(String text) {
    return new String(JsonBytes.of(json -> json.writeString(text)), StandardCharsets.UTF_8);
  }

  @Test
  void text_isEscapedWhereJsonAsksForIt() {
    assertThat(written("a\"b\\c\n\u0001\u00e9\u2028"))
        .isEqualTo("\"a\\\"b\\\\c\\n\\u0001\u00e9\u2028\"");
  }

  @Test
  void halfOfASurrogatePair_isItsEscape() {
    assertThat(written("a\ud83dz")).isEqualToIgnoringCase("\"a\\ud83dz\"");
    assertThat(written("\ude00")).isEqualToIgnoringCase("\"\\ude00\"");
    assertThat(written("z\ud83d")).isEqualToIgnoringCase("\"z\\ud83d\"");
  }

  @Test
  void textLongerThanAnyBuffer_isWhole() {
    String text = "x".repeat(100_000);
    assertThat(written(text)).isEqualTo('"' + text + '"');
  }

  @Test
  void contentThatIsNoJson_isAnErrorAndLeavesNothingBehind() {
    assertThatThrownBy(() -> JsonBytes.of(json -> json.writeStringField("a", "b")))
        .isInstanceOf(UncheckedIOException.class);
    assertThat(written("next")).isEqualTo("\"next\"");
  }
}
