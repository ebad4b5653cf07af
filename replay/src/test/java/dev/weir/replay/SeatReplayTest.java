package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.replay.ReplaySummary.SeatCount;
import dev.weir.testkit.Trials;
import dev.weir.traffic.TimeMeaning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replays of limits at the same time, on logs that show how long requests took. */
class SeatReplayTest {
  private static final long LONGEST_MS = 300_000;

  @TempDir Path folder;
  private Trial trial;

  @BeforeEach
  void open() throws IOException {
    trial = new Trial(folder);
  }

  /** A request of a random log; times are milliseconds. */
  private record Request(long line, long begin, long took, String key, String user, long cost) {
    long end() {
      return begin + Math.min(took, LONGEST_MS);
    }
  }

  /** An admitted request as the brute force keeps it: all of them, for ever. */
  private record Interval(long from, long to, String key, String user, long cost) {}

  /** The results of the brute force. */
  private static final class BruteForce {
    private final TreeMap<Long, String> outcomes = new TreeMap<>();
    private final List<Interval> admitted = new ArrayList<>();
    private final List<Interval> wanted = new ArrayList<>();
    private final long limit;
    private final long rate;
    private final long windowMs;

    BruteForce(long limit, long rate, long windowMs) {
      this.limit = limit;
      this.rate = rate;
      this.windowMs = windowMs;
    }

    void run(List<Request> requests) {
      List<Request> byBegin = new ArrayList<>(requests);
      byBegin.sort(Comparator.comparingLong(Request::begin).thenComparingLong(Request::line));
      for (Request each : byBegin) {
        long out = out(admitted, each.key, each.begin);
        long counted =
            admitted.stream()
                .filter(a -> a.user.equals(each.user) && a.from > each.begin - windowMs)
                .mapToLong(Interval::cost)
                .sum();
        boolean fits = out + each.cost <= limit && counted + each.cost <= rate;
        Interval interval = new Interval(each.begin, each.end(), each.key, each.user, each.cost);
        wanted.add(interval);
        if (fits) {
          admitted.add(interval);
        }
        outcomes.put(each.line, fits ? "ALLOWED" : "DENIED");
      }
    }

    private static long out(List<Interval> intervals, String key, long at) {
      return intervals.stream()
          .filter(a -> a.key.equals(key) && a.from <= at && at < a.to)
          .mapToLong(Interval::cost)
          .sum();
    }

    /** Returns the most at once, at the begins of intervals: between them no more can be out. */
    static long most(List<Interval> intervals) {
      return intervals.stream()
          .filter(each -> each.to > each.from)
          .mapToLong(each -> out(intervals, each.key, each.from))
          .max()
          .orElse(0);
    }

    /** Returns the time in which any key has all of its permits out. */
    long atLimitMs() {
      TreeSet<Long> times = new TreeSet<>();
      admitted.forEach(each -> times.addAll(List.of(each.from, each.to)));
      List<String> keys = admitted.stream().map(Interval::key).distinct().toList();
      long sum = 0;
      for (long at : times) {
        Long next = times.higher(at);
        if (next != null && keys.stream().anyMatch(key -> out(admitted, key, at) >= limit)) {
          sum += next - at;
        }
      }
      return sum;
    }
  }

  private static List<Request> random(SplittableRandom random, boolean weighted) {
    int count = 1 + random.nextInt(250);
    List<Request> requests = new ArrayList<>();
    long spread = 1L + random.nextInt(2_000);
    for (int i = 0; i < count; i++) {
      long took = random.nextInt(8) == 0 ? random.nextInt(400_000) : random.nextInt(3_000);
      took = random.nextInt(10) == 0 ? 0 : took;
      requests.add(
          new Request(
              0,
              1_700_000_000_000L + random.nextLong(spread * count),
              took,
              "k" + random.nextInt(3),
              "u" + random.nextInt(3),
              weighted ? 1L + random.nextInt(3) : 1));
    }
    return requests;
  }

