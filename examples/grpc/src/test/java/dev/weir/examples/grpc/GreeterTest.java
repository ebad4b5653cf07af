package dev.weir.examples.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of the README's examples, on a free port. */
class GreeterTest {
  private GreeterServer server;

  @BeforeEach
  void start() throws Exception {
    server = GreeterServer.start(0, Path.of("weir.yaml"));
  }

  @AfterEach
  void close() {
    server.close();
  }

  private static void greetThreeTimes(GreeterClient client) {
    for (int i = 0; i < 3; i++) {
      assertThat(client.greet("world")).isEqualTo("Hello world");
    }
  }

  /**
   * Greets until a call is refused: after three calls, and one more for each two seconds that this
   * takes.
   */
  private static void greetUntilRefused(GreeterClient client) {
    long begun = System.nanoTime();
    greetThreeTimes(client);
    int more = 0;
    while (true) {
      try {
        assertThat(client.greet("world")).isEqualTo("Hello world");
        more++;
      } catch (StatusRuntimeException e) {
        assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(e).hasMessageContaining("greetings");
        break;
      }
    }
    assertThat(more * 2_000_000_000L).isLessThanOrEqualTo(System.nanoTime() - begun);
  }

  @Test
  void fourthCallAtOnce_isRefusedWithTheReason() {
    try (GreeterClient client = GreeterClient.plain(server.port())) {
      greetUntilRefused(client);
    }
  }

  @Test
  void patientClient_waitsAfterARefusal() {
    try (GreeterClient client = GreeterClient.patient(server.port())) {
      greetUntilRefused(client);
      assertThat(client.greet("world")).isEqualTo("Hello world");
    }
  }

  @Test
  void retryingClient_isNeverRefused() {
    try (GreeterClient client = GreeterClient.retrying(server.port())) {
      greetThreeTimes(client);
      assertThat(client.greet("world")).isEqualTo("Hello world");
    }
  }
}
