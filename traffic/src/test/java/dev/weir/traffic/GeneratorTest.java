package dev.weir.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.traffic.GeneratorOptions.Kind;
import dev.weir.traffic.internal.generate.Visit;
import dev.weir.traffic.internal.read.Detection;
import dev.weir.traffic.internal.read.Lines;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A test that generated traffic has the promised statistics. Seeds are fixed: the test is of the
 * distribution of one long sample, with tolerances of five standard errors or more.
 */
class GeneratorTest {
  private static final long SECOND = 1_000_000_000L;

  private static GeneratorOptions options(Duration duration, double rate, Kind... kinds) {
    GeneratorOptions defaults = GeneratorOptions.DEFAULTS;
    return new GeneratorOptions(
        Set.of(kinds),
        7,
        Instant.parse("2026-11-02T00:00:00Z"),
        duration,
        rate,
        1_000,
        1,
        defaults.window(),
        Long.MAX_VALUE);
  }

  private static List<Visit> all(GeneratorOptions options) {
    Generator generator = new Generator(options);
    List<Visit> visits = new ArrayList<>();
    for (Visit visit = generator.next(); visit != null; visit = generator.next()) {
      visits.add(visit);
    }
    return visits;
  }

  private static Map<String, Integer> byAddress(List<Visit> visits) {
    Map<String, Integer> counts = new HashMap<>();
    visits.forEach(visit -> counts.merge(visit.ip(), 1, Integer::sum));
    return counts;
  }

  @Test
  void poissonCounts_haveMeanAndVarianceOfTheRate() {
    Duration duration = Duration.ofHours(3);
    List<Visit> visits = all(options(duration, 20, Kind.POISSON));
    int seconds = (int) duration.toSeconds();
    int[] counts = new int[seconds];
    long start = visits.get(0).nanos() / (86_400 * SECOND) * 86_400 * SECOND;
    visits.forEach(visit -> counts[(int) ((visit.nanos() - start) / SECOND)]++);
    double mean = visits.size() / (double) seconds;
    double variance = 0;
    for (int count : counts) {
      variance += (count - mean) * (count - mean) / seconds;
    }
    assertThat(mean).isCloseTo(20, within(0.25));
    assertThat(variance).isCloseTo(20, within(1.5));
    assertThat(visits).isSortedAccordingTo((a, b) -> Long.compare(a.nanos(), b.nanos()));
  }

