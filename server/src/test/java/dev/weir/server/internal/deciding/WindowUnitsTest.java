package dev.weir.server.internal.deciding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.RateLimitUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WindowUnitsTest {
  @ParameterizedTest
  @CsvSource({
    "1000, SECOND, 1",
    "7000, SECOND, 7",
    "30000, SECOND, 30",
    "60000, MINUTE, 1",
    "90000, SECOND, 90",
    "300000, MINUTE, 5",
    "3600000, HOUR, 1",
    "86400000, DAY, 1",
    "604800000, WEEK, 1",
    "1209600000, WEEK, 2",
    "2592000000, MONTH, 1",
    "5184000000, MONTH, 2",
    "31536000000, YEAR, 1",
    "31622400000, DAY, 366"
  })
  void wholeUnits_areExact(long windowMillis, RateLimitUnit unit, long count) {
    assertThat(WindowUnits.of(windowMillis * 1_000_000)).isEqualTo(new WindowUnits(unit, count));
  }

  @ParameterizedTest
  @CsvSource({"1, SECOND", "999, SECOND", "1500, SECOND", "90500, MINUTE", "7200001, HOUR"})
  void otherWindows_haveTheNearestUnit(long windowMillis, RateLimitUnit unit) {
    long nanos = windowMillis * 1_000_000;
    assertThat(WindowUnits.of(nanos)).isEqualTo(new WindowUnits(unit, 1));
  }
}
