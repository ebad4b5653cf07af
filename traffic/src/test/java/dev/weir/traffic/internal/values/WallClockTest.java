package dev.weir.traffic.internal.values;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class WallClockTest {
  /**
   * Zones that set the clock back by an hour, by half an hour and not at all, and one that is
   * ahead.
   */
  private static final List<ZoneId> ZONES =
      List.of(
          ZoneId.of("America/St_Johns"),
          ZoneId.of("Australia/Lord_Howe"),
          ZoneId.of("Europe/Berlin"),
          ZoneId.of("Asia/Tokyo"),
          ZoneId.of("+05:45"));

  private final long seed = new SplittableRandom().nextLong();
  private final SplittableRandom random = new SplittableRandom(seed);

  private static long local(String text) {
    return LocalDateTime.parse(text).toEpochSecond(ZoneOffset.UTC);
  }

  private static long local(ZoneId zone, long second) {
    return LocalDateTime.ofInstant(Instant.ofEpochSecond(second), zone)
        .toEpochSecond(ZoneOffset.UTC);
  }

  private static long second(String text) {
    return Instant.parse(text).getEpochSecond();
  }

  private static int offset(ZoneId zone, long second) {
    return zone.getRules().getOffset(Instant.ofEpochSecond(second)).getTotalSeconds();
  }

  /** Returns a second that is up to a day before a change of the offset, or anywhere. */
  private long start(ZoneId zone) {
    long any = second("2020-01-01T00:00:00Z") + random.nextLong(300_000_000L);
    ZoneOffsetTransition next = zone.getRules().nextTransition(Instant.ofEpochSecond(any));
    return next == null ? any : next.toEpochSecond() - 3_700 - random.nextInt(80_000);
  }

  @Test
  void nothingKnown_isUtcAndCounted() {
    WallClock clock = new WallClock(null);
    assertThat(clock.assumed()).isZero();
    assertThat(clock.epochSecond(local("2026-11-01T01:30:00")))
        .isEqualTo(second("2026-11-01T01:30:00Z"));
    assertThat(clock.assumed()).isEqualTo(1);
  }

  @Test
  void hourThatComesTwice_isReadTwice() {
    WallClock clock = new WallClock(ZoneId.of("America/St_Johns"));
    assertThat(clock.epochSecond(local("2026-11-01T01:59:59")))
        .isEqualTo(second("2026-11-01T04:29:59Z"));
    assertThat(clock.beganTwice()).isTrue();
    assertThat(clock.epochSecond(local("2026-11-01T01:00:00")))
        .isEqualTo(second("2026-11-01T04:30:00Z"));
    assertThat(clock.epochSecond(local("2026-11-01T01:59:58")))
        .as("a request that took two seconds")
        .isEqualTo(second("2026-11-01T04:29:58Z"));
    assertThat(clock.epochSecond(local("2026-11-01T02:00:00")))
        .isEqualTo(second("2026-11-01T05:30:00Z"));
  }

  @Test
  void hourThatIsLeftOut_isThatOfAClockNotSetYet() {
    WallClock clock = new WallClock(ZoneId.of("Europe/Berlin"));
    assertThat(clock.epochSecond(local("2026-03-29T02:10:00")))
        .isEqualTo(second("2026-03-29T01:10:00Z"));
    assertThat(clock.beganTwice()).isFalse();
  }

  @Test
  void timesInOrder_areReadBackAcrossEveryChange() {
    for (int round = 0; round < 400; round++) {
      ZoneId zone = ZONES.get(random.nextInt(ZONES.size()));
      WallClock clock = new WallClock(zone);
      long second = start(zone);
      for (int i = 0; i < 500; i++) {
        assertThat(clock.epochSecond(local(zone, second)))
            .as("seed %s, %s at %s", seed, zone, Instant.ofEpochSecond(second))
            .isEqualTo(second);
        // Steps are below half of a clock's shortest step, so the nearer of two instants is the
        // right one.
        second += random.nextInt(800);
      }
      assertThat(clock.beganTwice()).isFalse();
    }
  }

  @Test
  void slowRequests_haveTheOffsetOfTheirStartAndNotOfTheirStamp() {
    for (int round = 0; round < 400; round++) {
      ZoneId zone = ZONES.get(random.nextInt(ZONES.size()));
      WallClock clock = new WallClock(null);
      long second = start(zone);
      for (int i = 0; i < 500; i++) {
        // The first requests are quick ones: they show the offset before the change.
        long start = second - (i < 5 ? 0 : random.nextInt(600));
        clock.stamp(second, offset(zone, second));
        assertThat(clock.epochSecond(local(zone, start)))
            .as("seed %s, %s at %s", seed, zone, Instant.ofEpochSecond(start))
            .isEqualTo(start);
        second += random.nextInt(400);
      }
      assertThat(clock.assumed()).isZero();
      assertThat(clock.disagrees()).isFalse();
    }
  }

  @Test
  void stampsOfAnotherZone_areNoticed() {
    WallClock clock = new WallClock(null);
    for (int i = 0; i < 10; i++) {
      long second = second("2026-11-27T09:00:00Z") + i;
      clock.stamp(second, 0);
      long unused = clock.epochSecond(local(ZoneId.of("America/St_Johns"), second));
    }
    assertThat(clock.disagrees()).isTrue();
  }

  @Test
  void zoneThatIsNamed_goesBeforeTheStamps() {
    WallClock clock = new WallClock(ZoneId.of("America/St_Johns"));
    clock.stamp(second("2026-11-01T04:30:00Z"), 0);
    assertThat(clock.epochSecond(local("2026-11-01T01:00:00")))
        .isEqualTo(second("2026-11-01T04:30:00Z"));
    assertThat(clock.epochSecond(local("2026-11-01T01:59:59")))
        .isEqualTo(second("2026-11-01T04:29:59Z"));
  }
}
