package dev.weir.siege;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.siege.guests.IdleConnections;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A test of a server that accepts few connections, with hostile clients that open many. */
@Tag("siege")
class CrowdedServerTest {
  private static final int MAX_CONNECTIONS = 50;

  /** The time of an attack: longer than a connection without a request may stay open. */
  private static final Duration HOLD = Duration.ofSeconds(6);

  @TempDir private static Path folder;
  private static Besieged besieged;

  @BeforeAll
  static void start() {
    besieged = new Besieged(folder, null, "--max-connections", MAX_CONNECTIONS + "");
  }

  @AfterAll
  static void stop() {
    besieged.close();
  }

  @ParameterizedTest
  @EnumSource
  void connectionsBeyondTheMost_areClosed(IdleConnections attack) throws Exception {
    assertThat(besieged.endures(attack, HOLD).left()).isLessThanOrEqualTo(MAX_CONNECTIONS);
  }
}
