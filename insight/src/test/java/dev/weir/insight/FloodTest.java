package dev.weir.insight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A test of five million keys, each refused once, with some frequently refused ones among them. */
class FloodTest {
  private static final int KEYS = 5_000_000;
  private static final int OFTEN = 100;

  @Test
  void fiveMillionKeys_leaveWhatIsKeptBounded_andTheBusyOnesFound() {
    FakeTicker ticker = new FakeTicker(1_800_000_000_020_000_000L);
    Counting counting = new Counting();
    History history = new History(counting::metrics, () -> 0, null, ticker, ticker);
    HotKeys keys = new HotKeys(ticker);
    Insight insight = new Insight(history, new Refusals(ticker, () -> 1), keys);
    Decided decided = new Decided();
    for (int i = 0; i < KEYS; i++) {
      long fingerprint = i * 0x9e3779b97f4a7c15L;
      decided.observe(insight, "user", fingerprint ^ fingerprint >>> 29, true);
      if (i % OFTEN == 0) {
        decided.observe(insight, "busy", 12_345, true);
      }
      if (i % 250_000 == 0) {
        counting.add(250_000, 250_000);
        ticker.advance(Duration.ofSeconds(1));
        insight.tick();
      }
    }
    ticker.advance(Duration.ofSeconds(1));
    List<HotKeys.HotKey> top = keys.top(HotKeys.KeyOrder.REFUSED).keys();
    assertThat(top).hasSizeLessThanOrEqualTo(32 * KeySketch.COUNTERS);
    HotKeys.HotKey busy = top.get(0);
    assertThat(busy.name().entries().get(0).value()).isEqualTo("busy");
    assertThat(busy.count()).isGreaterThanOrEqualTo(KEYS / OFTEN);
    assertThat(busy.count() - busy.tooHigh()).isLessThanOrEqualTo(KEYS / OFTEN);
    assertThat(insight.refusals().came()).isEqualTo((long) KEYS + KEYS / OFTEN);
    assertThat(insight.refusals().after(0)).hasSizeLessThanOrEqualTo(21 * Refusals.PER_SECOND);
    assertThat(history.recentBytes()).isLessThan(5_000_000);
  }
}