  private List<Request> write(List<Request> requests, boolean ends) throws IOException {
    // A server writes a record when the request has ended, whichever instant it writes.
    List<Request> byEnd = new ArrayList<>(requests);
    byEnd.sort(Comparator.comparingLong(each -> each.begin + each.took));
    StringBuilder csv = new StringBuilder("time,k,u,took,cost\n");
    List<Request> written = new ArrayList<>();
    for (Request each : byEnd) {
      long time = ends ? each.begin + each.took : each.begin;
      csv.append(time).append(',').append(each.key).append(',').append(each.user).append(',');
      csv.append(each.took).append(',').append(each.cost).append('\n');
      written.add(
          new Request(written.size() + 2L, each.begin, each.took, each.key, each.user, each.cost));
    }
    trial.input("in.csv", csv.toString());
    return written;
  }

  private static String rules(long limit, String hold, String more, long rate) {
    return """
        domain: d
        descriptors:
          - key: key
            rate_limit: {name: seats, concurrency: %d, hold: %s%s}
          - key: user
            rate_limit: {name: rate, window: 2s, requests_per_unit: %d}
        """
        .formatted(limit, hold, more, rate);
  }

  private Trial timed(boolean ends) {
    return trial.traffic(
        builder ->
            builder
                .timeUnit(null)
                .time("time:ms")
                .duration("took:ms")
                .timeIs(ends ? TimeMeaning.END : TimeMeaning.BEGIN)
                .descriptor("key={k}")
                .descriptor("user={u}")
                .permits("{cost}"));
  }

  @Test
  void randomLogs_agreeWithBruteForce() throws Exception {
    SplittableRandom random = Trials.random("replayed seats");
    int refused = 0;
    for (int run = 0; run < 60; run++) {
      long limit = random.nextInt(6);
      long rate = random.nextBoolean() ? 1_000_000 : 1L + random.nextInt(8);
      boolean ends = random.nextBoolean();
      String hold = List.of("1s", "7s", "60s").get(random.nextInt(3));
      List<Request> requests = write(random(random, random.nextBoolean()), ends);
      BruteForce expected = new BruteForce(limit, rate, 2_000);
      expected.run(requests);
      ReplaySummary summary = timed(ends).rulesText(rules(limit, hold, "", rate)).run();
      TreeMap<Long, String> outcomes = new TreeMap<>();
      trial.rows().forEach(row -> outcomes.put(row.line(), row.outcome()));
      assertThat(outcomes).as("run " + run).isEqualTo(expected.outcomes);
      assertThat(summary.counts().outOfOrder()).isZero();
      SeatCount seats = summary.seats().get(0);
      assertThat(seats.mostAtOnce()).isGreaterThanOrEqualTo(BruteForce.most(expected.admitted));
      assertThat(seats.mostAtOnce()).isLessThanOrEqualTo(limit);
      assertThat(seats.mostWanted()).isGreaterThanOrEqualTo(BruteForce.most(expected.wanted));
      if (requests.stream().allMatch(each -> each.took > 0)) {
        assertThat(seats.mostAtOnce()).isEqualTo(BruteForce.most(expected.admitted));
        assertThat(seats.mostWanted()).isEqualTo(BruteForce.most(expected.wanted));
      }
      assertThat(seats.atLimitNanos()).isEqualTo(expected.atLimitMs() * 1_000_000);
      refused += (int) summary.counts().denied();
    }
    assertThat(refused).as("the logs are worth a limit").isGreaterThan(500);
  }

  @Test
  void randomQueues_keepTheLimitAndTheOrder() throws Exception {
    SplittableRandom random = Trials.random("replayed seats with a queue");
    long late = 0;
    for (int run = 0; run < 40; run++) {
      long limit = 1L + random.nextInt(4);
      boolean ends = random.nextBoolean();
      List<Request> requests = write(random(random, false), ends);
      String queue = ", on_limit: {queue: {requests: 5, wait: 3s}}";
      ReplaySummary summary = timed(ends).rulesText(rules(limit, "9s", queue, 1_000_000)).run();
      List<Interval> admitted = new ArrayList<>();
      Map<String, Long> lastServed = new TreeMap<>();
      Map<Long, Request> byLine = new TreeMap<>();
      requests.forEach(each -> byLine.put(each.line, each));
      for (String row :
          Files.readAllLines(trial.decisionsFile()).subList(1, trial.rows().size() + 1)) {
        String[] cells = row.split(",", -1);
        Request of = Objects.requireNonNull(byLine.get(Long.parseLong(cells[0])));
        long waited = Long.parseLong(cells[8]);
        assertThat(Long.parseLong(cells[1])).isEqualTo(of.begin);
        assertThat(waited).isBetween(0L, 3_000L);
        if (cells[2].equals("ALLOWED")) {
          long from = of.begin + waited;
          admitted.add(
              new Interval(from, from + Math.min(of.took, LONGEST_MS), of.key, of.user, 1));
          if (waited > 0) {
            late++;
            assertThat(of.begin)
                .as("in the order of arrival")
                .isGreaterThanOrEqualTo(lastServed.getOrDefault(of.key, 0L));
            lastServed.put(of.key, of.begin);
          }
        }
      }
      assertThat(BruteForce.most(admitted)).isLessThanOrEqualTo(limit);
      SeatCount seats = summary.seats().get(0);
      assertThat(seats.mostAtOnce()).isLessThanOrEqualTo(limit);
      assertThat(summary.queues().get(0).servedLate()).isLessThanOrEqualTo(late);
    }
    assertThat(late).isGreaterThan(100);
  }

