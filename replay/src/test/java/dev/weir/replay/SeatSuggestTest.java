package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.replay.LimitSuggestions.RefusalCount;
import dev.weir.testkit.Trials;
import dev.weir.traffic.Progress;
import dev.weir.traffic.TimeMeaning;
import dev.weir.traffic.Traffic;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Suggestions of limits at the same time. */
class SeatSuggestTest {
  private static final long LONGEST_MS = 300_000;

  @TempDir Path folder;

  /** A request; times are milliseconds. */
  private record Request(long begin, long took, String key, long cost) {}

  /** The refusals that the brute force counts. */
  private record Refused(long requests, long permits, long keys) {}

  private static Refused bruteForce(List<Request> byBegin, long limit) {
    List<Request> admitted = new ArrayList<>();
    Map<String, Long> refused = new TreeMap<>();
    long permits = 0;
    for (Request each : byBegin) {
      long out = 0;
      for (Request a : admitted) {
        boolean now = each.begin < a.begin + Math.min(a.took, LONGEST_MS);
        out += a.key.equals(each.key) && now ? a.cost : 0;
      }
      if (out + each.cost <= limit) {
        admitted.add(each);
      } else {
        refused.merge(each.key, 1L, Long::sum);
        permits += each.cost;
      }
    }
    long requests = refused.values().stream().mapToLong(Long::longValue).sum();
    return new Refused(requests, permits, refused.size());
  }

