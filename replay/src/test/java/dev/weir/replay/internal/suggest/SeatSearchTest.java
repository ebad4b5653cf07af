package dev.weir.replay.internal.suggest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Policy;
import dev.weir.replay.internal.judge.Trace;
import dev.weir.replay.internal.suggest.LimitSearch.TriedLimit;
import dev.weir.traffic.TrafficException;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The bounds of a search for limits at the same time. */
class SeatSearchTest {
  private static final long SECOND = 1_000_000_000L;

  private static Trace trace(long requests) throws TrafficException {
    Trace trace = Trace.timed(64 << 20);
    for (int i = 0; i < requests; i++) {
      trace.add(SECOND + i, "k", 1, SECOND);
    }
    return trace;
  }

  @Test
  void moreInFlightThanMemoryIsFor_isAnError() throws Exception {
    assertThat(SeatSearch.of(trace(3), Set.of(), 3).mostAtOnce()).isEqualTo(3);
    assertThatThrownBy(() -> SeatSearch.of(trace(4), Set.of(), 3))
        .hasMessage(
            "input: more than 3 requests in flight at once (expected: at most that many; are the"
                + " durations in another unit?)");
  }

  @Test
  void moreThanTheHighestLimit_isAnError() throws Exception {
    SeatSearch most = SeatSearch.of(trace(Policy.MOST_SEATS), Set.of());
    assertThat(most.smallest(each -> each.requests() == 0).limit()).isEqualTo(Policy.MOST_SEATS);
    SeatSearch more = SeatSearch.of(trace(Policy.MOST_SEATS + 1), Set.of());
    assertThatThrownBy(() -> more.smallest(each -> each.requests() == 0))
        .hasMessage("concurrency: more than 65536 would be needed (expected: at most that many)");
    assertThat(more.smallest(each -> each.requests() <= 1).limit()).isEqualTo(Policy.MOST_SEATS);
  }

  @Test
  void requestsOfTenMinutes_countForFive() throws Exception {
    Trace trace = Trace.timed(64 << 20);
    trace.add(0, "k", 1, 600 * SECOND);
    trace.add(299 * SECOND, "k", 1, 0);
    trace.add(300 * SECOND, "k", 1, -1);
    TriedLimit one = SeatSearch.of(trace, Set.of()).refused(1);
    assertThat(one.requests()).isEqualTo(1);
  }

  @Test
  void ignoredKeys_areLeftOut() throws Exception {
    Trace trace = Trace.timed(64 << 20);
    for (int i = 0; i < 10; i++) {
      trace.add(i, "scraper", 1, SECOND);
      trace.add(i, "user" + i % 5, 1, SECOND);
    }
    SeatSearch search = SeatSearch.of(trace, Set.of(0));
    assertThat(search.mostAtOnce()).isEqualTo(2);
    assertThat(search.keysAtMost(99)).isEqualTo(2);
    assertThat(search.refused(1).keys()).isEqualTo(5);
    assertThat(trace.key(search.mostKey())).isEqualTo("user0");
  }
}
