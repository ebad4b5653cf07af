package dev.weir.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MediaTypeTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`` | PROBLEM",
        "*/* | PROBLEM",
        "application/json | PROBLEM",
        "application/problem+json | PROBLEM",
        "application/vnd.api+json | PROBLEM",
        "application/* | PROBLEM",
        "text/plain | TEXT",
        "TEXT/Plain; charset=utf-8 | TEXT",
        "text/* | TEXT",
        "text/html | HTML",
        "application/xhtml+xml | HTML",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8 | HTML",
        "application/json, text/plain, */* | PROBLEM",
        "text/plain, application/json | TEXT",
        "text/plain;q=0.5, text/html;q=0.7 | HTML",
        "text/plain;q=0.5, text/html;q=0.501 | HTML",
        "text/html, */*;q=0.1 | HTML",
        "image/png | PROBLEM",
        "image/png, text/html;q=0.1 | HTML",
        "text/html;q=0 | PROBLEM",
        "text/html;q=0.0, text/plain;q=0.001 | TEXT",
        "application/json;q=0, */* | TEXT",
        "text/*, text/plain;q=0 | HTML",
        "*/*;q=0 | PROBLEM",
        "text/html;q=NaN, text/plain;q=0.1 | TEXT",
        "text/html;q=Infinity, text/plain;q=0.1 | TEXT",
        "text/html;q=2, text/plain;q=0.1 | TEXT",
        "text/html;q=1.001, text/plain;q=0.1 | TEXT",
        "text/html;q=1e0, text/plain;q=0.1 | TEXT",
        "text/html;q=0x1p3, text/plain;q=0.1 | TEXT",
        "text/html;q=-1, text/plain;q=0.1 | TEXT",
        "text/html;q=, text/plain;q=0.1 | TEXT",
        "text/html;q=0.1234, text/plain;q=0.01 | TEXT",
        "text/html;q=1.000, text/plain;q=0.1 | HTML",
        "text/html; Q=0.1, text/plain;q=0.5 | TEXT",
        "text/html;level=1;q=0.1, text/plain;q=0.5 | TEXT",
        "html, , ;, ;q=1, /, */, text/plain | TEXT",
        "text/html\u00a0 | PROBLEM",
      })
  void accept_choosesTheType(String accept, MediaType expected) {
    assertThat(MediaType.preferred(List.of(accept))).isEqualTo(expected);
  }

  @Test
  void absentAccept_isAProblemDocument() {
    assertThat(MediaType.preferred(List.of())).isEqualTo(MediaType.PROBLEM);
  }

  @Test
  void severalLines_areOneList() {
    assertThat(MediaType.preferred(List.of("image/png", "text/html;q=0.3", "text/plain;q=0.4")))
        .isEqualTo(MediaType.TEXT);
  }

  @Test
  void longAccept_isReadToABound() {
    String junk = "a/b,".repeat(16_384);
    assertThat(MediaType.preferred(List.of(junk + "text/html"))).isEqualTo(MediaType.PROBLEM);
    assertThat(MediaType.preferred(List.of("text/html," + junk))).isEqualTo(MediaType.HTML);
    List<String> lines = new ArrayList<>(Collections.nCopies(10_000, "a/b"));
    lines.add("text/html");
    assertThat(MediaType.preferred(lines)).as("lines").isEqualTo(MediaType.PROBLEM);
    for (String piece : List.of(",", ";", "q=", ";q=1", "/", "*", " ", "text/html;")) {
      String line = piece.repeat((1 << 16) / piece.length());
      assertThat(MediaType.preferred(Arrays.asList(line, line))).isNotNull();
    }
  }

  @Test
  void contentType_hasACharsetWhereTheTypeHasOne() {
    assertThat(MediaType.PROBLEM.contentType()).isEqualTo("application/problem+json");
    assertThat(MediaType.TEXT.contentType()).isEqualTo("text/plain; charset=utf-8");
    assertThat(MediaType.HTML.contentType()).isEqualTo("text/html; charset=utf-8");
  }
}
