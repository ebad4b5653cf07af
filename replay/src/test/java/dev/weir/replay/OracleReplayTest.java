package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A test that every row of every replay is the oracle's decision, on generated traffic and, if they
 * lie beside the repository, on real traces. The traces are read here in the plainest way, by code
 * that shares nothing with the readers.
 */
class OracleReplayTest {
  static final Path TRACES = Path.of("..", "..", "shared", "traces");

  private static final DateTimeFormatter ACCESS_LOG =
      DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ROOT);

  private static final DateTimeFormatter AZURE =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSSSSSS", Locale.ROOT);

  @TempDir Path folder;

  /** A record as the test reads it. */
  record Asked(long line, long nanos, String key, long permits) {}

  /** An input, its records, and the way to replay it. */
  record Recorded(Path file, List<Asked> records, Quota quota, String descriptor, String permits) {}

  static Stream<Algorithm> algorithms() {
    return Algorithm.rates().stream();
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void generatedTraffic_agreesWithTheOracle(Algorithm algorithm) throws Exception {
    long seed = Trials.random("replayed traffic, " + algorithm).nextLong();
    compare(generated(new SplittableRandom(seed)), algorithm, "seed " + seed);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void realTraces_agreeWithTheOracle(Algorithm algorithm) throws Exception {
    for (Recorded trace : real()) {
      compare(trace, algorithm, trace.file.getFileName().toString());
    }
  }

  /** Returns the real traces, if they are there. */
  static List<Recorded> real() throws IOException {
    return Files.isDirectory(TRACES) ? List.of(nasa(), apache(), azure()) : List.of();
  }

  private Recorded generated(SplittableRandom random) throws IOException {
    StringBuilder text = new StringBuilder("key,time,cost\n");
    List<Asked> records = new ArrayList<>();
    long nanos = 1_700_000_000_000_000_000L + random.nextLong(60_000_000_000L);
    for (int i = 0; i < 6_000; i++) {
      nanos += random.nextInt(4) == 0 ? 0 : random.nextLong(40_000_000);
      nanos += random.nextInt(500) == 0 ? random.nextLong(3_000_000_000L) : 0;
      long at = random.nextInt(10) == 0 ? nanos - random.nextLong(50_000_000) : nanos;
      long permits = random.nextInt(5) == 0 ? random.nextLong(12) : 1;
      String key = "k" + random.nextInt(4);
      text.append(key).append(',').append(seconds(at)).append(',').append(permits).append('\n');
      records.add(new Asked(i + 2L, at, key, permits));
    }
    Path file = Files.writeString(folder.resolve("generated.csv"), text);
    return new Recorded(file, records, Quota.perSecond(10), "key={key}", "{cost}");
  }

  private static String seconds(long nanos) {
    return nanos / 1_000_000_000
        + "."
        + Long.toString(1_000_000_000 + nanos % 1_000_000_000).substring(1);
  }

  static Recorded nasa() throws IOException {
    Path file = TRACES.resolve("nasa-1995-08-01.tsv");
    List<String> lines = Files.readAllLines(file, StandardCharsets.ISO_8859_1);
    List<Asked> records = new ArrayList<>();
    for (int i = 1; i < lines.size(); i++) {
      String[] cells = lines.get(i).split("\t", -1);
      records.add(new Asked(i + 1L, Long.parseLong(cells[2]) * 1_000_000_000, cells[0], 1));
    }
    assertThat(records).hasSize(30_969);
    return new Recorded(file, records, Quota.perMinute(5), "key={host}", "1");
  }

  static Recorded apache() throws IOException {
    Path file = TRACES.resolve("apache-access.log");
    List<String> lines = Files.readAllLines(file, StandardCharsets.ISO_8859_1);
    List<Asked> records = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      String time = line.substring(line.indexOf('[') + 1, line.indexOf(']'));
      long second = OffsetDateTime.parse(time, ACCESS_LOG).toEpochSecond();
      String ip = line.substring(0, line.indexOf(' '));
      records.add(new Asked(i + 1L, second * 1_000_000_000, ip, 1));
    }
    assertThat(records).hasSize(10_000);
    return new Recorded(file, records, Quota.perMinute(5), "key={ip}", "1");
  }

  static Recorded azure() throws IOException {
    Path file = TRACES.resolve("azure-llm-code.csv");
    List<String> lines = Files.readAllLines(file, StandardCharsets.ISO_8859_1);
    List<Asked> records = new ArrayList<>();
    for (int i = 1; i < lines.size(); i++) {
      String[] cells = lines.get(i).split(",", -1);
      Instant time = LocalDateTime.parse(cells[0], AZURE).toInstant(ZoneOffset.UTC);
      long nanos = time.getEpochSecond() * 1_000_000_000 + time.getNano();
      records.add(new Asked(i + 1L, nanos, "everybody", Long.parseLong(cells[2])));
    }
    assertThat(records).hasSize(8_819);
    return new Recorded(
        file, records, Quota.perMinute(2_000), "key=everybody", "{GeneratedTokens}");
  }

  private void compare(Recorded trace, Algorithm algorithm, String what) throws Exception {
    String unit = trace.quota.windowNanos() == 1_000_000_000 ? "second" : "minute";
    Trial trial =
        new Trial(folder)
            .rulesText(Trial.rules(algorithm.text(), trace.quota.permits(), unit))
            .inputFile(trace.file)
            .traffic(o -> o.descriptor(trace.descriptor).permits(trace.permits));
    ReplaySummary summary = trial.run();

    Policy policy = Policy.builder(trace.quota).algorithm(algorithm).build();
    Oracle oracle = Oracle.of(policy);
    List<WindowChecker.Operation> admitted = new ArrayList<>();
    List<Trial.Row> expected = new ArrayList<>();
    long now = Long.MIN_VALUE;
    long denied = 0;
    for (Asked asked : trace.records) {
      now = Math.max(now, asked.nanos);
      Oracle.Verdict verdict = oracle.decide(asked.key, now, asked.permits);
      denied += verdict.allowed() ? 0 : 1;
      if (verdict.allowed()) {
        admitted.add(WindowChecker.Operation.admitted(asked.key, asked.permits, now));
      }
      expected.add(row(asked, verdict, policy.burst()));
    }
    assertThat(trial.rows()).as(what).isEqualTo(expected);
    assertThat(summary.counts().requests()).as(what).isEqualTo(trace.records.size());
    assertThat(summary.counts().denied()).as(what).isEqualTo(denied).isPositive();
    assertThat(WindowChecker.maxInAnyWindow(admitted, trace.quota.windowNanos()))
        .as(what)
        .isLessThanOrEqualTo(Oracle.bound(policy));
  }

  private static Trial.Row row(Asked asked, Oracle.Verdict verdict, long limit) {
    long retry = verdict.retryAfterNanos();
    long retryMillis =
        retry == Decision.NEVER
            ? -1
            : Math.floorDiv(retry, 1_000_000) + (retry % 1_000_000 > 0 ? 1 : 0);
    return new Trial.Row(
        asked.line,
        Math.floorDiv(asked.nanos, 1_000_000),
        verdict.allowed() ? "ALLOWED" : "DENIED",
        verdict.allowed() ? "WITHIN_LIMIT" : "OVER_LIMIT",
        "lim",
        Long.toString(limit),
        Long.toString(verdict.remaining()),
        Long.toString(retryMillis));
  }
}
