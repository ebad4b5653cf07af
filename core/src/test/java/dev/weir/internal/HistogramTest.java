package dev.weir.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class HistogramTest {
  @Test
  void values_countAtTheFirstBoundThatIsNotBelowThem() {
    Histogram numbers = Histogram.ofNumbers();
    for (long value : new long[] {-1, 0, 1, 2, 3, 4, 5, 4_096, 4_097, Long.MAX_VALUE}) {
      numbers.add(value);
    }

    List<Long> counts = numbers.counts();
    assertThat(numbers.bounds()).hasSize(13).startsWith(1L, 2L, 4L, 8L).endsWith(4_096L);
    assertThat(counts).hasSize(14).startsWith(3L, 1L, 2L, 1L).endsWith(1L, 2L);
    assertThat(counts.stream().mapToLong(Long::longValue).sum()).isEqualTo(10);
  }

  @Test
  void valueSeveralTimes_countsAsOften() {
    Histogram times = Histogram.ofRequests();
    times.add(256, 3);
    times.add(257, 0);
    times.add(-5, 2);

    assertThat(times.counts()).startsWith(5L, 0L);
    assertThat(times.sum()).isEqualTo(768);
  }

  @Test
  void bounds_areThoseOfTheirUse() {
    assertThat(Histogram.ofRequests().bounds()).hasSize(23).startsWith(256L).endsWith(1L << 30);
    assertThat(Histogram.ofWork().bounds()).hasSize(25).startsWith(4_096L).endsWith(1L << 36);
  }
}
