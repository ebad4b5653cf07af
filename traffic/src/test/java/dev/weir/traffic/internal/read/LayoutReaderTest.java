package dev.weir.traffic.internal.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.traffic.Format;
import dev.weir.traffic.Progress;
import dev.weir.traffic.Read;
import dev.weir.traffic.RequestTemplate;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.TrafficReader;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LayoutReaderTest {
  private static List<String> read(String layout, String line, String... columns) throws Exception {
    return Read.all(lines -> Readers.of(Layout.of(layout), lines), line + "\n", columns);
  }

  @Test
  void values_areFoundByTheirMarks() throws Exception {
    assertThat(
            read(
                "ip - ~user [time] 'request' \"agent\" ? more",
                "192.0.2.1 -    frank [27/Nov/2026:06:14:49] \"GET /a?b=1 HTTP/1.1\" \"a \"b\"c\"",
                "ip",
                "user",
                "time",
                "method",
                "path",
                "query",
                "agent",
                "more"))
        .containsExactly("1|192.0.2.1|frank|27/Nov/2026:06:14:49|GET|/a|b=1|a \"b\"c|");
  }

  @Test
  void nameThatComesAgain_hasOneMoreWord() throws Exception {
    assertThat(
            read(
                "time time \"request\" - client",
                "2026/11/27 06:14:49 \"GET http://shop.example/a HTTP/1.1\" from 192.0.2.1:53273",
                "time",
                "path",
                "ip"))
        .containsExactly("1|2026/11/27 06:14:49|/a|192.0.2.1:53273");
  }

  @Test
  void star_leavesOutWhatIsBeforeTheNextValue() throws Exception {
    String line =
        "INFO [main] at 10 o'clock 192.0.2.1:80 said x [27/Nov/2026:06:14:49] y \"GET / HTTP/1.1\"";
    assertThat(read("* ip * [time] * \"request\"", line, "ip", "time", "path"))
        .containsExactly("1|192.0.2.1:80|27/Nov/2026:06:14:49|/");
    assertThat(read("* ip", "no client here", "ip"))
        .containsExactly("1! ip: the line ends before it");
  }

  @Test
  void longLine_mayBeCutOffInItsLastValue() throws Exception {
    String start = "192.0.2.1 [27/Nov/2026:06:14:49] \"GET /";
    String layout = "ip [time] \"request";
    String target = "a".repeat(1_024 - start.length());
    assertThat(read(layout, start + target, "ip", "path"))
        .containsExactly("1|192.0.2.1|/" + target);
    assertThat(read(layout, start + "aaa", "ip", "path"))
        .containsExactly("1! request: is not closed");
    RecordReader reader =
        Readers.of(Layout.of(layout), Read.lines(start + target + "\n" + start + "\"\n"));
    reader.select(List.of("path"));
    RecordValues values = new RecordValues(1);
    assertThat(reader.next(values)).isTrue();
    assertThat(reader.next(values)).isTrue();
    assertThat(reader.notes())
        .containsExactly("request: cut off by the writer in 1 line; what is left of it is read");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "^^                    | not \"\"; names of the values",
        "ip  time              | not \"\"; names",
        "ip (time)             | not \"(time)\"; names",
        "ip [time              | not \"[time\"; names",
        "ip time ip            | \"ip\" in one place)",
        "- * ?                 | names of the values with one space between, such as"
      })
  void layoutThatIsNone_isRefused(String layout, String expected) {
    assertThatThrownBy(() -> Layout.of(layout))
        .isInstanceOf(TrafficException.class)
        .hasMessageStartingWith("layout: ")
        .hasMessageContaining("(expected: " + expected);
  }

  @Test
  void layoutOfTheUsersOwn_isReplayedLikeAnyFormat() throws Exception {
    String text =
        """
        [I] 2026-11-27 06:14:49 200 GET /a (x) 192.0.2.1:80
        [I] 2026-11-27 06:14:50 404 GET /b (x) 192.0.2.2:80
        """;
    Traffic traffic =
        Traffic.builder("-")
            .layout("- time time status method url - client")
            .zone(ZoneId.of("America/St_Johns"))
            .build();
    List<String> read = new ArrayList<>();
    try (TrafficReader reader =
        TrafficReader.open(
            traffic,
            RequestTemplate.of("d", List.of("k={ip} {status} {method} {path}"), "1"),
            new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)))) {
      reader.each(
          (input, line, nanos, request, load, took) ->
              read.add(
                  nanos / 1_000_000_000L
                      + " "
                      + request.descriptors().get(0).entries().get(0).value()),
          (input, line, why) -> read.add(why),
          Progress.NONE);
      assertThat(reader.format()).isEqualTo(Format.LAYOUT);
    }
    assertThat(read)
        .containsExactly("1795772689 192.0.2.1 200 GET /a", "1795772690 192.0.2.2 404 GET /b");
  }

  @Test
  void layoutAndFormat_excludeEachOther() {
    byte[] text = "192.0.2.1\n".getBytes(StandardCharsets.UTF_8);
    Traffic.Builder traffic = Traffic.builder("-").layout("ip time").format(Format.COMBINED);
    assertThatThrownBy(
            () -> TrafficReader.open(traffic.build(), null, new ByteArrayInputStream(text)))
        .hasMessage("layout: \"ip time\" (expected: none with --format combined)");
    Traffic.Builder none = Traffic.builder("-").format(Format.LAYOUT);
    assertThatThrownBy(() -> TrafficReader.open(none.build(), null, new ByteArrayInputStream(text)))
        .hasMessageStartingWith("layout: none (expected: --layout with");
  }
}
