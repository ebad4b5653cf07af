package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.replay.internal.judge.BusyWindows;
import dev.weir.replay.internal.judge.FrequentKeys;
import dev.weir.replay.internal.judge.RuleKey;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.Trials;
import dev.weir.traffic.RequestTemplate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A test of the bounded counters behind a summary. */
class ReplayTallyTest {
  private static final Rule RULE = rule();

  private static Rule rule() {
    RuleSet rules =
        Objects.requireNonNull(Rules.parse("r.yaml", Trial.rules("", 2, "minute")).ruleSet());
    return rules.rules().get(0);
  }

  private static RuleKey key(int number) {
    return new RuleKey(RULE, "k=" + number);
  }

  @Test
  void frequentKeys_areExactWhileThereAreCounters() {
    long seed = Trials.random("frequent keys").nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    FrequentKeys keys = new FrequentKeys(200);
    Map<String, Long> counts = new HashMap<>();
    for (int i = 0; i < 20_000; i++) {
      RuleKey key = key((int) (200 * Math.pow(random.nextDouble(), 2)));
      keys.add(key);
      counts.merge(key.key(), 1L, Long::sum);
    }
    List<String> expected =
        counts.entrySet().stream()
            .sorted(
                Map.Entry.<String, Long>comparingByValue()
                    .reversed()
                    .thenComparing(Map.Entry.comparingByKey()))
            .limit(10)
            .map(each -> each.getKey() + " " + each.getValue())
            .toList();
    assertThat(keys.exact()).isTrue();
    assertThat(keys.top(10).stream().map(each -> each.key().key() + " " + each.count()).toList())
        .as("seed %s", seed)
        .isEqualTo(expected);
  }

  @Test
  void frequentKeys_findTheBusyOnesAmongTooMany() {
    FrequentKeys keys = new FrequentKeys(64);
    Map<String, Long> counts = new HashMap<>();
    for (int i = 0; i < 10_000; i++) {
      for (RuleKey key : List.of(key(1_000_000 + i), key(i % 3))) {
        keys.add(key);
        counts.merge(key.key(), 1L, Long::sum);
      }
    }
    assertThat(keys.exact()).isFalse();
    assertThat(keys.top(3).stream().map(each -> each.key().key()).toList())
        .containsExactlyInAnyOrder("k=0", "k=1", "k=2");
    assertThat(keys.top(64))
        .allSatisfy(
            each ->
                assertThat(each.count())
                    .isGreaterThanOrEqualTo(counts.getOrDefault(each.key().key(), 0L)));
  }

  @Test
  void busyWindows_areThoseFoundByCountingEverything() {
    int runs = 50;
    long seed = Trials.random("busy windows", runs).nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < runs; round++) {
      BusyWindows windows = new BusyWindows(10, 1000);
      Map<String, long[]> counts = new HashMap<>();
      long now = random.nextLong(-10_000, 10_000);
      for (int i = 0; i < 2_000; i++) {
        now += random.nextInt(20);
        int number = random.nextInt(20);
        long permits = random.nextInt(4);
        boolean denied = random.nextBoolean();
        windows.add(key(number), 1000, now, permits, denied);
        long start = Math.floorDiv(now, 1000L) * 1000;
        long[] count = counts.computeIfAbsent("k=" + number + " " + start, k -> new long[4]);
        count[0] += permits;
        count[1]++;
        count[2] += denied ? 1 : 0;
        count[3] = start;
      }
      List<Map.Entry<String, long[]>> sorted = new ArrayList<>(counts.entrySet());
      sorted.sort(
          Comparator.comparingLong((Map.Entry<String, long[]> e) -> -e.getValue()[0])
              .thenComparing(e -> e.getValue()[3])
              .thenComparing(Map.Entry::getKey));
      List<String> expected =
          sorted.stream()
              .limit(10)
              .map(
                  e ->
                      e.getKey()
                          + " "
                          + e.getValue()[0]
                          + " "
                          + e.getValue()[1]
                          + " "
                          + e.getValue()[2])
              .toList();
      List<String> found =
          windows.finish().stream()
              .map(
                  w ->
                      w.key().key()
                          + " "
                          + w.startNanos()
                          + " "
                          + w.permits()
                          + " "
                          + w.requests()
                          + " "
                          + w.denied())
              .toList();
      assertThat(found).as("seed %s round %s", seed, round).isEqualTo(expected);
      assertThat(windows.complete()).isTrue();
    }
  }

  @Test
  void busyWindows_makeRoomByClosingAndSayWhatTheyMiss() {
    BusyWindows windows = new BusyWindows(10, 8);
    for (int i = 0; i < 8; i++) {
      windows.add(key(i), 1000, 0, i, false);
    }
    windows.add(key(100), 1000, 999, 50, false);
    assertThat(windows.complete()).isFalse();
    for (int i = 0; i < 8; i++) {
      windows.add(key(200 + i), 1000, 2000, 60, false);
    }
    assertThat(windows.finish().stream().map(w -> w.key().key() + " " + w.permits()).toList())
        .contains("k=205 60", "k=207 60", "k=7 7")
        .doesNotContain("k=100 50");
  }

  @Test
  void permitsOfAWindow_stayAtTheMostANumberCanSay() {
    BusyWindows windows = new BusyWindows(10, 8);
    for (int i = 0; i < 20; i++) {
      windows.add(key(0), 1000, 0, RequestTemplate.MAX_PERMITS, true);
    }
    assertThat(windows.finish().get(0).permits()).isEqualTo(Long.MAX_VALUE);
  }
}
