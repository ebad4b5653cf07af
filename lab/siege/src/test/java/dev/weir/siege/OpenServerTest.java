package dev.weir.siege;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.siege.guests.Attack;
import dev.weir.siege.guests.UnfinishedRequests;
import dev.weir.siege.soak.Calls;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A test of a server that is open to everybody, with a heap of 256 MiB. */
@Tag("siege")
class OpenServerTest {
  @TempDir private static Path folder;
  private static Besieged besieged;

  @BeforeAll
  static void start() {
    besieged = new Besieged(folder, null);
  }

  @AfterAll
  static void stop() {
    besieged.close();
  }

  @ParameterizedTest
  @EnumSource
  void unfinishedRequests_areOfNoHarm(UnfinishedRequests attack) throws Exception {
    Attack.Outcome outcome = besieged.endures(attack);
    assertThat(outcome.left()).as("connections that outlived the request timeout").isZero();
  }

  @Tag("once")
  @Test
  void halfSentMessages_areCutOff() throws Exception {
    Attack.Outcome outcome = besieged.endures(Calls.HALF_SENT);
    assertThat(outcome.left()).as("calls that outlived the request timeout").isZero();
  }

  @Tag("once")
  @Test
  void serverThatWasAttacked_stopsInTime() throws Exception {
    besieged.endures(UnfinishedRequests.COMMANDS);
    besieged.stops();
  }
}
