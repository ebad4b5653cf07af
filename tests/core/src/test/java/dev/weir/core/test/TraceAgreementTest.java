package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.GeneratedRequest;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every record of real traffic is decided like the oracle, by every algorithm. The traces are used
 * if they are beside the repository; generated traffic of the same kind is always used.
 */
class TraceAgreementTest {
  private static final Path TRACES = Path.of("..", "..", "..", "shared", "traces");
  private static final Pattern COMBINED = Pattern.compile("(\\S+) \\S+ \\S+ \\[([^]]+)] .*");
  private static final DateTimeFormatter COMBINED_TIME =
      DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ROOT);
  private static final DateTimeFormatter FRACTION_TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSSSSSS", Locale.ROOT);

  private interface Reader {
    GeneratedRequest read(String line);
  }

  @TestFactory
  Stream<DynamicTest> everyRecord_agreesWithTheOracle() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    add(tests, "generated web traffic", generated(20_000, 30, 1), 5);
    add(tests, "generated token use", generated(8_000, 1, 400), 2_000);
    addFile(tests, "nasa-1995-08-01.tsv", 1, TraceAgreementTest::nasa, 5, 30_969);
    addFile(tests, "apache-access.log", 0, TraceAgreementTest::apache, 5, 10_000);
    addFile(tests, "azure-llm-code.csv", 1, TraceAgreementTest::azure, 2_000, 8_819);
    return tests.stream();
  }

  private static void addFile(
      List<DynamicTest> tests, String file, int header, Reader reader, long permits, int records)
      throws IOException {
    Path path = TRACES.resolve(file);
    if (Files.isRegularFile(path)) {
      List<GeneratedRequest> asks;
      try (Stream<String> lines = Files.lines(path, StandardCharsets.ISO_8859_1)) {
        asks = lines.skip(header).filter(line -> !line.isBlank()).map(reader::read).toList();
      }
      assertThat(asks).as(file).hasSize(records);
      add(tests, file, asks, permits);
    }
  }

  private static void add(
      List<DynamicTest> tests, String name, List<GeneratedRequest> asks, long permits) {
    for (Algorithm algorithm : Algorithm.rates()) {
      Policy policy = Policy.builder(Quota.perMinute(permits)).algorithm(algorithm).build();
      tests.add(DynamicTest.dynamicTest(name + ", " + algorithm, () -> agree(policy, asks)));
    }
  }

  private static GeneratedRequest nasa(String line) {
    String[] columns = line.split("\t", -1);
    return new GeneratedRequest(Long.parseLong(columns[2]) * 1_000_000_000L, columns[0], 1);
  }

  private static GeneratedRequest apache(String line) {
    Matcher matcher = COMBINED.matcher(line);
    assertThat(matcher.matches()).as(line).isTrue();
    Instant time = OffsetDateTime.parse(matcher.group(2), COMBINED_TIME).toInstant();
    return new GeneratedRequest(nanos(time), matcher.group(1), 1);
  }

  private static GeneratedRequest azure(String line) {
    String[] columns = line.split(",", -1);
    Instant time = LocalDateTime.parse(columns[0], FRACTION_TIME).toInstant(ZoneOffset.UTC);
    return new GeneratedRequest(nanos(time), "all", Long.parseLong(columns[2]));
  }

  private static long nanos(Instant time) {
    return time.getEpochSecond() * 1_000_000_000L + time.getNano();
  }

  private static List<GeneratedRequest> generated(int count, int keys, long most) {
    SplittableRandom random = Trials.random("generated traffic " + count);
    List<GeneratedRequest> asks = new ArrayList<>();
    long now = 1_763_700_000_000_000_000L;
    for (int i = 0; i < count; i++) {
      now += random.nextInt(3) == 0 ? random.nextLong(3_000_000_000L) / 1_000 * 1_000 : 0;
      long late = random.nextInt(10) == 0 ? random.nextLong(10_000_000_000L) : 0;
      // A few keys have many requests, most of them few.
      int key = random.nextInt(random.nextInt(keys) + 1);
      asks.add(new GeneratedRequest(now - late, "host-" + key, random.nextLong(most + 1)));
    }
    return asks;
  }

  private static void agree(Policy policy, List<GeneratedRequest> asks) {
    FakeTicker ticker = new FakeTicker(Long.MIN_VALUE);
    RateLimiter limiter = RateLimiter.builder(policy).ticker(ticker).build();
    Oracle oracle = Oracle.of(policy);
    List<Operation> history = new ArrayList<>();
    long allowed = 0;
    for (GeneratedRequest ask : asks) {
      // A record that comes late is decided at the latest time so far, as by a server's clock.
      long now = Math.max(ticker.nanos(), ask.nowNanos());
      ticker.set(now);
      Decision decision = limiter.tryAcquire(ask.key(), ask.permits());
      Oracle.Verdict right = oracle.decide(ask.key(), now, ask.permits());
      Oracle.Verdict answer =
          new Oracle.Verdict(decision.allowed(), decision.remaining(), decision.retryAfterNanos());
      if (!answer.equals(right)) {
        assertThat(answer).as("%s", ask).isEqualTo(right);
      }
      allowed += decision.allowed() ? 1 : 0;
      history.add(Operation.at(ask.key(), ask.permits(), decision));
    }
    assertThat(allowed).isBetween(1L, asks.size() - 1L);
    assertThat(WindowChecker.maxInAnyWindow(history, policy.quota().windowNanos()))
        .isLessThanOrEqualTo(Oracle.bound(policy));
  }
}
