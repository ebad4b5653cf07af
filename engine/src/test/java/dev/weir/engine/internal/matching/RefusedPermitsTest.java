package dev.weir.engine.internal.matching;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;

class RefusedPermitsTest {
  @Test
  void permits_areTakenUpToThoseThatWereRefused() {
    AtomicLongArray cells = new AtomicLongArray(new long[] {0, 5});
    assertThat(RefusedPermits.take(cells, 0, 3)).isZero();
    assertThat(RefusedPermits.take(cells, 1, 3)).isEqualTo(3);
    assertThat(RefusedPermits.take(cells, 1, 3)).isEqualTo(2);
    assertThat(RefusedPermits.take(cells, 1, 3)).isZero();
  }

  /** A billion refusals of the largest requests in five minutes: nothing is given back then. */
  @Test
  void cellThatCountedBeyondItsRange_hasAllThatIsGivenBack() {
    AtomicLongArray cells = new AtomicLongArray(new long[] {Long.MAX_VALUE});
    cells.getAndAdd(0, RefusedPermits.MOST_PERMITS);
    assertThat(RefusedPermits.take(cells, 0, 7)).isEqualTo(7);
    assertThat(RefusedPermits.take(cells, 0, 7)).isEqualTo(7);
  }
}
