package dev.weir.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
  void doubt_isSaid() {
    for (String head : new String[] {"words only", "a,b\tc"}) {
      assertThatThrownBy(() -> format("x.log", head))
          .isInstanceOf(TrafficException.class)
          .hasMessageStartingWith("format: not recognized by the input's name \"x.log\"")
          .hasMessageContaining("(expected: --format with one of combined, vhost,");
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
}
