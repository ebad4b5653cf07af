package dev.weir.examples.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the README shows, on a free port. */
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

  private static void refused(GreeterClient client) {
    assertThatExceptionOfType(StatusRuntimeException.class)
        .isThrownBy(() -> client.greet("world"))
        .satisfies(
            e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED))
        .withMessageContaining("greetings");
  }

  @Test
  void fourthCallAtOnce_isRefusedWithTheReason() {
    try (GreeterClient client = GreeterClient.plain(server.port())) {
      greetThreeTimes(client);
      refused(client);
    }
  }

  @Test
  void patientClient_waitsAfterARefusal() {
    try (GreeterClient client = GreeterClient.patient(server.port())) {
      greetThreeTimes(client);
      refused(client);
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
