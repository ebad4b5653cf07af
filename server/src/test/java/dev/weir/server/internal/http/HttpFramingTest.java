package dev.weir.server.internal.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.Trials;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the boundaries of requests, and of the refused ones. [RFC 9112] */
class HttpFramingTest {
  private static final String HEAD = "POST /v1/check HTTP/1.1\r\nHost: x\r\n";
  private static final String CHUNKED = HEAD + "Transfer-Encoding: chunked\r\n\r\n";

  /**
   * Returns the number of bytes of each request, and the status that ended the reading, if one did.
   */
  private static List<Integer> read(String text, SplittableRandom random, int piece) {
    HttpFraming framing = new HttpFraming(HttpLimits.ofDecisions(ServerSettings.defaults()));
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    ByteBuf in = Unpooled.buffer();
    List<Integer> found = new ArrayList<>();
    int begin = 0;
    int at = 0;
    try {
      for (int sent = 0; sent < bytes.length; ) {
        int size =
            Math.min(bytes.length - sent, piece == 0 ? bytes.length : 1 + random.nextInt(piece));
        in.writeBytes(bytes, sent, size);
        sent += size;
        while (at < sent) {
          at = framing.inHead() ? framing.afterEmptyLines(in, at, sent) : at;
          if (at == sent) {
            break;
          }
          if (framing.inHead()) {
            int end = framing.headEnd(in, at, sent);
            if (end < 0) {
              break;
            }
            framing.head(in, at, end);
            at = end;
          } else {
            at = framing.body(in, at, sent);
          }
          if (framing.inHead()) {
            found.add(at - begin);
            begin = at;
          }
        }
      }
    } catch (HttpProblem problem) {
      found.add(problem.status());
    }
    return found;
  }

  private static List<Integer> read(String text) {
    return read(text, new SplittableRandom(), 0);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        HEAD + "\r\n",
        HEAD + "Content-Length: 0\r\n\r\n",
        HEAD + "content-length: 7\r\n\r\n1234567",
        CHUNKED + "0\r\n\r\n",
        CHUNKED + "5\r\nabcde\r\n10;name=value\r\n0123456789abcdef\r\n0\r\n\r\n",
        CHUNKED + "1\r\n\n\r\n00\r\nTrailer: a\r\nOther: b\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "\r\n\r\nGET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\n\n", // The codec behind it refuses this.
      })
  void whatIsWhole_ends_whereverItIsCut(String request) {
    List<Integer> whole = List.of(request.length(), request.length());
    assertThat(read(request + request)).isEqualTo(whole);
    int runs = 50;
    SplittableRandom random = Trials.random("http pieces", runs);
    for (int trial = 0; trial < runs; trial++) {
      assertThat(read(request + request, random, 1 + trial % 9)).isEqualTo(whole);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "501, Transfer-Encoding: xchunked|Content-Length: 39",
    "501, Transfer-Encoding: identity|Content-Length: 39",
    "501, 'Transfer-Encoding: gzip, chunked'",
    "501, Transfer-Encoding: chunked|Transfer-Encoding: gzip",
    "400, 'Transfer-Encoding: chunked, chunked'",
    "400, Transfer-Encoding: chunked|Transfer-Encoding: chunked",
    "400, Transfer-Encoding: chunked|Content-Length: 5",
    "400, Transfer-Encoding:",
    "400, Content-Length: 5|Content-Length: 5",
    "400, Content-Length: 5|Content-Length: 6",
    "400, 'Content-Length: 5, 5'",
    "400, Content-Length: +5",
    "400, Content-Length: -1",
    "400, Content-Length: 0x5",
    "400, Content-Length:",
    "400, Content-Length: 99999999999999999999",
    "400, Sec-WebSocket-Key1: a|Sec-WebSocket-Key2: b",
    "400, Host: y",
    "400, A: b| Content-Length: 5",
    "400, A: b|\tcontinued",
  })
  void framingInDoubt_isRefused(int status, String fields) {
    String head = HEAD + fields.replace("|", "\r\n") + "\r\n\r\n";
    assertThat(read(head)).containsExactly(status);
    int runs = 20;
    SplittableRandom random = Trials.random("refused http pieces", runs);
    for (int trial = 0; trial < runs; trial++) {
      assertThat(read(head, random, 1 + trial % 9)).containsExactly(status);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "400, GET / HTTP/1.1|A: b||",
    "400, GET /||",
    "400, GET||",
    "400, '\u0016\u0003\u0001'",
    "400, ' GET / HTTP/1.1|Host: x||'",
    "505, GET / HTTP/2.0|Host: x||",
    "505, GET / HTTP/1.2|Host: x||",
    "400, POST / HTTP/1.0|Transfer-Encoding: chunked||",
  })
  void requestLinesAndVersions(int status, String head) {
    assertThat(read(head.replace("|", "\r\n"))).containsExactly(status);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-1\r\n",
        "0x27\r\n",
        "\r\n",
        "5\nabcde\r\n",
        "123456789\r\n",
        "5\r\nabcdefg",
        ";a\r\n",
        "5\r\nabcde\n0\r\n\r\n",
        "g\r\n",
        "5\rabcde"
      })
  void brokenChunks_areRefused(String chunks) {
    assertThat(read(CHUNKED + chunks)).containsExactly(400);
  }

  @Test
  void sizes_areBounded() {
    assertThat(read("GET /" + "x".repeat(5_000) + " HTTP/1.1\r\n")).containsExactly(414);
    assertThat(read(HEAD + "A: " + "x".repeat(9_000))).containsExactly(431);
    assertThat(read(HEAD + ("A: " + "x".repeat(7_000) + "\r\n").repeat(3))).containsExactly(431);
    assertThat(read(HEAD + "a:\r\n".repeat(100) + "\r\n")).containsExactly(431);
    assertThat(read(HEAD + "a:\r\n".repeat(99) + "\r\n")).hasSize(1).doesNotContain(431);
    assertThat(read(CHUNKED + "1;" + "x".repeat(300))).containsExactly(400);
    assertThat(read(CHUNKED + "0\r\n" + "a: b\r\n".repeat(12))).containsExactly(431);
    assertThat(read(CHUNKED + "0\r\na: " + "b".repeat(1_100))).containsExactly(431);
  }
}
