package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Fingerprint;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordedTrafficTest {
  private static final long MINUTE = 60_000_000_000L;
  private static final long HOUR = 60 * MINUTE;
  private static final long START = 1_790_000_000_000_000_000L;

  private final FakeTicker ticker = new FakeTicker(START);

  private record Came(long nanos, Request request) {}

  private static List<Came> all(RecordedRequests requests) {
    List<Came> all = new ArrayList<>();
    for (RecordedRequests.Cursor cursor = requests.cursor(); cursor.next(); ) {
      all.add(new Came(cursor.nanos(), cursor.request()));
    }
    return all;
  }

  private static List<Came> all(RecordedTraffic traffic) {
    return all(traffic.requests(HOUR, Long.MAX_VALUE));
  }

  private static Request user(long number) {
    return Request.of("shop", "user", "user-" + number);
  }

  @Test
  void emptyRecording_hasNothing() {
    RecordedTraffic traffic = new RecordedTraffic(ticker);
    assertThat(all(traffic)).isEmpty();
    assertThat(traffic.bytes()).isPositive().isLessThan(RecordedTraffic.MIN_BYTES);
    assertThat(traffic.requests(HOUR, 1).came()).isZero();
  }

  @Test
  void everyKindOfRequest_comesBackAsItWas() {
    Descriptor override =
        new Descriptor(
            List.of(new Entry("k", "v")),
            new LimitOverride((1L << 32) - 1, RateLimitUnit.DAY),
            Long.MAX_VALUE);
    List<Request> requests =
        List.of(
            user(1),
            new Request("", List.of(Descriptor.of("", "")), 0),
            new Request("d", List.of(Descriptor.of()), 1),
            new Request("d", List.of(override, Descriptor.of("k", "v", "k", "v")), 1L << 40),
            new Request("d", List.of(new Descriptor(List.of(), null, 0L)), -1),
            Request.of(
                "\u00e9", "\u20ac", "\ud83d\ude00", "\ud800", "\u0000", "a,b=c", "x".repeat(999)),
            user(1));
    RecordedTraffic traffic = new RecordedTraffic(ticker);
    for (Request request : requests) {
      traffic.add(request);
      ticker.advance(1);
    }
    List<Came> back = all(traffic);
    assertThat(back).extracting(Came::request).isEqualTo(requests);
    assertThat(back).extracting(Came::nanos).first().isEqualTo(START);
  }

  @Test
  void requestWithoutDescriptor_isNotRecorded() {
    RecordedTraffic traffic = new RecordedTraffic(ticker);
    traffic.add(new Request("d", List.of(), 1));
    assertThat(all(traffic)).isEmpty();
  }

  @Test
  void hugeRequest_isCountedAndNotRecorded() {
    RecordedTraffic traffic = new RecordedTraffic(ticker);
    traffic.add(Request.of("d", "k", "x".repeat(100_000)));
    traffic.add(user(1));
    assertThat(all(traffic)).extracting(Came::request).containsExactly(user(1));
    assertThat(traffic.requests(HOUR, 10).came()).isEqualTo(2);
  }

  @Test
  void requestsBelowTheBound_comeBackInOrder() {
    int runs = 5;
    SplittableRandom seeds = Trials.random("recorded traffic", runs);
    for (int round = 0; round < runs; round++) {
      long seed = seeds.nextLong();
      Random random = new Random(seed);
      FakeTicker time = new FakeTicker(START);
      RecordedTraffic traffic =
          new RecordedTraffic(
              time, (1L << 20) << random.nextInt(6), Fingerprint.seeded(seed, round));
      List<Came> given = new ArrayList<>();
      int count = random.nextInt(12_000);
      int keys = 1 + random.nextInt(3_000);
      for (int i = 0; i < count; i++) {
        time.advance(1 + random.nextInt(1_000_000));
        Request request = random(random, keys);
        traffic.add(request);
        given.add(new Came(time.nanos(), request));
        if (random.nextInt(1_000) == 0) {
          traffic.expire();
        }
        assertThat(traffic.bytes()).isLessThanOrEqualTo(traffic.maxBytes());
      }
      RecordedRequests back = traffic.requests(HOUR, Long.MAX_VALUE);
      assertThat(back.came()).isEqualTo(count);
      if (back.keysPerRecorded() == 1) {
        assertThat(all(back)).as("seed %d", seed).isEqualTo(given);
      } else {
        assertWholeKeys(given, back, "seed " + seed);
      }
    }
  }

  private static Request random(Random random, int keys) {
    List<Descriptor> descriptors = new ArrayList<>();
    for (int i = random.nextInt(3); i >= 0; i--) {
      List<Entry> entries = new ArrayList<>();
      for (int j = random.nextInt(3); j >= 0; j--) {
        entries.add(new Entry("key" + random.nextInt(3), "value " + random.nextInt(keys)));
      }
      Long permits = random.nextInt(4) == 0 ? (Long) (long) random.nextInt(1_000) : null;
      descriptors.add(new Descriptor(entries, null, permits));
    }
    return new Request("d" + random.nextInt(2), descriptors, random.nextInt(3));
  }

  private record Key(String domain, List<Entry> first) {
    static Key of(Request request) {
      return new Key(request.domain(), request.descriptors().get(0).entries());
    }
  }

  /**
   * Checks that all requests of each key are in the recording, or none, and that they are
   * unchanged.
   */
  private static void assertWholeKeys(List<Came> given, RecordedRequests back, String seed) {
    List<Came> read = all(back);
    Set<Key> recorded = new HashSet<>();
    read.forEach(each -> recorded.add(Key.of(each.request)));
    List<Came> expected = new ArrayList<>();
    Set<Key> keys = new HashSet<>();
    for (Came each : given) {
      if (each.nanos >= back.fromNanos()) {
        keys.add(Key.of(each.request));
        if (recorded.contains(Key.of(each.request))) {
          expected.add(each);
        }
      }
    }
    assertThat(read).as(seed).isEqualTo(expected);
    double share = (double) recorded.size() / keys.size();
    double of = share * back.keysPerRecorded();
    // The bound is five standard deviations of a binomial share.
    double off = 5 * Math.sqrt(back.keysPerRecorded() / (double) keys.size());
    assertThat(of).as(seed + ": share of keys").isBetween(1 - off, 1 + off);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 50})
  void moreThanFits_isWholeKeys(int requestsOfAKey) {
    long seed = Trials.random("recorded traffic beyond the bound").nextLong();
    Random random = new Random(seed);
    RecordedTraffic traffic =
        new RecordedTraffic(ticker, RecordedTraffic.MIN_BYTES, Fingerprint.seeded(seed, 1));
    List<Came> given = new ArrayList<>();
    int requests = 300_000;
    for (int i = 0; i < requests; i++) {
      ticker.advance(10_000);
      Request request = user(random.nextInt(requests / requestsOfAKey));
      traffic.add(request);
      given.add(new Came(ticker.nanos(), request));
      if (i % 1_000 == 0) {
        assertThat(traffic.bytes()).isLessThanOrEqualTo(traffic.maxBytes());
      }
    }
    RecordedRequests back = traffic.requests(HOUR, Long.MAX_VALUE);
    assertThat(back.keysPerRecorded()).isGreaterThan(1).isEqualTo(traffic.keysPerRecorded());
    assertThat(back.came()).isEqualTo(requests);
    assertWholeKeys(given, back, "seed " + seed);
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void millionsOfDistinctKeys_neverExceedTheBound() {
    int keys = Trials.unseeded("distinct keys", Trials.runs(1_000_000, 2_500_000));
    long max = 8 << 20;
    RecordedTraffic traffic = new RecordedTraffic(ticker, max);
    long most = 0;
    for (int i = 0; i < keys; i++) {
      ticker.advance(1_000);
      traffic.add(user(i));
      most = Math.max(most, traffic.bytes());
    }
    assertThat(most).isLessThanOrEqualTo(max).isGreaterThan(max / 2);
    RecordedRequests back = traffic.requests(HOUR, Long.MAX_VALUE);
    long expected = keys / back.keysPerRecorded();
    long count = 0;
    for (RecordedRequests.Cursor cursor = back.cursor(); cursor.next(); ) {
      count++;
    }
    double off = 5 * Math.sqrt((double) expected);
    assertThat((double) count).isBetween(expected - off, expected + off);
    assertThat(back.keysPerRecorded()).isLessThanOrEqualTo(64);
  }

  @Test
  void requestsOlderThanAnHour_areForgotten() {
    RecordedTraffic traffic = new RecordedTraffic(ticker);
    long empty = traffic.bytes();
    for (int i = 0; i < 180; i++) {
      traffic.add(user(i));
      ticker.advance(Duration.ofMinutes(1));
      traffic.expire();
    }
    List<Came> back = all(traffic);
    assertThat(back).extracting(Came::nanos).allMatch(nanos -> nanos >= ticker.nanos() - HOUR);
    assertThat(back).hasSize(60);
    assertThat(back.get(0).request()).isEqualTo(user(120));
    ticker.advance(Duration.ofMinutes(66));
    traffic.expire();
    assertThat(traffic.bytes()).isEqualTo(empty);
  }

  @Test
  void shorterSpan_beginsAtATenthSecond() {
    RecordedTraffic traffic = new RecordedTraffic(ticker);
    for (int i = 0; i < 3_600; i++) {
      ticker.advance(Duration.ofSeconds(1));
      traffic.add(user(i));
    }
    RecordedRequests back = traffic.requests(5 * MINUTE, Long.MAX_VALUE);
    assertThat(back.fromNanos() % 10_000_000_000L).isZero();
    assertThat(back.toNanos() - back.fromNanos())
        .isBetween(5 * MINUTE - 10_000_000_000L, 5 * MINUTE);
    assertThat(all(back)).hasSize((int) back.came()).hasSizeBetween(290, 301);
    assertThat(all(back)).extracting(Came::nanos).allMatch(nanos -> nanos >= back.fromNanos());
  }

  @Test
  void tooManyForAReplay_areWholeKeys() {
    RecordedTraffic traffic = new RecordedTraffic(ticker);
    List<Came> given = new ArrayList<>();
    for (int i = 0; i < 40_000; i++) {
      ticker.advance(1_000);
      traffic.add(user(i % 4_000));
      given.add(new Came(ticker.nanos(), user(i % 4_000)));
    }
    RecordedRequests back = traffic.requests(HOUR, 10_000);
    assertThat(all(back)).hasSizeLessThanOrEqualTo(10_000).hasSizeGreaterThan(2_500);
    assertThat(back.keysPerRecorded()).isBetween(4L, 8L);
    assertWholeKeys(given, back, "random hash");
  }

  @Test
  void oneKeyBeyondTheBound_forgetsTheOldest() {
    RecordedTraffic traffic = new RecordedTraffic(ticker, RecordedTraffic.MIN_BYTES);
    int requests = 1_000_000;
    for (int i = 0; i < requests; i++) {
      ticker.advance(1_000_000);
      traffic.add(new Request("d", List.of(Descriptor.of("k", "v")), i));
      assertThat(traffic.bytes()).isLessThanOrEqualTo(traffic.maxBytes());
    }
    List<Came> back = all(traffic);
    if (!back.isEmpty()) { // Its class may be one that is left out.
      long last = back.get(back.size() - 1).request.permits();
      assertThat(last).isEqualTo(requests - 1);
      assertThat(back.get(0).request.permits()).isEqualTo(requests - back.size());
    }
    assertThat(traffic.requests(HOUR, 1).came()).isGreaterThanOrEqualTo(back.size());
  }

  @Test
  void quietAfterABurst_recordsMoreKeysAgain() {
    RecordedTraffic traffic = new RecordedTraffic(ticker, RecordedTraffic.MIN_BYTES);
    List<Came> given = new ArrayList<>();
    for (int i = 0; i < 500_000; i++) {
      ticker.advance(1_000);
      traffic.add(user(i));
      given.add(new Came(ticker.nanos(), user(i)));
    }
    long during = traffic.keysPerRecorded();
    assertThat(during).isGreaterThan(4);
    for (int second = 0; second < 3 * 3_600; second++) {
      ticker.advance(Duration.ofSeconds(1));
      traffic.add(user(second % 500));
      given.add(new Came(ticker.nanos(), user(second % 500)));
      traffic.expire();
      if (second % 600 == 599) {
        assertWholeKeys(given, traffic.requests(HOUR, Long.MAX_VALUE), "second " + second);
      }
    }
    assertThat(traffic.keysPerRecorded()).isEqualTo(1);
    assertThat(traffic.requests(HOUR, Long.MAX_VALUE).keysPerRecorded()).isEqualTo(1);
  }

  @Test
  void snapshot_doesNotChange() {
    RecordedTraffic traffic = new RecordedTraffic(ticker);
    traffic.add(user(1));
    RecordedRequests before = traffic.requests(HOUR, Long.MAX_VALUE);
    ticker.advance(Duration.ofHours(2));
    traffic.add(user(2));
    traffic.expire();
    assertThat(all(before)).extracting(Came::request).containsExactly(user(1));
    assertThat(all(traffic)).extracting(Came::request).containsExactly(user(2));
  }

  @Test
  void earlierTime_isTheLatestOfItsSegment() {
    RecordedTraffic traffic = new RecordedTraffic(ticker);
    ticker.advance(100);
    traffic.add(user(1), START + 100);
    traffic.add(user(1), START + 50);
    assertThat(all(traffic)).extracting(Came::nanos).containsExactly(START + 100, START + 100);
  }

  @Test
  void manyThreads_loseNothingAndKeepTheirOrder() throws InterruptedException {
    int threads = 12;
    int each = 40_000;
    FakeTicker time = new FakeTicker(START);
    RecordedTraffic traffic = new RecordedTraffic(time, 64 << 20);
    run(
        threads,
        traffic,
        (thread, i) -> {
          time.advance(1);
          traffic.add(
              new Request("d", List.of(Descriptor.of("t", "" + thread, "i", "" + i % 100)), i + 1));
        },
        each);
    RecordedRequests back = traffic.requests(HOUR, Long.MAX_VALUE);
    assertThat(back.keysPerRecorded()).isEqualTo(1);
    assertThat(back.came()).isEqualTo((long) threads * each);
    Map<Key, Long> last = new HashMap<>();
    long read = 0;
    long lastNanos = 0;
    for (Came came : all(back)) {
      long before = last.getOrDefault(Key.of(came.request), 0L);
      assertThat(came.request.permits()).isGreaterThan(before);
      assertThat(came.nanos).isGreaterThanOrEqualTo(lastNanos);
      lastNanos = came.nanos;
      last.put(Key.of(came.request), came.request.permits());
      read++;
    }
    assertThat(read).isEqualTo((long) threads * each);
  }

  @Test
  void manyThreadsWithoutRoom_keepWholeKeysAndTheBound() throws InterruptedException {
    int threads = 8;
    int each = 60_000;
    FakeTicker time = new FakeTicker(START);
    RecordedTraffic traffic = new RecordedTraffic(time, RecordedTraffic.MIN_BYTES);
    run(
        threads,
        traffic,
        (thread, i) -> {
          time.advance(1_000);
          // Every key has one request from each thread.
          traffic.add(user(i));
        },
        each);
    RecordedRequests back = traffic.requests(HOUR, Long.MAX_VALUE);
    assertThat(back.keysPerRecorded()).isGreaterThan(1);
    assertThat(back.came()).isEqualTo((long) threads * each);
    Map<Request, Integer> counts = new HashMap<>();
    all(back).forEach(came -> counts.merge(came.request, 1, Integer::sum));
    assertThat(counts).isNotEmpty();
    assertThat(counts.values()).allMatch(count -> count == threads);
  }

  private interface Step {
    void run(int thread, int i);
  }

  private static void run(int threads, RecordedTraffic traffic, Step step, int each)
      throws InterruptedException {
    CountDownLatch start = new CountDownLatch(1);
    List<Thread> all = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int thread = t;
      Thread started =
          new Thread(
              () -> {
                try {
                  start.await();
                  for (int i = 0; i < each; i++) {
                    step.run(thread, i);
                    if (i % 500 == 0) {
                      assertThat(traffic.bytes()).isLessThanOrEqualTo(traffic.maxBytes());
                    }
                    if (thread == 0 && i % 10_000 == 0) {
                      traffic.expire();
                      traffic.requests(HOUR, 1_000);
                    }
                  }
                } catch (Throwable e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              });
      started.start();
      all.add(started);
    }
    start.countDown();
    for (Thread thread : all) {
      thread.join();
    }
    assertThat(failures).isEmpty();
  }

  @Test
  void tooFewBytes_areRefused() {
    assertThatThrownBy(() -> new RecordedTraffic(ticker, 1_000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxBytes: 1000 (expected: at least 1048576)");
  }
}
