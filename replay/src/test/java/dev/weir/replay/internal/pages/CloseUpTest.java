package dev.weir.replay.internal.pages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.replay.internal.judge.Timeline;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A test that the worst minute is the one that a search over all seconds finds. */
class CloseUpTest {
  private static final long SECOND = 1_000_000_000L;

  /** A request: its time, and whether it was refused. */
  private record Seen(long nanos, boolean denied) {
    /** Returns true for every third admission: it is beyond a limit. */
    boolean tolerated() {
      return !denied && nanos % 3 == 0;
    }

    long second() {
      return Math.floorDiv(nanos, SECOND);
    }
  }

  private static long count(List<Seen> all, long fromSecond, long toSecond, boolean deniedOnly) {
    return all.stream()
        .filter(each -> each.second() >= fromSecond && each.second() <= toSecond)
        .filter(each -> each.denied || !deniedOnly)
        .count();
  }

  @Test
  void randomTraffic_agreesWithAPlainList() {
    int runs = 100;
    long seed = Trials.random("close-ups", runs).nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < runs; round++) {
      CloseUp closeUp = new CloseUp();
      List<Seen> all = new ArrayList<>();
      long nanos = random.nextLong(1L << 60) - (1L << 59);
      for (int i = 0; i < 400; i++) {
        Seen seen = new Seen(nanos, random.nextInt(2) == 0);
        closeUp.add(seen.nanos, seen.denied, seen.tolerated());
        all.add(seen);
        nanos += random.nextLong((random.nextInt(40) == 0 ? 900 : 6) * SECOND);
      }
      long most = 0;
      long end = 0;
      for (Seen each : all) {
        long refused = count(all, each.second() - 59, each.second(), true);
        if (refused > most) {
          most = refused;
          end = each.second();
        }
      }
      assertThat(closeUp.refused()).as("seed %s", seed).isEqualTo(most);
      Timeline timeline = closeUp.timeline();
      assertThat(closeUp.endNanos()).as("seed %s", seed).isEqualTo((end + 1) * SECOND);
      assertThat(timeline.widthNanos()).isEqualTo(SECOND);
      long offered = 0;
      for (int i = 0; i < timeline.size(); i++) {
        long second = timeline.startNanos(i) / SECOND;
        assertThat(second).as("seed %s", seed).isBetween(end - 179, end + 120);
        assertThat(timeline.offered(i)).isEqualTo(count(all, second, second, false));
        assertThat(timeline.refused(i)).isEqualTo(count(all, second, second, true));
        assertThat(timeline.tolerated(i))
            .isEqualTo(
                all.stream().filter(each -> each.second() == second && each.tolerated()).count());
        offered += timeline.offered(i);
      }
      assertThat(offered).as("seed %s", seed).isEqualTo(count(all, end - 179, end + 120, false));
    }
  }

  @Test
  void nothingRefused_hasNothingToShow() {
    CloseUp closeUp = new CloseUp();
    closeUp.add(0, false, false);
    closeUp.add(5 * SECOND, false, false);
    assertThat(closeUp.timeline().size()).isZero();
    assertThat(closeUp.refused()).isZero();
  }
}
