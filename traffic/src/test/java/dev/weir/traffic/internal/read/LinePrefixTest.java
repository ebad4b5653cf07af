package dev.weir.traffic.internal.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.traffic.DocumentedLog;
import dev.weir.traffic.Logged;
import dev.weir.traffic.Progress;
import dev.weir.traffic.RequestTemplate;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficReader;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A test that text before a record, from syslog, containers and loggers, is left out for every
 * format.
 */
class LinePrefixTest {
  private static final List<String> PREFIXES =
      List.of(
          "Nov 27 06:14:49 web1 nginx: ",
          "Nov  7 06:14:49 10.0.0.5 nginx[17]: ",
          "<190>Nov 27 06:14:49 web1 nginx: ",
          "2026-11-27T06:14:49.123456-03:30 web1 nginx[17]: ",
          "<134>1 2026-11-27T06:14:49.123456-03:30 10.0.0.5 nginx - - - ",
          "<134>1 2026-11-27T06:14:49Z web1 nginx 17 - [a@1 ip=\"192.0.2.9 - \" b=\"]\"] ",
          "2026-11-27T09:44:49.123456789Z stdout F ",
          "web-1  | ",
          "web-1 | Nov 27 06:14:49 web1 nginx: ");

  private static final List<String> LOGGERS =
      List.of(
          "INFO: ",
          "06:14:49.123 [reactor-http-epoll-2] INFO  r.n.h.server.AccessLog -- ",
          "[2026-11-27 06:14:49 -0330] [17] [INFO] ");

  private static String behind(String line) {
    byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
    int from = LinePrefix.end(bytes, 0, bytes.length);
    return new String(bytes, from, bytes.length - from, StandardCharsets.UTF_8);
  }

  private static List<String> read(List<String> lines) throws Exception {
    byte[] text = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
    Traffic traffic = Traffic.builder("-").build();
    try (TrafficReader reader =
        TrafficReader.open(
            traffic,
            RequestTemplate.of("d", List.of("m={method},p={path}"), "1"),
            new ByteArrayInputStream(text))) {
      List<String> all = new ArrayList<>();
      reader.each(
          (input, line, nanos, request, load, took) ->
              all.add(line + " " + nanos + " " + request.descriptors().get(0).entries()),
          (input, line, why) -> all.add(line + "! " + why),
          Progress.NONE);
      all.add(reader.format().toString());
      return all;
    }
  }

  /**
   * Tests all logs but those of w3c, which has a header instead of text before each record, and
   * HAProxy's: its times have no zone, so the text before them would give them another one.
   */
  @ParameterizedTest
  @EnumSource(
      value = DocumentedLog.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"IIS", "CLOUDFRONT", "HAPROXY"})
  void headersBeforeEveryFormat_areLeftOut(DocumentedLog log) throws Exception {
    long seed = new SplittableRandom().nextLong();
    List<String> lines =
        Logged.some(100, new SplittableRandom(seed)).stream().map(log::line).toList();
    List<String> expected = read(lines);
    for (String prefix : PREFIXES) {
      assertThat(read(lines.stream().map(prefix::concat).toList()))
          .as("seed %s, %s", seed, prefix)
          .isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DocumentedLog.class,
      names = {"APACHE_COMMON", "COMBINED", "INGRESS", "TRAEFIK", "TRAEFIK_JSON", "CADDY"})
  void patternOfALogger_isLeftOutBeforeAnAddressAndBeforeJson(DocumentedLog log) throws Exception {
    long seed = new SplittableRandom().nextLong();
    List<String> lines =
        Logged.some(100, new SplittableRandom(seed)).stream().map(log::line).toList();
    List<String> expected = read(lines);
    for (String prefix : LOGGERS) {
      assertThat(read(lines.stream().map(prefix::concat).toList()))
          .as("seed %s, %s", seed, prefix)
          .isEqualTo(expected);
    }
  }

  /** Tests a logger of the JDK that writes two lines; a client's address stands in the second. */
  @Test
  void loggerOfTwoLines_losesTheFirst() throws Exception {
    String first = "Nov 27, 2026 6:14:49 AM io.vertx.ext.web.handler.LoggerHandler handle";
    String record = "INFO: 192.0.2.1 - - [Fri, 27 Nov 2026 09:44:49 GMT] \"GET /a HTTP/1.1\" 200 3";
    assertThat(read(List.of(first, record, first, record)))
        .containsExactly(
            "1! time: no [ with a space before it",
            "2 1795772689000000000 [Entry[key=m, value=GET], Entry[key=p, value=/a]]",
            "3! time: no [ with a space before it",
            "4 1795772689000000000 [Entry[key=m, value=GET], Entry[key=p, value=/a]]",
            "combined");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "<",
        "<134>",
        "<134>1 ",
        "<134>1 2026-11-27T06:14:49Z",
        "<134>1 2026-11-27T06:14:49Z a b",
        "<134>1 2026-11-27T06:14:49Z a b c d [",
        "Nov 27 06:14:49 ",
        "Nov 27 06:14:49 web1",
        "2026-11-27T06:14:49Z stdout",
        "a |",
        "192.0.2.1 -",
        "192.0.2.1, ",
        "words only and no record"
      })
  void lineWithoutARecord_isReadWithoutHarm(String line) {
    assertThat(line).endsWith(behind(line));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "192.0.2.1 - - [27/Nov/2026:06:14:49 -0330] \"GET / HTTP/1.1\" 200 3",
        "192.0.2.1:80 - - [27/Nov/2026:06:14:49 -0330] \"GET / HTTP/1.1\" 200 3",
        "[2001:db8::1]:80 [27/Nov/2026:06:14:49 -0330] \"GET / HTTP/1.1\" 200 3",
        "203.0.113.7, 198.51.100.2, 198.51.100.3 - - [27/Nov/2026:06:14:49 -0330] \"GET /"
            + " HTTP/1.1\""
      })
  void record_isFoundAsItIs(String record) {
    assertThat(behind(record)).isEqualTo(record);
    assertThat(behind("INFO 10.0.0.5 access: " + record)).isEqualTo(record);
  }

  @Test
  void addressInAClientsText_doesNotMoveTheRecord() {
    String record =
        "192.0.2.1 - 198.51.100.9 - [27/Nov/2026:06:14:49 -0330] \"GET /10.0.0.1 - \" 200 3";
    assertThat(behind("INFO " + record)).isEqualTo(record);
  }
}