  @Test
  void clients_followZipfsLaw() {
    Map<String, Integer> counts = byAddress(all(options(Duration.ofHours(3), 50, Kind.POISSON)));
    double harmonic = 0;
    for (int rank = 1; rank <= 1_000; rank++) {
      harmonic += 1.0 / rank;
    }
    int total = counts.values().stream().mapToInt(Integer::intValue).sum();
    for (int rank : new int[] {1, 2, 3, 10, 30}) {
      double expected = total / (harmonic * rank);
      assertThat(Objects.requireNonNull(counts.get("10.0.0." + rank)).doubleValue())
          .as("rank %d", rank)
          .isCloseTo(expected, within(5 * Math.sqrt(expected)));
    }
    assertThat(counts).hasSizeBetween(990, 1_000);
  }

  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"POISSON", "DAILY"})
  void withoutSkewAllClients_areEqual(Kind kind) {
    GeneratorOptions of = options(Duration.ofHours(1), 100, kind);
    GeneratorOptions even =
        new GeneratorOptions(
            of.traffic(),
            of.seed(),
            of.start(),
            Duration.ofDays(1),
            of.rate() / 24,
            10,
            0,
            of.window(),
            of.maxRequests());
    Map<String, Integer> counts = byAddress(all(even));
    assertThat(counts).hasSize(10);
    double mean = counts.values().stream().mapToInt(Integer::intValue).sum() / 10.0;
    assertThat(counts.values())
        .allSatisfy(n -> assertThat(n - mean).isBetween(-6 * Math.sqrt(mean), 6 * Math.sqrt(mean)));
  }

  @Test
  void day_hasANightAndTheMeanThatWasAskedFor() {
    List<Visit> visits = all(options(Duration.ofDays(1), 5, Kind.DAILY));
    int[] hours = new int[24];
    visits.forEach(visit -> hours[(int) (visit.nanos() / (3_600 * SECOND) % 24)]++);
    assertThat(visits.size() / 86_400.0).isCloseTo(5, within(0.05));
    assertThat(hours[3] / 3_600.0).isCloseTo(5 * 0.2, within(0.2));
    assertThat(hours[15] / 3_600.0).isCloseTo(5 * 1.8, within(0.3));
    assertThat(hours[9] / 3_600.0).isCloseTo(5 * 0.9, within(0.4));
  }

  @Test
  void bursts_areFarFromPoisson() {
    List<Visit> visits = all(options(Duration.ofHours(6), 20, Kind.BURSTS));
    Map<Long, Integer> counts = new HashMap<>();
    visits.forEach(visit -> counts.merge(visit.nanos() / SECOND, 1, Integer::sum));
    double mean = visits.size() / 21_600.0;
    double squares = counts.values().stream().mapToDouble(n -> (double) n * n).sum() / 21_600;
    double dispersion = (squares - mean * mean) / mean;
    assertThat(dispersion).as("variance to mean; of Poisson traffic 1").isGreaterThan(20);
    assertThat(counts.size() / 21_600.0).as("share of seconds with any").isLessThan(0.15);
    assertThat(counts.values()).anyMatch(n -> n > 80);
    assertThat(byAddress(visits)).hasSizeBetween(15, 20);
  }

  @Test
  void scraper_isOneAtAnEvenPace() {
    List<Visit> visits = all(options(Duration.ofHours(1), 1, Kind.SCRAPER));
    assertThat(visits.size() / 3_600.0).isCloseTo(2, within(0.02));
    for (int i = 1; i < visits.size(); i++) {
      long gap = visits.get(i).nanos() - visits.get(i - 1).nanos();
      assertThat(gap).isBetween(SECOND * 45 / 100, SECOND * 55 / 100);
      assertThat(visits.get(i).path()).isEqualTo("/products?page=" + (i + 1));
    }
    assertThat(byAddress(visits)).containsOnlyKeys("192.0.2.66");
  }

  @Test
  void stuffer_spreadsOverAddressesAndMostlyFails() {
    Duration duration = Duration.ofHours(4);
    List<Visit> visits = all(options(duration, 10, Kind.STUFFER));
    long start = Generator.nanos(Instant.parse("2026-11-02T00:00:00Z"));
    assertThat(visits.size() / 3_600.0).isCloseTo(20, within(0.5));
    assertThat(visits)
        .allSatisfy(
            visit -> {
              assertThat(visit.nanos() - start).isBetween(7_200 * SECOND, 10_801 * SECOND);
              assertThat(visit.path()).isEqualTo("/login");
              assertThat(visit.method()).isEqualTo("POST");
            });
    double failed = visits.stream().filter(visit -> visit.status() == 401).count();
    assertThat(failed / visits.size()).isBetween(0.995, 0.9999);
    assertThat(byAddress(visits)).hasSize(200);
  }

  @Test
  void herd_comesWithEveryReset() {
    List<Visit> visits = all(options(Duration.ofHours(1), 1, Kind.HERD));
    assertThat(visits).hasSize(60 * 50);
    assertThat(visits)
        .allSatisfy(visit -> assertThat(visit.nanos() % (60 * SECOND)).isLessThan(50_000_000L));
    assertThat(byAddress(visits)).hasSize(50).allSatisfy((ip, n) -> assertThat(n).isEqualTo(60));
  }

  @Test
  void kinds_doNotChangeEachOther() {
    Duration duration = Duration.ofMinutes(10);
    List<Visit> mixed = all(options(duration, 10, Kind.POISSON, Kind.HERD, Kind.BURSTS));
    List<Visit> alone = all(options(duration, 10, Kind.POISSON));
    assertThat(mixed.stream().filter(visit -> visit.ip().startsWith("10.")).toList())
        .isEqualTo(alone);
  }

  private static String text(GeneratorOptions options, Format format) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Generator.write(options, format, out);
    return out.toString(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @EnumSource(
      value = Format.class,
      names = {"COMBINED", "CSV", "TSV", "JSONL"})
  void whatIsWritten_isReadAgain(Format format) throws Exception {
    GeneratorOptions of = options(Duration.ofMinutes(3), 10, Kind.values());
    String text = text(of, format);
    assertThat(text(of, format)).as("the same bytes").isEqualTo(text);
    Lines lines = Lines.of(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    assertThat(Detection.format("-", lines.head())).isEqualTo(format);
    RequestTemplate template = RequestTemplate.of("", List.of("k={ip} {path} {status}"), "{bytes}");
    List<String> read = new ArrayList<>();
    try (TrafficReader reader =
        TrafficReader.open(
            Traffic.builder("-").build(),
            template,
            new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)))) {
      reader.each(
          (input, line, nanos, request, load, took) ->
              read.add(nanos / SECOND + " " + request.descriptors().get(0)),
          (input, line, reason) -> read.add(reason),
          Progress.NONE);
    }
    List<String> made = new ArrayList<>();
    for (Visit visit : all(of)) {
      // The reader of access logs splits the query off.
      String path = format == Format.COMBINED ? visit.path().replaceAll("\\?.*", "") : visit.path();
      made.add(
          visit.nanos() / SECOND
              + " "
              + new Descriptor(
                  List.of(new Entry("k", visit.ip() + " " + path + " " + visit.status())),
                  null,
                  (long) visit.bytes()));
    }
    assertThat(read).isEqualTo(made).hasSizeGreaterThan(1_000);
  }

  @Test
  void mostRequestsAndWrongOptions_areRespected() throws Exception {
    GeneratorOptions of = options(Duration.ofHours(1), 10, Kind.POISSON);
    GeneratorOptions few =
        new GeneratorOptions(
            of.traffic(), 1, of.start(), of.duration(), 10, 10, 1, of.window(), 17);
    assertThat(all(few)).hasSize(17);
    GeneratorOptions wrong =
        new GeneratorOptions(
            Set.of(), 1, Instant.MAX, Duration.ZERO, Double.NaN, 0, -1, Duration.ofDays(400), 0);
    assertThatThrownBy(() -> text(wrong, Format.AUTO))
        .isInstanceOfSatisfying(
            TrafficException.class,
            e ->
                assertThat(e.problems())
                    .hasSize(9)
                    .allSatisfy(problem -> assertThat(problem).contains(" (expected: ")));
  }
}
