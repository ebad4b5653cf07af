package dev.weir.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.rules.Entry;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A test of logs of real servers: each record is the request that was sent, or the error names the
 * remedy.
 */
class RealLogsTest {
  /** The line in which Fastify reports that it listens; it is not a request. */
  private static final String STARTED =
      "unreadable: 1 of 20 lines: - line 1: neither a request nor an answer";

  private static TrafficReader open(Traffic traffic, byte[] text, @Nullable String descriptor)
      throws Exception {
    RequestTemplate template =
        descriptor == null ? null : RequestTemplate.of("d", List.of(descriptor), "1");
    return TrafficReader.open(traffic, template, new ByteArrayInputStream(text));
  }

  private static Traffic traffic(@Nullable ZoneId zone) {
    return Traffic.builder("-").zone(zone).build();
  }

  private static List<RealLog.Sent> read(TrafficReader reader) throws Exception {
    List<RealLog.Sent> all = new ArrayList<>();
    reader.each(
        (input, line, nanos, request, load, took) -> {
          List<String> values =
              request.descriptors().get(0).entries().stream().map(Entry::value).toList();
          all.add(
              new RealLog.Sent(
                  line, nanos, values.get(0), values.get(1), values.get(2), values.get(3)));
        },
        (input, line, why) -> {},
        Progress.NONE);
    return all;
  }

  private static String descriptor(RealLog log) {
    return "c={" + log.key() + "/128},m={method},p={path},s={status}";
  }

  @ParameterizedTest
  @EnumSource(RealLog.class)
  void everyRecord_isTheRequestThatWasSent(RealLog log) throws Exception {
    try (TrafficReader reader = open(traffic(log.zone()), log.text(), descriptor(log))) {
      assertThat(read(reader)).isEqualTo(log.truth());
      assertThat(reader.format()).isEqualTo(log.format());
      assertThat(reader.notes()).noneMatch(note -> note.equals(OpenedInputs.UTC_NOTE));
    }
  }

  @ParameterizedTest
  @EnumSource(RealLog.class)
  void zoneThatIsMissing_isSaidAndNothingElseIsWrong(RealLog log) throws Exception {
    try (TrafficReader reader = open(traffic(null), log.text(), descriptor(log))) {
      List<RealLog.Sent> read = read(reader);
      assertThat(reader.notes().contains(OpenedInputs.UTC_NOTE)).isEqualTo(log.zoneMissing());
      long offNanos = log.zoneMissing() ? -12_600_000_000_000L : 0;
      assertThat(read)
          .isEqualTo(
              log.truth().stream()
                  .map(
                      sent ->
                          new RealLog.Sent(
                              sent.line(),
                              sent.timeNanos() + offNanos,
                              sent.client(),
                              sent.method(),
                              sent.path(),
                              sent.status()))
                  .toList());
    }
  }

  @ParameterizedTest
  @EnumSource(RealLog.class)
  void key_isTheClientsAddressWithoutAFlag(RealLog log) throws Exception {
    try (TrafficReader reader = open(traffic(log.zone()), log.text(), null)) {
      List<String> keys = new ArrayList<>();
      reader.each(
          (input, line, nanos, request, load, took) ->
              keys.add(request.descriptors().get(0).entries().get(0).value()),
          (input, line, why) -> {},
          Progress.NONE);
      assertThat(reader.template().levels().get(0).key()).isEqualTo(log.key());
      assertThat(keys)
          .isEqualTo(
              log.truth().stream()
                  .map(sent -> sent.client().replace("2001:db8::1", "2001:db8::/64"))
                  .toList());
      if (log == RealLog.FASTIFY) {
        assertThat(reader.warnings()).containsExactly(STARTED);
      } else {
        assertThat(reader.warnings()).isEmpty();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(RealLog.class)
  void inspect_showsWhatIsReplayed(RealLog log) throws Exception {
    Inspection inspection =
        Inspector.inspect(traffic(log.zone()), Progress.NONE, new ByteArrayInputStream(log.text()));
    assertThat(inspection.format()).isEqualTo(log.format());
    assertThat(inspection.candidates().get(0)).isEqualTo(log.key());
    List<RealLog.Sent> truth = log.truth();
    Inspection.Column key =
        inspection.columns().stream()
            .filter(column -> column.name().equals(log.key()))
            .findFirst()
            .orElseThrow();
    assertThat(key.empty()).isZero();
    assertThat(key.distinct())
        .isEqualTo(truth.stream().map(RealLog.Sent::client).distinct().count());
    assertThat(inspection.records()).isEqualTo(truth.size());
    assertThat(inspection.firstNanos()).isEqualTo(truth.get(0).timeNanos());
    assertThat(inspection.lastNanos()).isEqualTo(truth.get(truth.size() - 1).timeNanos());
    if (log == RealLog.FASTIFY) {
      assertThat(inspection.warnings()).containsExactly(STARTED);
    } else {
      assertThat(inspection.warnings()).isEmpty();
    }
  }

  @Test
  void logsWithAndWithoutAZone_areMergedOnlyWithTheFlag(@TempDir Path folder) throws Exception {
    Path local = Files.write(folder.resolve("local.log"), RealLog.CHERRYPY.text());
    Path zoned = Files.write(folder.resolve("zoned.log"), RealLog.AIOHTTP.text());
    Traffic.Builder both = Traffic.builder(local.toString()).input(zoned.toString());
    assertThatThrownBy(() -> open(both.build(), new byte[0], "ip={ip}"))
        .hasMessageStartingWith("time: ")
        .hasMessageContainingAll(
            "local.log\" has times without a zone",
            "zoned.log\" has others (expected: --zone with");
    try (TrafficReader reader = open(both.zone(RealLog.ZONE).build(), new byte[0], "ip={ip}")) {
      List<Long> times = new ArrayList<>();
      reader.each(
          (input, line, nanos, request, load, took) -> times.add(nanos),
          (i, l, w) -> {},
          Progress.NONE);
      assertThat(times).hasSize(76).isSorted();
    }
  }

  @Test
  void tableInTheDocumentation_saysWhatHappens() throws Exception {
    StringBuilder table =
        new StringBuilder("| written by | format | key | zone |\n|---|---|---|---|\n");
    for (RealLog log : RealLog.values()) {
      try (TrafficReader reader = open(traffic(null), log.text(), null)) {
        reader.each((i, l, n, r, d, t) -> {}, (i, l, w) -> {}, Progress.NONE);
        table.append("| ").append(log.title()).append(" | `").append(reader.format());
        table.append("` | `").append(reader.template().levels().get(0).key()).append("` | ");
        table.append(
            reader.notes().contains(OpenedInputs.UTC_NOTE)
                ? "none: UTC, unless `--zone` says it"
                : "read");
        table.append(" |\n");
      }
    }
    DocumentedTable.check(table.toString());
  }

  @Test
  void logs_haveNoAddressOfAnyone() throws Exception {
    for (RealLog log : RealLog.values()) {
      String text = new String(log.text(), StandardCharsets.UTF_8);
      String addresses =
          Pattern.compile("\\b\\d{1,3}(\\.\\d{1,3}){3}\\b")
              .matcher(text)
              .results()
              .map(MatchResult::group)
              .filter(each -> !each.matches("(192\\.0\\.2|198\\.51\\.100|203\\.0\\.113)\\.\\d+"))
              .collect(Collectors.joining(" "));
      assertThat(addresses).as("%s", log).isEmpty();
    }
  }
}