  private static String seats(String more) {
    return """
        domain: d
        descriptors:
          - key: key
            rate_limit: {name: seats, %s}
        """
        .formatted(more);
  }

  private Trial ended() {
    return trial.traffic(
        builder ->
            builder
                .timeUnit(null)
                .time("time:ms")
                .duration("took:ms")
                .timeIs(TimeMeaning.END)
                .descriptor("key={k}"));
  }

  /**
   * A day's log in small, by hand. The log has ends; the begins are 0, 100, 300, 400, 1000 and 1500
   * (s of a minute: 60 s more each). With two seats, line 2 [0, 900) and line 5 [100, 1000) are
   * admitted; line 4 [300, 800) and line 3 [400, 500) find both out. Line 6 [1000, 1100) begins
   * when line 5 ends, and line 7 [1050, 2050) takes the other seat. Both are out from 100 to 900
   * and from 1050 to 1100: 850 ms. Without the limit all of lines 2 to 5 are out from 400 to 500.
   */
  @Test
  void sampleLog_isAsCountedByHand() throws Exception {
    trial.input(
        "in.csv",
        """
        time,k,took
        60900,a,900
        60500,a,100
        60800,a,500
        61000,a,900
        61100,a,100
        62050,a,1000
        62060,b,10
        """);
    ReplaySummary summary = ended().rulesText(seats("concurrency: 2, hold: 10s")).run();
    assertThat(trial.outcomes())
        .containsExactly(
            "2 ALLOWED",
            "5 ALLOWED",
            "4 DENIED",
            "3 DENIED",
            "6 ALLOWED",
            "7 ALLOWED",
            "8 ALLOWED");
    assertThat(trial.rows().get(1).timestampMs()).isEqualTo(60_100);
    assertThat(summary.seats())
        .containsExactly(
            new SeatCount("seats", "d.key", 2, 10_000_000_000L, 2, 2, 4, 850_000_000L, 0));
    assertThat(summary.text())
        .contains("duration in column took in milliseconds, time is the end")
        .containsPattern("policy +limit +refused +most at once +without it +time at the limit")
        .containsPattern("seats +2 +2 +2 +4 +850.0 ms");
    assertThat(summary.json())
        .contains("\"duration_column\" : \"took\"")
        .contains("\"most_wanted\" : 4")
        .contains("\"at_limit_nanos\" : 850000000");
    assertThat(Trial.ruleWarnings(summary)).isEmpty();
  }

  /**
   * One seat. Line 2 has it until 1000. Line 3 comes at 200, waits until then (tried each 50 ms),
   * and takes its 500 ms until 1500. Line 4 comes at 1400, so it waits until 1500, not until 700 as
   * its neighbour had ended without the wait.
   */
  @Test
  void requestThatWaits_endsLaterByItsWait() throws Exception {
    trial.input("in.csv", "time,k,took\n61000,a,1000\n60700,a,500\n61450,a,50\n");
    ReplaySummary summary =
        ended()
            .rulesText(
                seats("concurrency: 1, hold: 10s, on_limit: {queue: {requests: 5, wait: 3s}}"))
            .run();
    List<String> waits =
        Files.readAllLines(trial.decisionsFile()).stream()
            .skip(1)
            .map(row -> row.split(",", -1))
            .map(cells -> cells[0] + " " + cells[2] + " " + cells[8])
            .toList();
    assertThat(waits).containsExactly("2 ALLOWED 0", "3 ALLOWED 800", "4 ALLOWED 100");
    assertThat(summary.queues().get(0).servedLate()).isEqualTo(2);
    assertThat(summary.queues().get(0).longestWaitNanos()).isEqualTo(800_000_000);
    assertThat(summary.queues().get(0).wait99Nanos()).isEqualTo(800_000_000);
    assertThat(summary.queues().get(0).medianWaitNanos()).isBetween(100_000_000L, 102_000_000L);
    assertThat(summary.seats().get(0).mostAtOnce()).isEqualTo(1);
    assertThat(summary.seats().get(0).atLimitNanos()).isEqualTo(1_550_000_000L);
  }

