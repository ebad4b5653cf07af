package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Base64;
import org.junit.jupiter.api.Test;

/** The log of small limits: instant, permits; then retry-after and remaining. */
class CompactLogTest {
  private static final long GRANULE = 1_000;
  private static final long W = 6_400_000;
  private static final long SECOND = 1_000_000_000;

  private static Steps steps(long permits) {
    return Steps.of(Algorithm.SLIDING_WINDOW, permits, W);
  }

  @Test
  void permitsChargedAtOnce_returnAfterExactlyAWindow() {
    steps(3).at(123, 3, 0, 0).at(123, 1, W, 0).resetsAt(W + 123).at(W + 123, 3, 0, 0);
  }

  /** The granules begin with the first charge: they end at 123, 1123, 2123. */
  @Test
  void permit_returnsAtMostAGranuleLate() {
    steps(3)
        .at(123, 1, 0, 2)
        .at(124, 1, 0, 1)
        .at(2_000, 1, 0, 0)
        .at(W + 122, 1, 1, 0)
        .at(W + 123, 1, 0, 0)
        .at(W + 124, 1, GRANULE - 1, 0) // Late: the granule of 124 counts up to its end.
        .at(W + 1_123, 1, 0, 0);
  }

  @Test
  void newestEntry_countsFromItsOwnInstant() {
    steps(2).at(0, 1, 0, 1).at(500, 1, 0, 0).resetsAt(W + 500).at(W + 500, 2, 0, 0);
  }

  @Test
  void permitsOfOneGranule_countFromItsLatestCharge() {
    steps(4)
        .at(0, 1, 0, 3)
        .at(200, 1, 0, 2)
        .at(700, 2, 0, 0)
        .at(W, 1, 0, 0)
        .at(W, 1, GRANULE, 0) // A granule after the one of 0, and not 700.
        .at(W + 1_000, 3, 0, 0);
  }

  @Test
  void granulesBeginAnew_whenNothingIsCounted() {
    steps(2).at(0, 2, 0, 0).at(W + 777, 1, 0, 1).at(W + 778, 1, 0, 0).at(2 * W + 777, 1, 0, 0);
  }

  @Test
  void chargeOfAnyGranule_isGivenBack() {
    steps(3)
        .at(10, 2, 0, 1)
        .at(2_500, 1, 0, 0)
        .refund(3_000, 2, 10, W + 10, 2)
        .at(3_000, 2, 0, 0)
        .refund(W + 10, 1, 3_000, W + 3_000, 1)
        .refund(W + 10, 1, 10, W + 10, 0);
  }

  @Test
  void newestEntryThatIsLeftAlone_countsNoLongerThanItself() {
    steps(3)
        .at(0, 1, 0, 2)
        .at(1_500, 1, 0, 1)
        .refund(1_600, 1, 0, W, 1)
        .at(W + 1_600, 2, 0, 1); // 1500 has expired, its granule has not ended.
  }

  @Test
  void refundedChargesThatCountedAlone_leaveTheTime() {
    steps(1).at(10, 1, 0, 0).refund(20, 1, 10, W + 10, 1).at(5, 1, 0, 0).at(5, 1, W + 5, 0);
  }

  /** A reservation at W, then one at 2 W, which is cancelled within the last granule before W. */
  @Test
  void reservationBeforeACancelledOne_countsForAWindow() {
    Policy policy = Policy.builder(new Quota(1, W)).algorithm(Algorithm.SLIDING_WINDOW).build();
    Meter meter = policy.shape().meter();
    long[] state = meter.charge(meter.fresh(), 0, 0, 0, 1, policy, true);
    state = meter.charge(state, 0, 10, W - 10, 1, policy, true);
    state = meter.charge(state, 0, 20, 2 * W - 20, 1, policy, true);
    state = meter.refund(state, 0, W - 5, 1, 2 * W, policy);
    assertThat(meter.waitNanos(state, 0, 2 * W - 4, 1, policy)).isEqualTo(4);
  }

