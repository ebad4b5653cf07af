package dev.weir.cluster.internal.peer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.internal.peer.PeerSilence.Finding;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class PeerSilenceTest {
  private final PeerSilence silence = new PeerSilence();

  private List<Finding> looks(int times, int open, long bytes) {
    List<Finding> found = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      found.add(silence.check(open, bytes));
    }
    return found;
  }

  @Test
  void nothingIsOwed_nothingIsDone() {
    assertThat(looks(1_000, 0, 0)).containsOnly(Finding.IDLE);
  }

  @Test
  void nothingIsHeard_theOtherSideIsAskedOnce_andGivenUpAfterTwoAndAHalfSeconds() {
    silence.sent();
    List<Finding> expected = new ArrayList<>(Collections.nCopies(9, Finding.WAIT));
    expected.set(1, Finding.ASK);
    assertThat(looks(9, 1, 0)).isEqualTo(expected);
    assertThat(silence.check(1, 0)).isEqualTo(Finding.GONE);
    assertThat(10 * PeerSilence.LOOK_MILLIS).isEqualTo(2_500);
  }

  @Test
  void requestsAreGivenUpSooner_theirSilenceGoesOnCounting() {
    silence.sent();
    looks(4, 1, 0);
    looks(4, 0, 0);
    silence.sent();
    looks(1, 1, 0);
    assertThat(silence.check(0, 0)).isEqualTo(Finding.GONE);
  }

  @Test
  void otherSideIsSlowAndAnswersThatItIsThere_neverGivenUp() {
    silence.sent();
    for (int i = 0; i < 100; i++) {
      assertThat(looks(2, 1, 0)).containsExactly(Finding.WAIT, Finding.ASK);
      looks(7, 1, 0);
      silence.received(); // The answer took 1.75 s, in which this process may have been paused.
    }
  }

  @Test
  void largeRequest_hasTheTimeThatASlowConnectionTakes() {
    silence.sent();
    assertThat(looks(73, 1, 16_000_000)).doesNotContain(Finding.GONE);
    assertThat(silence.check(1, 16_000_000)).isEqualTo(Finding.GONE);
  }

  @Test
  void newConnection_beginsAnew() {
    silence.sent();
    looks(9, 1, 0);
    silence.received();
    assertThat(silence.check(0, 0)).isEqualTo(Finding.IDLE);
    silence.sent();
    assertThat(looks(9, 1, 0)).doesNotContain(Finding.GONE);
  }
}