  private static List<Request> random(SplittableRandom random, boolean weighted) {
    int count = 20 + random.nextInt(300);
    long spread = 1L + random.nextInt(600);
    List<Request> requests = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long took = random.nextInt(9) == 0 ? random.nextInt(400_000) : random.nextInt(4_000);
      requests.add(
          new Request(
              1_700_000_000_000L + random.nextLong(spread * count),
              random.nextInt(12) == 0 ? 0 : took,
              "k" + random.nextInt(4),
              weighted ? 1L + random.nextInt(4) : 1));
    }
    // Of equal begins, the one that ends first is written first.
    requests.sort(Comparator.comparingLong(Request::begin).thenComparingLong(Request::took));
    return requests;
  }

  /** Writes a log in the order of ends, as nginx would. */
  private Path write(List<Request> requests) throws IOException {
    List<Request> byEnd = new ArrayList<>(requests);
    byEnd.sort(Comparator.comparingLong(each -> each.begin + each.took));
    StringBuilder csv = new StringBuilder("time,k,took,cost\n");
    for (Request each : byEnd) {
      csv.append(each.begin + each.took).append(',').append(each.key).append(',');
      csv.append(each.took).append(',').append(each.cost).append('\n');
    }
    return Files.writeString(folder.resolve("in.csv"), csv);
  }

  private static Traffic.Builder timed(Path file) {
    return Traffic.builder(file.toString())
        .time("time:ms")
        .duration("took:ms")
        .timeIs(TimeMeaning.END)
        .permits("{cost}")
        .descriptor("key={k}");
  }

  private static Suggestion suggest(Traffic traffic, double share) throws Exception {
    LimitSuggestions.Options options =
        new LimitSuggestions.Options(
            List.of(Duration.ofMillis(1)), share, Algorithm.SLIDING_WINDOW, "d");
    return LimitSuggestions.run(
        traffic, options, null, Progress.NONE, InputStream.nullInputStream());
  }

  private static SeatSuggestion seats(Suggestion suggestion) {
    SeatSuggestion seats = suggestion.seats();
    if (seats == null) {
      throw new AssertionError("no limit at the same time");
    }
    return seats;
  }

  @Test
  void randomLogs_getTheSmallestLimit_byBruteForce() throws Exception {
    SplittableRandom random = Trials.random("suggested seats");
    for (int run = 0; run < 40; run++) {
      boolean weighted = random.nextInt(4) == 0;
      List<Request> requests = random(random, weighted);
      double share = random.nextInt(4) * 0.05;
      Suggestion suggestion = suggest(timed(write(requests)).build(), share);
      SeatSuggestion found = seats(suggestion);
      for (RefusalCount each : found.curve()) {
        Refused expected = bruteForce(requests, each.limit());
        assertThat(new Refused(each.requests(), each.permits(), each.keys()))
            .as("run " + run + ", limit " + each.limit())
            .isEqualTo(expected);
      }
      long keys = requests.stream().map(Request::key).distinct().count();
      long mostRequests = (long) Math.floor(share * requests.size() + 1e-9);
      long mostKeys = (long) Math.floor(share * keys + 1e-9);
      if (!weighted) { // Each lower limit is tried, since the smallest is promised.
        assertThat(found.forRequests().limit())
            .isEqualTo(smallest(requests, refused -> refused.requests <= mostRequests));
        assertThat(found.forKeys().limit())
            .isEqualTo(smallest(requests, refused -> refused.keys <= mostKeys));
      }
      assertThat(bruteForce(requests, found.both().limit()).requests)
          .isLessThanOrEqualTo(mostRequests);
      assertThat(bruteForce(requests, found.mostAtOnce()).requests).isZero();
      assertThat(bruteForce(requests, found.mostAtOnce() - 1).requests).isPositive();
    }
  }

  private static long smallest(List<Request> requests, Predicate<Refused> enough) {
    long limit = 0;
    while (!enough.test(bruteForce(requests, limit))) {
      limit++;
    }
    return limit;
  }

  @Test
  void suggestedRules_refuseInAReplayAsManyAsIsSaid() throws Exception {
    SplittableRandom random = Trials.random("suggested seats in a replay");
    for (int run = 0; run < 10; run++) {
      Path file = write(random(random, false));
      Suggestion suggestion = suggest(timed(file).build(), 0.1);
      SeatSuggestion found = seats(suggestion);
      String text = suggestion.text();
      String rules = text.substring(text.indexOf("rules to paste for it\n\n") + 23);
      ReplaySummary summary =
          new Trial(folder)
              .rulesText(rules)
              .inputFile(file)
              .traffic(
                  builder ->
                      builder
                          .timeUnit(null)
                          .time("time:ms")
                          .duration("took:ms")
                          .timeIs(TimeMeaning.END)
                          .descriptor("key={k}"))
              .run();
      assertThat(summary.counts().denied()).isEqualTo(found.suggested().requests());
      assertThat(summary.seats().get(0).mostWanted()).isEqualTo(found.mostAtOnce());
    }
  }

  /**
   * By hand. The begins are 0, 100, 300, 400 and 1000: [0, 900), [100, 1000), [300, 800), [400,
   * 500) and [1000, 1100) of a, and [50, 60) of b. All four of a are out at 400. Seats in their
   * order: 1, 2, 3, 4, 1, and 1 for b. So a limit of 3 refuses one request of six, of 2 two, of 1
   * three.
   */
  @Test
  void sampleLog_isAsCountedByHand() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("in.csv"),
            """
            time,k,took,cost
            60060,b,10,1
            60500,a,100,1
            60800,a,500,1
            60900,a,900,1
            61000,a,900,1
            61100,a,100,1
            """);
    SeatSuggestion found = seats(suggest(timed(file).build(), 0.34));
    assertThat(found.forRequests()).isEqualTo(new RefusalCount(2, 2, 2, 1, "key=a", 2));
    assertThat(found.forKeys()).isEqualTo(new RefusalCount(4, 0, 0, 0, "", 0));
    assertThat(found.both().limit()).isEqualTo(4);
    assertThat(found.below()).isEqualTo(new RefusalCount(3, 1, 1, 1, "key=a", 1));
    assertThat(found.mostAtOnce()).isEqualTo(4);
    assertThat(found.mostKey()).isEqualTo("key=a");
    assertThat(found.keys99()).isEqualTo(4);
    assertThat(found.longestNanos()).isEqualTo(900_000_000);
    assertThat(found.holdNanos()).isEqualTo(10_000_000_000L);
  }

  @Test
  void severalDescriptors_haveOneTableAndOneFileOfRules() throws Exception {
    Path file = write(random(Trials.random("several seats"), false));
    Path page = folder.resolve("suggest.html");
    LimitSuggestions.Options options =
        new LimitSuggestions.Options(
            List.of(Duration.ofMillis(1)), 0, Algorithm.SLIDING_WINDOW, "d", 0.5, 1);
    Suggestions all =
        LimitSuggestions.runEach(
            timed(file).descriptor("k2={k}x").build(), options, page, Progress.NONE);
    assertThat(all.text())
        .containsPattern("at the same time\n\n +for each +limit for requests")
        .containsPattern("(?s)rules to paste for it.*- key: key\n.*concurrency: \\d+\n.*hold: 5m\n")
        .containsPattern("(?s)rules to paste for it.*- key: k2\n.*concurrency: \\d+\n");
    for (Suggestion each : all.each()) {
      SeatSuggestion seats = seats(each);
      assertThat(seats.suggested().limit()).isEqualTo((3 * seats.both().limit() + 1) / 2);
    }
    assertThat(all.json()).contains("\"at_the_same_time\" : {", "\"most_at_once\" : ");
    assertThat(Files.readString(page))
        .contains("<h2>At the same time</h2>", "Rules to paste for it", "concurrency: ");
  }

  @Test
  void logWithoutDurations_hasNoLimitAtTheSameTime() throws Exception {
    Path file = Files.writeString(folder.resolve("in.csv"), "time,k\n10.5,a\n11,a\n");
    Suggestion suggestion =
        suggest(Traffic.builder(file.toString()).time("time:s").descriptor("k={k}").build(), 0);
    assertThat(suggestion.seats()).isNull();
    assertThat(suggestion.text()).doesNotContain("at the same time");
    assertThat(suggestion.json()).doesNotContain("at_the_same_time");
  }
}
