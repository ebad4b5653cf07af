package dev.weir.insight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.FakeTicker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long BEGIN = 1_800_000_000L;
  private static final int ASKED = Series.GLOBAL.indexOf("asked");
  private static final int REFUSED = Series.GLOBAL.indexOf("refused");
  private static final int KEYS = Series.GLOBAL.indexOf("keys");

  @TempDir private Path folder;
  private final FakeTicker ticker = new FakeTicker(BEGIN * SECOND + 20_000_000L);
  private final FakeTicker wall = new FakeTicker(BEGIN * SECOND + 20_000_000L);
  private Counting counting = new Counting();

  private History open(@Nullable Path in) {
    return new History(() -> counting.metrics(), () -> 7, in, ticker, wall);
  }

  private void advance(Duration by) {
    ticker.advance(by);
    wall.advance(by);
  }

  private void tick(History history) {
    advance(Duration.ofSeconds(1));
    Second unused = history.tick();
  }

  private static List<@Nullable Long> column(History history, int series, long from, long to) {
    return history.columns(null, from, to, 1).column(series);
  }

  @Test
  void secondsThatPassed_haveTheirCounts() {
    History history = open(null);
    tick(history);
    for (int i = 1; i <= 4; i++) {
      counting.add(10L * i, i);
      counting.keys = 5L - i;
      tick(history);
    }
    assertThat(column(history, ASKED, BEGIN + 1, BEGIN + 5)).containsExactly(10L, 20L, 30L, 40L);
    assertThat(column(history, REFUSED, BEGIN + 1, BEGIN + 5)).containsExactly(1L, 2L, 3L, 4L);
    assertThat(column(history, KEYS, BEGIN + 1, BEGIN + 5)).containsExactly(4L, 3L, 2L, 1L);
    Columns columns = history.columns(null, BEGIN, BEGIN + 6, 1);
    assertThat(columns.millis(0)).isZero();
    assertThat(columns.value(ASKED, 0)).isNull();
    assertThat(columns.millis(1)).isEqualTo(1_000);
    assertThat(columns.value(ASKED, 5)).isNull();
  }

  @Test
  void missedTicks_areAGap_andNothingIsLost() {
    History history = open(null);
    tick(history);
    counting.add(10, 0);
    tick(history);
    counting.add(30, 0);
    advance(Duration.ofSeconds(2));
    tick(history);
    assertThat(column(history, ASKED, BEGIN + 1, BEGIN + 5)).containsExactly(10L, 30L, null, null);
    assertThat(history.columns(null, BEGIN + 2, BEGIN + 3, 1).millis(0)).isEqualTo(3_000);
  }

  @Test
  void counterThatBeganAnew_isNeverNegative() {
    History history = open(null);
    counting.add(1_000, 100);
    counting.add("a", 1_000, 100);
    tick(history);
    counting = new Counting();
    counting.add(7, 1);
    counting.add("a", 3, 2);
    tick(history);
    assertThat(column(history, ASKED, BEGIN + 1, BEGIN + 2)).containsExactly(7L);
    assertThat(history.columns("a", BEGIN + 1, BEGIN + 2, 1).column(0)).containsExactly(3L);
  }

  @Test
  void timesOfDecisions_areThoseOfTheSecond() {
    History history = open(null);
    counting.slow = 1_000;
    tick(history);
    counting.fast += 99;
    counting.slow += 1;
    tick(history);
    tick(history);
    Columns columns = history.columns(null, BEGIN + 1, BEGIN + 3, 1);
    assertThat(columns.column(Series.P50)).containsExactly(256L, null);
    assertThat(columns.column(Series.P99)).containsExactly(256L, null);
    counting.slow += 10;
    tick(history);
    assertThat(history.columns(null, BEGIN + 3, BEGIN + 4, 1).value(Series.P50, 0)).isEqualTo(512);
  }

  @Test
  void moreRulesThanSeries_areOtherTogether() {
    History history = open(null);
    tick(history);
    for (int i = 0; i < 300; i++) {
      counting.add("rule%03d".formatted(i), 1_000L + i, i);
    }
    tick(history);
    RuleTotals totals = history.rules(BEGIN, BEGIN + 3, 1);
    assertThat(totals.totals()).hasSize(Series.MAX_RULES + 1);
    assertThat(totals.totals().get(0).rule()).isEqualTo(Series.OTHER);
    long asked = totals.totals().stream().mapToLong(each -> each.counts().get(0)).sum();
    assertThat(asked).isEqualTo(300 * 1_000 + 299 * 300 / 2);
    assertThat(history.columns("rule299", BEGIN + 1, BEGIN + 2, 1).column(0))
        .containsExactly(1_299L);
    assertThat(history.columns("rule000", BEGIN + 1, BEGIN + 2, 1).column(0))
        .as("it is among the others")
        .containsNull();
    assertThat(history.columns(Series.OTHER, BEGIN + 1, BEGIN + 2, 1).value(0, 0)).isPositive();
  }

  @Test
  void ruleThatNobodyAsked_hasZeros_whereAllAreKnown() {
    History history = open(null);
    tick(history);
    counting.add("a", 1, 0);
    tick(history);
    assertThat(history.columns("b", BEGIN + 1, BEGIN + 2, 1).column(0)).containsExactly(0L);
    assertThat(history.columns("b", BEGIN + 2, BEGIN + 3, 1).column(0)).containsNull();
  }

  @Test
  void wallClockThatSteps_movesTheDate_andBendsNoRate() {
    History history = open(null);
    tick(history);
    wall.advance(Duration.ofHours(1).plusMillis(300));
    counting.add(10, 0);
    tick(history);
    counting.add(20, 0);
    tick(history);
    assertThat(column(history, ASKED, BEGIN + 3_602, BEGIN + 3_603)).containsExactly(20L);
    wall.advance(Duration.ofHours(-1));
    counting.add(5, 0);
    tick(history);
    for (long at = BEGIN; at < BEGIN + 3_700; at++) {
      assertThat(history.columns(null, at, at + 1, 1).millis(0)).isIn(0L, 1_000L, 2_000L);
    }
  }

  @Test
  void memoryAlone_saysSo() {
    History history = open(null);
    assertThat(history.persistent()).isFalse();
    assertThat(history.tiers()).extracting(History.Tier::step).containsExactly(1L);
    assertThat(history.step(BEGIN - 86_400, BEGIN, 2_160)).isEqualTo(1);
  }

  @Test
  void stepOfASpan_isTheNarrowestThatReachesBack() {
    History history = open(folder);
    long now = BEGIN;
    assertThat(history.step(now - 600, now, 2_160)).isEqualTo(1);
    assertThat(history.step(now - 600, now, 100)).isEqualTo(10);
    assertThat(history.step(now - 3_600, now, 2_160)).isEqualTo(10);
    assertThat(history.step(now - 86_400, now, 2_160)).isEqualTo(300);
    assertThat(history.step(now - 100 * 86_400L, now, 2_160)).isEqualTo(300);
  }

  private Path file(String name) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(each -> String.valueOf(each.getFileName()).startsWith(name))
          .findFirst()
          .orElseThrow();
    }
  }

  /** Counts 5 a second for some seconds, and ends the history. */
  private void run(int seconds) {
    counting = new Counting();
    History history = open(folder);
    Second unused = history.tick();
    for (int i = 0; i < seconds; i++) {
      counting.add(5, 1);
      tick(history);
    }
    history.close();
  }

  private long sum(History history) {
    Columns columns = history.columns(null, BEGIN, BEGIN + 3_600, 10);
    long sum = 0;
    for (Long value : columns.column(ASKED)) {
      sum += value == null ? 0 : value;
    }
    return sum;
  }

  @Test
  void restart_goesOnInTheSameSpan() {
    run(17);
    run(4);
    History history = open(folder);
    assertThat(sum(history)).isEqualTo(21 * 5);
    assertThat(history.columns(null, BEGIN, BEGIN + 300, 300).value(ASKED, 0)).isEqualTo(21 * 5);
    assertThat(history.columns(null, BEGIN, BEGIN + 300, 300).millis(0)).isEqualTo(21_000);
    history.close();
  }

  @Test
  void recordThatIsNotWhole_isCutOff() throws IOException {
    run(25);
    Path file = file("10s-");
    byte[] bytes = Files.readAllBytes(file);
    for (int cut : new int[] {1, 5, 9}) {
      Files.write(file, Arrays.copyOf(bytes, bytes.length - cut));
      History history = open(folder);
      assertThat(sum(history)).isEqualTo(20 * 5);
      history.close();
    }
    run(10);
    History history = open(folder);
    assertThat(sum(history)).isEqualTo(30 * 5);
    history.close();
  }

  @Test
  void damagedFile_isSetAside_andItsSpanBeginsAnew() throws IOException {
    run(25);
    Path file = file("10s-");
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Files.write(file, bytes);
    History history = open(folder);
    assertThat(sum(history)).isZero();
    assertThat(history.columns(null, BEGIN, BEGIN + 300, 300).value(ASKED, 0)).isEqualTo(125);
    history.close();
    assertThat(Files.readAllBytes(folder.resolve("10s.damaged"))).isEqualTo(bytes);
    run(10);
    History again = open(folder);
    assertThat(sum(again)).isEqualTo(50);
    again.close();
  }

  @Test
  void fileOfSomethingElse_isSetAside() throws IOException {
    run(15);
    Path file = file("5min-");
    Files.writeString(file, "something else altogether");
    History history = open(folder);
    assertThat(history.problem()).isEmpty();
    assertThat(history.columns(null, BEGIN, BEGIN + 300, 300).value(ASKED, 0)).isNull();
    assertThat(folder.resolve("5min.damaged")).hasContent("something else altogether");
    history.close();
  }

  @Test
  void everyByteThatIsFlipped_isNoticedOrHarmless() throws IOException {
    run(12);
    Path file = file("10s-");
    byte[] bytes = Files.readAllBytes(file);
    for (int i = 0; i < bytes.length; i++) {
      byte[] flipped = bytes.clone();
      flipped[i] ^= 0x10;
      Files.write(file, flipped);
      History history = open(folder);
      assertThat(sum(history)).as("byte %d", i).isIn(0L, 50L, 60L);
      history.close();
    }
  }

  @Test
  void folderThatCannotBeWritten_isSaid_andTriedAgain() throws IOException {
    Path taken = folder.resolve("taken");
    Files.writeString(taken, "a file");
    History history = open(taken);
    Second unused = history.tick();
    for (int i = 0; i < 12; i++) {
      counting.add(5, 0);
      tick(history);
    }
    assertThat(history.problem()).contains("taken");
    Files.delete(taken);
    for (int i = 0; i < 310; i++) {
      counting.add(5, 0);
      tick(history);
    }
    assertThat(history.problem()).isEmpty();
    assertThat(sum(history)).isPositive();
    history.close();
  }

  /** Counts for 200 rules with six-digit numbers each second, 30 days of 5 min and 6 h of 10 s. */
  @Tag("model")
  @Test
  void memoryAndDisk_areBounded() throws IOException {
    for (int i = 0; i < Series.MAX_RULES; i++) {
      counting.add("shop.some-longer-key_with-a-value.user%03d".formatted(i), 0, 0);
    }
    History history = open(folder);
    fill(history, 8_640, 300, 3_000_000);
    fill(history, 2_160, 10, 100_000);
    fill(history, 650, 1, 10_000);
    assertThat(history.recentBytes()).isBetween(1_000_000L, 2_500_000L);
    history.close();
    long disk = 0;
    try (Stream<Path> files = Files.list(folder)) {
      disk =
          files
              .mapToLong(
                  file -> {
                    try {
                      return Files.size(file);
                    } catch (IOException e) {
                      throw new UncheckedIOException(e);
                    }
                  })
              .sum();
    }
    assertThat(disk).isEqualTo(history.fileBytes()).isBetween(30_000_000L, 60_000_000L);
  }

  private void fill(History history, int ticks, int seconds, int each) {
    List<String> rules = List.copyOf(counting.rules.keySet());
    for (int i = 0; i < ticks; i++) {
      for (String rule : rules) {
        counting.add(rule, each, each / 10);
      }
      counting.add(200L * each, 20L * each);
      advance(Duration.ofSeconds(seconds));
      Second unused = history.tick();
    }
  }

  @Test
  void filesBeyondTheirShare_leaveOldestFirst() throws IOException {
    RowFiles files = new RowFiles(folder, "x", 1_000_000, 100, 10_000);
    files.begin(0);
    long[] global = new long[Series.GLOBAL.size()];
    Arrays.fill(global, Long.MAX_VALUE - 1);
    for (int i = 0; i < 1_000; i++) {
      files.add(new Row(i, 1_000, global, List.of(), new long[0], null), i);
      assertThat(files.bytes()).isLessThanOrEqualTo(10_000 + 200);
    }
    assertThat(files.since()).isGreaterThan(100);
    files.end();
    Files.writeString(folder.resolve("other.txt"), "not ours", StandardOpenOption.CREATE);
    RowFiles again = new RowFiles(folder, "x", 1_000, 100, 10_000);
    again.begin(3_000);
    assertThat(again.since()).as("all are too old").isNull();
    assertThat(folder.resolve("other.txt")).exists();
  }
}
