package dev.weir.insight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Reason;
import dev.weir.engine.LimitOrigin;
import dev.weir.testkit.FakeTicker;
import java.util.List;
import org.junit.jupiter.api.Test;

class RefusalsTest {
  private final FakeTicker wall = new FakeTicker(1_800_000_000_123_000_000L);
  private final Decided decided = new Decided();
  private final Refusals refusals = new Refusals(wall, () -> 43);

  private void refuse(int times) {
    for (int i = 0; i < times; i++) {
      refusals.refused(decided.refused("user" + i));
    }
  }

  @Test
  void refusal_saysWhyAndByWhichNumber() {
    refuse(1);
    Refusal refusal = refusals.after(0).get(0);
    assertThat(refusal.number()).isEqualTo(1);
    assertThat(refusal.timeMillis()).isEqualTo(1_800_000_000_123L);
    assertThat(refusal.key().rule()).isEqualTo("shop.user");
    assertThat(refusal.key().policy()).isEqualTo("user-minute");
    assertThat(refusal.key().entries().get(0).value()).isEqualTo("user0");
    assertThat(refusal.revision()).isEqualTo(43);
    assertThat(refusal.origin()).isEqualTo(LimitOrigin.RULE);
    assertThat(refusal.limit()).isEqualTo(1);
    assertThat(refusal.windowNanos()).isEqualTo(60_000_000_000L);
    assertThat(refusal.reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(refusal.retryAfterNanos()).isPositive();
    assertThat(refusal.standsFor()).isEqualTo(1);
  }

  @Test
  void secondWithTooMany_isSampledFromTheNextOneOn() {
    refuse(100_000);
    assertThat(refusals.after(0)).hasSize(100);
    assertThat(refusals.came()).isEqualTo(100_000);
    refusals.tick();
    refuse(100_000);
    List<Refusal> sampled = refusals.after(100);
    assertThat(sampled).hasSizeBetween(60, 100);
    assertThat(sampled).allSatisfy(each -> assertThat(each.standsFor()).isEqualTo(1_024));
    refusals.tick();
    refuse(10);
    refusals.tick();
    long before = refusals.newest();
    refuse(50);
    assertThat(refusals.after(before)).hasSize(50).allMatch(each -> each.standsFor() == 1);
  }

  /** Uses descriptors of the longest kind, all of them different. */
  @Test
  void refusalsOfLongKeys_areBoundedInBytes() {
    for (int i = 0; i < Refusals.KEPT; i++) {
      refusals.refused(decided.longest(i, 32, 1_000));
      if (i % Refusals.PER_SECOND == Refusals.PER_SECOND - 1) {
        refusals.tick();
      }
    }
    assertThat(refusals.bytes()).isBetween(Refusals.MOST_BYTES / 2, Refusals.MOST_BYTES);
    List<Refusal> kept = refusals.after(0);
    assertThat(kept).hasSizeBetween(100, Refusals.KEPT / 2);
    assertThat(kept.get(0).number()).isEqualTo(Refusals.KEPT);
    assertThat(kept.get(kept.size() - 1).number()).isEqualTo(Refusals.KEPT - kept.size() + 1);
    refuse(1);
    assertThat(refusals.after(Refusals.KEPT)).hasSize(1);
  }

  @Test
  void oldestLeave_andNumbersGoOn() {
    for (int second = 0; second < 150; second++) {
      refuse(100);
      refusals.tick();
    }
    List<Refusal> kept = refusals.after(0);
    assertThat(kept).hasSize(Refusals.KEPT);
    assertThat(kept.get(0).number()).isEqualTo(15_000);
    assertThat(kept.get(Refusals.KEPT - 1).number()).isEqualTo(5_001);
    assertThat(refusals.after(14_990)).hasSize(10);
  }
}
