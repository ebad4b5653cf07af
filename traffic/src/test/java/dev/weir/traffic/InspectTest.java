package dev.weir.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import dev.weir.traffic.internal.check.DistinctValues;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class InspectTest {
  private static Inspection inspect(String text) throws Exception {
    return Inspector.inspect(
        Traffic.builder("-").build(),
        Progress.NONE,
        new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static Inspection.Column column(Inspection inspection, String name) {
    return inspection.columns().stream()
        .filter(c -> c.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void accessLog_showsColumnsSpanKeysAndTheNextCommand() throws Exception {
    String end = "] \"GET /a HTTP/1.1\" 200 1 \"-\" \"curl\"\n";
    Inspection found =
        inspect(
            "192.0.2.1 - alice [17/May/2015:10:05:03 +0000"
                + end
                + "192.0.2.2 - bob [17/May/2015:10:05:04 +0000"
                + end
                + "192.0.2.1 - - [17/May/2015:10:06:03 +0000"
                + end);
    assertThat(found.format()).isEqualTo(Format.COMBINED);
    assertThat(found.records()).isEqualTo(3);
    assertThat(found.candidates()).containsExactly("ip", "user");
    assertThat(column(found, "ip").distinct()).isEqualTo(2);
    assertThat(column(found, "user").empty()).isEqualTo(1);
    assertThat(column(found, "agent").examples()).containsExactly("curl");
    assertThat(found.warnings()).isEmpty();
    assertThat(found.text())
        .contains(
            "-: combined, 3 records",
            "from 2015-05-17T10:05:03Z to 2015-05-17T10:06:03Z, 1 min",
            "time in column time; all in order",
            "--descriptor 'ip={ip}'  2 keys",
            "weir suggest --input - --descriptor 'ip={ip}'");
    assertThat(found.json()).contains("\"format\" : \"combined\"", "\"distinct\" : 2");
  }

  @Test
  void whatMustBeAskedFor_isAWarningAndAFlagToFillIn() throws Exception {
    Inspection found = inspect("time,user,cost\n0,a,1\n3000,b,2\n6000,a,2\n");
    assertThat(found.flags()).containsExactly("--input", "-", "--time-unit", "UNIT");
    assertThat(found.warnings()).singleElement().asString().contains("--time-unit s, ms, us or ns");
    assertThat(found.firstNanos()).isNull();
    assertThat(found.candidates()).containsExactly("user");
    Inspection without = inspect("when,user\n2026-01-01,a\n2026-01-02,b\n");
    assertThat(without.flags()).containsExactly("--input", "-", "--time", "COLUMN");
  }

  @Test
  void newestFirst_needsSorting() throws Exception {
    Inspection found = inspect("time,user\n1700000009,a\n1700000005,b\n1700000001,a\n");
    assertThat(found.outOfOrder()).isEqualTo(2);
    assertThat(found.flags()).contains("--sort");
    assertThat(found.notes().get(0)).contains("seconds", "2023-11-14T");
  }

  @Test
  void manyValues_areCountedExactlyOrWithinThreePercentAndSaidSo() throws Exception {
    long seed = Trials.random("values to count").nextLong();
    for (int count : new int[] {1, 4_096, 5_000, 100_000}) {
      String rows =
          new SplittableRandom(seed)
              .longs(count)
              .distinct()
              .mapToObj(each -> "1700000000,k" + each + "\n1700000000,k" + each + "\n")
              .collect(Collectors.joining());
      Inspection.Column key = column(inspect("time,user\n" + rows), "user");
      assertThat(key.exact()).isEqualTo(count <= DistinctValues.KEPT);
      double off = key.exact() ? 0 : 0.08 * count; // The tolerance is five standard errors.
      assertThat(Math.abs(key.distinct() - count))
          .as("seed %s", seed)
          .isLessThanOrEqualTo((long) off);
    }
  }

  @Test
  void oddFields_areEmptyAndTheRecordsAreThoseOfAReplay() throws Exception {
    String start = "192.0.2.1 - - [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 ";
    for (String end :
        new String[] {"- 0.0002", "1 35 \"-\"", "1 \"-\" cut", "1 \"-\" \"cut", "", "1 2 3 4"}) {
      Inspection found = inspect((start + end + "\n").repeat(3));
      assertThat(found.records()).as(end).isEqualTo(3);
      assertThat(found.warnings()).as(end).isEmpty();
      assertThat(column(found, "path").examples()).as(end).containsExactly("/a");
      assertThat(column(found, "agent").empty()).as(end).isEqualTo(3);
    }
  }

  @Test
  void columnThatFurtherFieldsLack_isEmptyFromThereOn() throws Exception {
    Inspection found =
        inspect(
            """
            #Fields: date time c-ip cs-method sc-status
            2026-11-27 06:14:49 192.0.2.1 GET 200
            #Fields: date time c-ip cs-method
            2026-11-27 06:14:50 192.0.2.2 GET
            2026-11-27 06:14:51 192.0.2.3 GET
            """);
    assertThat(found.warnings()).isEmpty();
    assertThat(found.records()).isEqualTo(3);
    assertThat(column(found, "ip").distinct()).isEqualTo(3);
    assertThat(column(found, "status").empty()).isEqualTo(2);
  }

  @Test
  void columnThatStandsTwice_isLeftOut() throws Exception {
    Inspection found =
        inspect("#Fields: date time c-ip c-ip sc-status\n2026-11-27 06:14:49 a b 200\n");
    assertThat(found.warnings()).isEmpty();
    assertThat(found.columns().stream().map(Inspection.Column::name))
        .contains("status")
        .doesNotContain("ip", "c-ip");
  }

  @Test
  void addresses_areCountedAsKeysToo() throws Exception {
    Inspection found =
        inspect(
            """
            time,ip
            1700000001,2001:db8::1
            1700000002,2001:db8::2
            1700000003,::ffff:192.0.2.1
            1700000004,192.0.2.1:80
            """);
    assertThat(column(found, "ip").distinct()).isEqualTo(3);
    assertThat(column(found, "ip").keys()).isEqualTo(2);
    assertThat(found.text()).contains("--descriptor 'ip={ip}'  2 keys");
    assertThat(found.json()).contains("\"keys\" : 2");
  }

  @Test
  void zoneAndLayout_areAmongTheFlagsToGoOnWith() throws Exception {
    String line = "27/Nov/2026 06:14:49 192.0.2.1\n";
    Traffic traffic =
        Traffic.builder("-").layout("time time ip").zone(ZoneId.of("Europe/Berlin")).build();
    Inspection found =
        Inspector.inspect(
            traffic,
            Progress.NONE,
            new ByteArrayInputStream(line.getBytes(StandardCharsets.UTF_8)));
    assertThat(found.flags())
        .containsExactly("--input", "-", "--layout", "time time ip", "--zone", "Europe/Berlin");
    assertThat(found.notes()).doesNotContain(OpenedInputs.UTC_NOTE);
    assertThat(inspect("time,ip\n2026-11-27 06:14:49,192.0.2.1\n").notes())
        .contains(OpenedInputs.UTC_NOTE);
  }
}