  @Test
  void chargesAMinute_takeAByteEach() {
    Policy policy = Policy.builder(Quota.perMinute(100)).build();
    Meter meter = policy.shape().meter();
    long[] state = meter.fresh();
    for (int i = 0; i < 100; i++) {
      long now = SECOND * 59 / 100 * i;
      assertThat(meter.waitNanos(state, 0, now, 1, policy)).isZero();
      state = meter.charge(state, 0, now, 0, 1, policy, true);
    }
    assertThat(state).hasSize(16);
    assertThat(meter.waitNanos(state, 0, 59 * SECOND, 1, policy)).isEqualTo(SECOND);
  }

  @Test
  void entries_areReadAsTheyWereWritten() {
    CompactLog log = new CompactLog(W, GRANULE, 0);
    int tried = 0;
    for (long permits : new long[] {1, 2, 255, 256, 65_535, 65_536, 4_294_967_295L}) {
      for (int bits = 0; bits < 60; bits++) {
        for (long distance : new long[] {1L << bits, (1L << bits) + 1, 223, 224, 225}) {
          long[] state = new long[8];
          for (int unit = 0; unit < 20; unit += 7) { // Also across the end of the ring.
            log.write(state, 0, unit, permits, distance);
            int head = log.unit(state, 0, unit);
            assertThat(log.permits(state, 0, unit, head)).isEqualTo(permits);
            assertThat(log.distance(state, 0, unit, head)).isEqualTo(distance);
            assertThat(log.width(head)).isEqualTo(log.width(permits, distance)).isBetween(1, 13);
            tried++;
          }
        }
      }
    }
    assertThat(tried).isEqualTo(7 * 60 * 5 * 3);
    assertThat(log.width(1, 224)).isEqualTo(1);
    assertThat(log.width(1, 225)).isEqualTo(2);
    assertThat(log.width(2, 1)).isEqualTo(2);
  }

  /**
   * An image of the version before, which counted exactly: three permits a minute of the name "p",
   * of which key 7 was charged one at 0 s, one at 10 s and one a nanosecond later.
   */
  @Test
  void imageOfTheVersionBefore_isReadAsAnExactLog() throws IOException {
    byte[] image =
        Base64.getDecoder()
            .decode(
                "V0VJUgAAAANAF/wzF6zxwgsxvKiOEDLcwAAAAAAAAAABAAFwf/////////8BAAFwAA5TTElESU5HX1dJ"
                    + "TkRPVwAAAAAAAAADAAAADfhHWAAAAAAAAAAAAwAAAABvwjrAAAAAAAAAAAAAAXAADlNMSURJTkdfV0lO"
                    + "RE9XAAAAAAAAAAMAAAAN+EdYAAAAAAAAAAADAAAAAG/COsAAAAAAAAAAAH//////////f/////////8E"
                    + "AMAAAAAAAAAAAAAAAAAAAAAAwAAAAAAAAAAAAAACVAvkAQAAAAAAAAAAAAAABwAAAAgAAAAEqBfIAgAA"
                    + "AAAAAAAAAAAAAwAAAAGAAAACAAAABAAAAAFUC+QAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                    + "AAAAAAAAAAAAAAAAAAAAAAAAAQAAAADvcsjg");
    MemoryStore store =
        MemoryStore.restored(
            new ByteArrayInputStream(image), 100, 1 << 20, 20 * SECOND, 20 * SECOND);
    Policy policy = Policy.builder(Quota.perMinute(3)).name("p").build();
    Binding binding = store.bind("p", policy, 20 * SECOND);
    store.verify();
    assertThat(PackedDecision.allowed(store.decide(binding, 7, 1, 60 * SECOND - 1))).isFalse();
    assertThat(PackedDecision.allowed(store.decide(binding, 7, 1, 60 * SECOND))).isTrue();
    assertThat(PackedDecision.allowed(store.decide(binding, 7, 1, 70 * SECOND - 1))).isFalse();
    assertThat(PackedDecision.allowed(store.decide(binding, 7, 2, 71 * SECOND))).isTrue();
    assertThat(PackedDecision.allowed(store.decide(binding, 7, 1, 72 * SECOND))).isFalse();
  }
}