  /** A request of ten minutes has its seat for five, as middleware keeps it, renewed each 3.3 s. */
  @Test
  void longRequest_keepsItsSeatForFiveMinutes() throws Exception {
    trial.input(
        "in.csv", "time,k,took\n600000,a,600000\n299999,a,0\n300000,a,0\n300001,a,299999\n");
    ReplaySummary summary =
        trial
            .traffic(
                builder ->
                    builder
                        .timeUnit(null)
                        .time("time:ms")
                        .duration("took:ms")
                        .timeIs(TimeMeaning.END)
                        .descriptor("key={k}"))
            .rulesText(seats("concurrency: 1, hold: 10s"))
            .run();
    assertThat(trial.outcomes()).containsExactly("2 ALLOWED", "5 DENIED", "3 DENIED", "4 ALLOWED");
    assertThat(summary.seats().get(0).cutShort()).isEqualTo(1);
    assertThat(summary.text())
        .contains("seats: longer than the 5 min for which middleware keeps a seat: 1");
  }

  @Test
  void requestRefusedByARate_takesNoSeat() throws Exception {
    trial.input("in.csv", "time,k,u,took,cost\n100,a,x,50,1\n1100,a,x,1000,1\n1200,a,y,900,1\n");
    ReplaySummary summary = timed(true).rulesText(rules(1, "10s", "", 1)).run();
    // Line 3 begins at 100, when line 2 has ended, but its user has used the one permit.
    assertThat(trial.outcomes()).containsExactly("2 ALLOWED", "3 DENIED", "4 ALLOWED");
    assertThat(summary.seats().get(0).denied()).isZero();
  }

  @Test
  void logWithoutDurations_saysWhatIsMissing() throws Exception {
    trial.input("in.csv", "time,k,latency\n1,a,3\n2,a,3\n");
    ReplaySummary summary =
        trial
            .traffic(builder -> builder.descriptor("key={k}"))
            .rulesText(seats("concurrency: 1, hold: 3s"))
            .run();
    assertThat(summary.seats()).isEmpty();
    assertThat(Trial.ruleWarnings(summary))
        .containsExactly(
            "rule seats (d.key): each request counts for the hold of 3 s, whether it was shorter or"
                + " longer; duration: column latency may have it (expected: --duration latency:s,"
                + " :ms, :us or :ns, and --time-is begin or end)");
  }

  @Test
  void durationsInAWrongUnit_areAnError() throws Exception {
    trial.input("in.csv", "time,k,took\n1,a,3\n");
    assertThatThrownBy(
            () ->
                trial
                    .traffic(
                        b -> b.duration("took:min").timeIs(TimeMeaning.END).descriptor("key={k}"))
                    .rulesText(seats("concurrency: 1"))
                    .run())
        .hasMessageContaining("duration: \"took:min\" without a unit (expected: s, ms, us or ns");
  }

  @Test
  void page_hasTheSeats() throws Exception {
    trial.input("in.csv", "time,k,took\n60900,a,900\n60500,a,100\n61000,a,900\n");
    Path page = folder.resolve("report.html");
    ended()
        .options(builder -> builder.report(page))
        .rulesText(seats("concurrency: 2, hold: 10s"))
        .run();
    assertThat(Files.readString(page))
        .contains("<h2>At the same time</h2>")
        .contains("time at the limit")
        .contains("What would other limits refuse?")
        .contains("limit at the same time")
        .contains("refuses no key")
        .contains("--duration took:ms")
        .contains("--time-is end");
  }
}
