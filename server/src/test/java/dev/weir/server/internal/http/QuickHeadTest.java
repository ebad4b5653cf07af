package dev.weir.server.internal.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuickHeadTest {
  private static final String LINE = "POST /json HTTP/1.1\r\n";
  private static final String CHECK = "POST /v1/check HTTP/1.1\r\n";
  private static final String END = "Host: a\r\nContent-Length: 12\r\n\r\n";

  private static int end(String head) {
    byte[] bytes = head.getBytes(StandardCharsets.ISO_8859_1);
    return new QuickHead().end(bytes, 0, bytes.length);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Content-Type: application/json\r\n",
        "Connection: keep-alive\r\nAccept: */*\r\n",
        "CONNECTION:Keep-Alive \r\nx-request-id:\r\n"
      })
  void usualHead_isTaken(String fields) {
    String head = LINE + fields + END;
    assertThat(end(head + "{}")).isEqualTo(head.length());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Content-Type: application/json\r\nAccept: application/json\r\n",
        "accept: */*\r\ncontent-type:application/json \r\n"
      })
  void usualHeadOfACheck_isTaken(String fields) {
    String head = CHECK + fields + END;
    QuickHead quick = new QuickHead();
    byte[] bytes = head.getBytes(StandardCharsets.ISO_8859_1);
    assertThat(quick.end(bytes, 0, bytes.length)).isEqualTo(head.length());
    assertThat(quick.isCheck()).isTrue();
    assertThat(end(LINE + "Content-Type: text/plain\r\nAccept: text/plain\r\n" + END)).isPositive();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Type: text/plain\r\n",
        "Content-Type: application/json; charset=utf-8\r\n",
        "Accept: text/plain\r\n",
        "Accept: application/json, text/plain\r\n",
        "Connection: close\r\n"
      })
  void unusualHeadOfACheck_isNotTaken(String fields) {
    assertThat(end(CHECK + fields + END)).isEqualTo(-1);
  }

  @Test
  void length_isReadWithAllItsDigits() {
    QuickHead head = new QuickHead();
    byte[] bytes = (LINE + END).getBytes(StandardCharsets.ISO_8859_1);
    assertThat(head.end(bytes, 0, bytes.length)).isEqualTo(bytes.length);
    assertThat(head.length()).isEqualTo(12);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host: b\r\n",
        "Content-Length: 12\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Connection: close\r\n",
        "Connection: upgrade\r\nUpgrade: h2c\r\n",
        "Expect: 100-continue\r\n",
        "Sec-WebSocket-Key1: 1\r\n",
        " folded\r\n",
        "na me: a\r\n",
        "name : a\r\n",
        "nocolon\r\n",
        ": a\r\n",
        "a: \u0001\r\n",
        "a: \u00e9\r\n",
        "a: b\n",
        "a: b\rc\r\n"
      })
  void unusualField_isNotTaken(String field) {
    assertThat(end(LINE + field + END)).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        LINE + "Host: a\r\n\r\n",
        LINE + "Content-Length: 1\r\n\r\n",
        LINE + "Host:\r\nContent-Length: 1\r\n\r\n",
        LINE + "Host: a\r\nContent-Length: +1\r\n\r\n",
        LINE + "Host: a\r\nContent-Length:\r\n\r\n",
        LINE + "Host: a\r\nContent-Length: 1234567\r\n\r\n",
        "POST /JSON HTTP/1.1\r\n" + END,
        "POST /json?a HTTP/1.1\r\n" + END,
        "POST /json HTTP/1.0\r\n" + END,
        "GET /json HTTP/1.1\r\n" + END,
        "\r\n" + LINE + END
      })
  void unusualHead_isNotTaken(String head) {
    assertThat(end(head)).isEqualTo(-1);
  }

  @Test
  void manyFieldsOrBytes_areNotTaken() {
    assertThat(end(LINE + "a: b\r\n".repeat(HttpFraming.MAX_FIELDS - 2) + END)).isPositive();
    assertThat(end(LINE + "a: b\r\n".repeat(HttpFraming.MAX_FIELDS - 1) + END)).isEqualTo(-1);
    assertThat(end(LINE + "a: " + "b".repeat(QuickHead.MAX_BYTES) + "\r\n" + END)).isEqualTo(-1);
  }

  @Test
  void partOfAHead_isNotTaken() {
    String head = LINE + "a: b\r\n" + END;
    for (int length = 0; length < head.length(); length++) {
      assertThat(end(head.substring(0, length))).as("%d bytes", length).isEqualTo(-1);
    }
  }
}
