package dev.weir.insight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A test of 31 days on a fake clock, with restarts at the edges of every width, against a plain
 * list.
 */
class HistoryPropertyTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long DAY = 86_400;
  private static final long BEGIN = 20_000 * DAY;
  private static final int ASKED = 0;
  private static final int REFUSED = 1;

  /** The counters at the time of a reading; a run is the lifetime of one process. */
  private record Read(int run, long nanos, long asked, long refused, long ofRule) {}

  /** The sum of the list's counts in a span. */
  private static final class Sum {
    private long millis;
    private long asked;
    private long refused;
    private long ofRule;
  }

  @TempDir private Path folder;
  private final long seed = Trials.random("history of a month").nextLong();
  private final Random random = new Random(seed);
  private final FakeTicker ticker = new FakeTicker(BEGIN * SECOND + 20_000_000L);
  private final List<Read> reads = new ArrayList<>();
  private Counting counting = new Counting();
  private int run;

  private History start() {
    counting = new Counting();
    if (random.nextBoolean()) {
      traffic();
    }
    run++;
    return new History(() -> counting.metrics(), () -> 0, folder, ticker, ticker);
  }

  private void traffic() {
    counting.add(random.nextInt(1_000), random.nextInt(100));
    counting.add("shop.user", random.nextInt(50), 0);
  }

  private void tick(History history) {
    Second unused = history.tick();
    note();
  }

  private void note() {
    long ofRule = counting.rules.getOrDefault("shop.user", new long[2])[0];
    reads.add(new Read(run, ticker.nanos(), counting.asked, counting.refused, ofRule));
  }

  private long now() {
    return ticker.nanos() / SECOND;
  }

  /**
   * Returns the sums of the list: the differences between two readings of a run, the second of
   * which is in another span.
   */
  private Map<Long, Sum> sums(long width, List<Integer> killed) {
    Map<Long, Sum> sums = new HashMap<>();
    Read begin = null;
    for (int i = 0; i < reads.size(); i++) {
      Read each = reads.get(i);
      if (begin == null || begin.run != each.run) {
        begin = each;
        continue;
      }
      boolean last = i + 1 == reads.size() || reads.get(i + 1).run != each.run;
      boolean ended = last && !killed.contains(each.run) && each.run != run;
      long from = begin.nanos / SECOND / width;
      if (from != each.nanos / SECOND / width || (ended && each.nanos > begin.nanos)) {
        Sum sum = sums.computeIfAbsent(from * width, at -> new Sum());
        sum.millis += (each.nanos - begin.nanos) / 1_000_000L;
        sum.asked += each.asked - begin.asked;
        sum.refused += each.refused - begin.refused;
        sum.ofRule += each.ofRule - begin.ofRule;
        begin = each;
      }
    }
    return sums;
  }

  private void compare(History history, long width, long kept, List<Integer> killed) {
    Map<Long, Sum> sums = sums(width, killed);
    long to = now() / width * width + width;
    long earliest = Math.max(BEGIN, to - kept);
    for (long from = earliest; from < to; from += width * Columns.MAX_POINTS) {
      long end = Math.min(to, from + width * Columns.MAX_POINTS);
      Columns all = history.columns(null, from, end, width);
      Columns rule = history.columns("shop.user", from, end, width);
      for (int i = 0; i < all.points(); i++) {
        Sum sum = sums.get(all.time(i));
        String at = "seed %d, width %d, at %d".formatted(seed, width, all.time(i));
        assertThat(all.millis(i)).as(at).isEqualTo(sum == null ? 0 : sum.millis);
        assertThat(all.value(ASKED, i)).as(at).isEqualTo(of(sum, sum == null ? 0 : sum.asked));
        assertThat(all.value(REFUSED, i)).as(at).isEqualTo(of(sum, sum == null ? 0 : sum.refused));
        assertThat(rule.value(ASKED, i)).as(at).isEqualTo(of(sum, sum == null ? 0 : sum.ofRule));
      }
    }
  }

  private static @Nullable Long of(@Nullable Sum sum, long value) {
    return sum == null ? null : Long.valueOf(value);
  }

  @Test
  void thirtyOneDays_areAsThePlainListHasThem() {
    List<Integer> killed = new ArrayList<>();
    History history = start();
    tick(history);
    long[] edges = {10, 300, 3_600, DAY};
    for (int day = 0; day < 31; day++) {
      for (long edge : edges) {
        history = overAnEdge(history, edge, killed);
      }
      long next = BEGIN + (day + 1) * DAY - 40;
      while (now() < next) {
        traffic();
        long jump = 1L + random.nextInt(random.nextInt(20) == 0 ? 3_000 : 300);
        ticker.advance(Math.min(jump, next - now()) * SECOND);
        tick(history);
      }
      if (day % 10 == 0 || day == 30) {
        compare(history, History.MIDDLE_SECONDS, History.MIDDLE_KEPT, killed);
        compare(history, History.COARSE_SECONDS, History.COARSE_KEPT, killed);
      }
    }
    assertThat(history.tiers().get(2).since()).as("older files are gone").isGreaterThan(BEGIN);
    history.close();
  }

  /** Goes second by second to the next edge, and ends the process before, at or behind it. */
  private History overAnEdge(History running, long edge, List<Integer> killed) {
    History history = running;
    long at = (now() / edge + 1) * edge;
    if (at - now() > 30) {
      ticker.advance((at - now() - 12 - random.nextInt(5)) * SECOND);
      tick(history);
    }
    long end = at - 1 + random.nextInt(3);
    while (now() < end) {
      traffic();
      ticker.advance(SECOND);
      tick(history);
    }
    traffic();
    if (random.nextInt(3) == 0) {
      killed.add(run); // This process does not write at its end.
    } else {
      ticker.advance(random.nextInt(900) * 1_000_000L);
      note();
      history.close();
    }
    long offNanos = random.nextInt(4) == 0 ? 0 : random.nextInt(1_000) * SECOND;
    ticker.set((ticker.nanos() + offNanos) / SECOND * SECOND + SECOND + 20_000_000L);
    history = start();
    for (int i = 0; i < 12; i++) {
      tick(history);
      traffic();
      ticker.advance(SECOND);
    }
    compare(history, 1, 12, killed);
    return history;
  }
}
