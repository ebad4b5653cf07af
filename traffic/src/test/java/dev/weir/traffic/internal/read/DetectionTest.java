package dev.weir.traffic.internal.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.internal.Choice;
import dev.weir.traffic.Format;
import dev.weir.traffic.Read;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.TimeReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DetectionTest {
  private static final String COMBINED =
      "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 1 \"-\" \"a, b\"";

  private static Format format(String name, String head) throws TrafficException {
    return Detection.format(name, head.getBytes(StandardCharsets.UTF_8));
  }

  private static UsualColumns.TimeColumn time(@Nullable String asked, String header)
      throws Exception {
    return UsualColumns.timeColumn(
        asked, Format.CSV, DelimitedReader.csv(Read.lines(header + "\n")));
  }

  @Test
  void name_tellsTheFormat() throws Exception {
    assertThat(format("a.csv", "x")).isEqualTo(Format.CSV);
    assertThat(format("A.CSV.gz", "x")).isEqualTo(Format.CSV);
    assertThat(format("b.tsv", "")).isEqualTo(Format.TSV);
    assertThat(format("b.tab", "")).isEqualTo(Format.TSV);
    assertThat(format("c.jsonl", "")).isEqualTo(Format.JSONL);
    assertThat(format("c.ndjson.GZ", "")).isEqualTo(Format.JSONL);
  }

  @Test
  void otherName_firstLineTellsTheFormat() throws Exception {
    assertThat(format("access.log", COMBINED)).isEqualTo(Format.COMBINED);
    assertThat(format("-", "\n\n" + COMBINED)).isEqualTo(Format.COMBINED);
    assertThat(format("-", " {\"a\":1}\n")).isEqualTo(Format.JSONL);
    assertThat(format("log", "time,ip\n1,2\n")).isEqualTo(Format.CSV);
    assertThat(format("log", "time\tip\n")).isEqualTo(Format.TSV);
  }

  @Test
  void lineWithoutItsStatus_isNoRecord() throws Exception {
    String line =
        "1431857103.123    310 192.0.2.7 TCP_MISS/%s 1 GET http://a.example/ - HIER_NONE/-"
            + " text/html";
    assertThat(format("log", line.formatted("200"))).isEqualTo(Format.SQUID);
    assertThatThrownBy(() -> format("log", line.formatted("")))
        .hasMessageStartingWith("format: not a log that is known");
  }

  /** A page of documentation that quotes a line of JSON and one of a log. */
  @Test
  void textWithFewLinesOfALog_isNoLog() {
    String page = "# Title\n" + "Words of a page.\n".repeat(30) + COMBINED + "\n{\"a\": 1}\n";
    assertThatThrownBy(() -> format("README.md", page))
        .hasMessageStartingWith(
            "format: not a log that is known, by its name \"README.md\" and its first line"
                + " \"# Title\" (expected: --format with one of combined, vhost,");
  }

  @Test
  void doubt_isSaid() {
    for (String head : new String[] {"words only", "a,b\tc"}) {
      assertThatThrownBy(() -> format("x.log", head))
          .isInstanceOf(TrafficException.class)
          .hasMessageStartingWith(
              "format: not a log that is known, by its name \"x.log\" and its first line \"")
          .hasMessageContaining("(expected: --format with one of combined, vhost,")
          .hasMessageContaining("; if it is none of them, --layout with the order of the values");
    }
    assertThatThrownBy(() -> format("x.log", "a\u0000,b\tc"))
        .hasMessageStartingWith("input: x.log begins with binary data (expected: text;");
    assertThatThrownBy(() -> format("x.log", "\n \n"))
        .hasMessage("input: x.log is blank (expected: records)");
    assertThatThrownBy(() -> format("x.log", ""))
        .hasMessage("input: x.log is empty (expected: records)");
    assertThatThrownBy(
            () -> Detection.format("x.csv", new byte[] {(byte) 0xff, (byte) 0xfe, 65, 0}))
        .hasMessage("input: x.csv is in UTF-16 (expected: UTF-8)");
  }

  @Test
  void doubt_namesEveryFormatThatHasNoFlagOfItsOwn() {
    assertThatThrownBy(() -> format("x.log", "words only"))
        .message()
        .satisfies(
            message -> {
              String names = message.replaceAll("(?s).*--format with one of (.*?) \\(.*", "$1");
              List<String> expected = new ArrayList<>(Choice.texts(Format.class));
              expected.removeAll(List.of("auto", "layout"));
              assertThat(names.split(", ")).containsExactlyElementsOf(expected);
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "host,time,url|time",
        "TIMESTAMP,tokens|TIMESTAMP",
        "date,Time|Time",
        "ts,@timestamp|@timestamp",
        "id,DateTime|DateTime"
      })
  void time_isFoundByItsUsualNames(String header, String expected) throws Exception {
    assertThat(time(null, header))
        .isEqualTo(new UsualColumns.TimeColumn(expected, TimeReader.Unit.BY_SIZE));
  }

  @Test
  void noUsualName_listsTheColumns() {
    assertThatThrownBy(() -> time(null, "when,who"))
        .hasMessage(
            "time: no column has a usual name for it (expected: --time with one of when, who)");
  }

  @Test
  void unit_mayStandBehindTheName() throws Exception {
    assertThat(time("t:ms", "t,k"))
        .isEqualTo(new UsualColumns.TimeColumn("t", TimeReader.Unit.MILLISECONDS));
    assertThat(time("t:s", "t,k").unit()).isEqualTo(TimeReader.Unit.SECONDS);
    assertThat(time("t:us", "t,k").unit()).isEqualTo(TimeReader.Unit.MICROSECONDS);
    assertThat(time("t:ns", "t,k").unit()).isEqualTo(TimeReader.Unit.NANOSECONDS);
    assertThat(time("t:ms", "t:ms,k"))
        .isEqualTo(new UsualColumns.TimeColumn("t:ms", TimeReader.Unit.BY_SIZE));
    assertThat(time("t:x", "t,k").name()).isEqualTo("t:x");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Nov 27, 2026 6:14:49 AM io.vertx.Server\nINFO: started, ready\nINFO: again, ready",
        "[27/Nov/2026 06:14:49] started,ready\n[27/Nov/2026 06:14:49] a,b",
        "192.0.2.1 - GET / , 200\n192.0.2.1 - GET / , 200",
        "2026-11-27 06:14:49,123 INFO started\n2026-11-27 06:14:49,124 INFO ready",
        "level:info,msg:started\nlevel:info,msg:ready",
        "said \"yes, please\"\nsaid \"no, thanks\"",
        "started at 06:14\tready\nstarted at 06:15\tready"
      })
  void proseWithCommasOrTabs_isNoTable(String text) {
    assertThatThrownBy(() -> format("log", text + "\n"))
        .hasMessageStartingWith("format: not a log that is known, by its name");
  }

  @Test
  void header_mayHaveAnyNames() throws Exception {
    for (String header :
        List.of("time,ip", "t:ms,k", "c-ip\tcs(User-Agent)\tdate", "Date Time,Client IP,Größe")) {
      String row = header.replaceAll("[^,\\t]+", "1");
      assertThat(format("log", header + "\n" + row + "\n").toString()).isIn("csv", "tsv");
    }
  }

  @Test
  void prefixes_areFoundForAFormatThatIsAskedForAsWell() throws Exception {
    String line = "Nov 27 06:14:49 web1 nginx: " + COMBINED + "\n";
    byte[] text = line.repeat(3).getBytes(StandardCharsets.UTF_8);
    for (Format asked : List.of(Format.AUTO, Format.COMBINED)) {
      assertThat(Detection.of("log", text, asked))
          .isEqualTo(new Detection.Result(Format.COMBINED, true));
    }
    byte[] plain = (COMBINED + "\n").getBytes(StandardCharsets.UTF_8);
    assertThat(Detection.of("log", plain, Format.COMBINED).prefixed()).isFalse();
  }

  @Test
  void prefixesOfLtsv_areFoundIfItIsAskedFor() throws Exception {
    String line = "Nov 27 06:14:49 web1 nginx: time:1795772689\thost:192.0.2.1\n";
    byte[] text = line.repeat(3).getBytes(StandardCharsets.UTF_8);
    for (Format asked : List.of(Format.AUTO, Format.LTSV)) {
      assertThat(Detection.of("log", text, asked))
          .isEqualTo(new Detection.Result(Format.LTSV, true));
    }
  }

  @Test
  void fewLinesThatLookRight_sayHowManyAreRead() {
    String odd = COMBINED.replace("192.0.2.7", "client_one");
    assertThatThrownBy(
            () -> format("log", COMBINED + "\n" + (odd.replace("200", "2000") + "\n").repeat(3)))
        .hasMessage(
            "format: only 1 of the first 4 lines of \"log\" are combined (expected: --format"
                + " combined, which reads 4 of these and counts the others as unreadable)");
  }

  private static String key(String text) throws Exception {
    Format format = format("log", text);
    return UsualColumns.keyColumn(format, Readers.of(format, Read.lines(text)));
  }

  @Test
  void key_isAColumnThatMostRecordsHave() throws Exception {
    String start = "{\"time\":1,\"host\":\"web1\",\"msg\":\"started\"}\n";
    String request = "{\"time\":1,\"req\":{\"remoteAddress\":\"192.0.2.1\"},\"tenant\":\"a\"}\n";
    assertThat(key(start + request.repeat(39))).isEqualTo("req.remoteAddress");
    assertThat(key(start + request.replace("remoteAddress", "from").repeat(39)))
        .isEqualTo("tenant");
    assertThatThrownBy(() -> key(start + "{\"time\":1,\"a\":2}\n".repeat(39)))
        .hasMessageStartingWith("descriptor: none, and no column has a usual name for a key");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "remoteAddress",
        "downstream_remote_address",
        "client.ip",
        "remoteAddr",
        "REMOTE_ADDR"
      })
  void key_isAnAddressByItsUsualNames(String name) throws Exception {
    assertThat(key("{\"time\":1,\"" + name + "\":\"192.0.2.1\",\"user\":\"-\"}\n")).isEqualTo(name);
    assertThat(UsualColumns.hasAddresses(name)).isTrue();
  }

  @Test
  void timeOfDay_isNoAddress() {
    for (String text : List.of("06:14:49", "06:14:49.123", "1:2:3:4", "::", "::x", "a:b:c")) {
      assertThat(Address.is(text)).as(text).isFalse();
    }
    for (String text : List.of("::1", "2001:db8::c:4162", "fe80::1%eth0", "1:2:3:4:5:6:7:8")) {
      assertThat(Address.is(text)).as(text).isTrue();
    }
  }
}
