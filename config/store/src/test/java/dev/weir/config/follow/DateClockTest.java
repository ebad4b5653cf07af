package dev.weir.config.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.FakeTicker;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class DateClockTest {
  private static final Instant SECOND = Instant.parse("2027-01-15T08:00:00Z");
  private static final String DATE = "Fri, 15 Jan 2027 08:00:00 GMT";

  private final FakeTicker wall = new FakeTicker();
  private final DateClock clock = new DateClock(wall);

  private Instant at(Instant own, String date) {
    wall.set(own.getEpochSecond() * 1_000_000_000L + own.getNano());
    clock.received(date);
    return Instant.ofEpochSecond(0, clock.nanos());
  }

  @Test
  void ownClock_isUsedWhileTheDateAgrees() {
    assertThat(at(SECOND, DATE)).isEqualTo(SECOND);
    assertThat(at(SECOND.plusMillis(999), DATE)).isEqualTo(SECOND.plusMillis(999));
  }

  @Test
  void ownClockThatIsWrong_isCorrectedToTheSecond() {
    assertThat(at(SECOND.minusSeconds(3600), DATE)).isEqualTo(SECOND);
    assertThat(at(SECOND.plusSeconds(3600), DATE)).isEqualTo(SECOND.plusSeconds(1));
    wall.advance(5_000_000_000L);
    assertThat(Instant.ofEpochSecond(0, clock.nanos())).isEqualTo(SECOND.plusSeconds(6));
    assertThat(at(SECOND.plusMillis(1), DATE)).isEqualTo(SECOND.plusMillis(1));
  }

  @Test
  void whatIsNoDate_isPassedOver() {
    assertThat(at(SECOND, "yesterday")).isEqualTo(SECOND);
    assertThat(at(SECOND, "")).isEqualTo(SECOND);
  }
}
