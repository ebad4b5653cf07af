package dev.weir.server.internal.deciding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.RateLimitUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RlsMessagesTest {
  @ParameterizedTest
  @CsvSource({
    "1, SECOND",
    "1000, SECOND",
    "7000, SECOND",
    "8000, MINUTE",
    "60000, MINUTE",
    "90000, MINUTE",
    "300000, MINUTE",
    "3600000, HOUR",
    "86400000, DAY",
    "604800000, WEEK",
    "2592000000, MONTH",
    "31536000000, YEAR",
    "31622400000, YEAR"
  })
  void nearestUnit_isExactWhereThereIsOne(long windowMillis, RateLimitUnit unit) {
    assertThat(RlsMessages.nearestUnit(windowMillis * 1_000_000)).isEqualTo(unit);
  }
}
