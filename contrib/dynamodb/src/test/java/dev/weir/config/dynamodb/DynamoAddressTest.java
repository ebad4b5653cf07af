package dev.weir.config.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStores;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Addresses that are wrong, or at which no service answers. */
class DynamoAddressTest {
  @Test
  void silentService_isUnavailableInTime() throws Exception {
    Dynamo.credentials();
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String address =
          "dynamodb:weir?region=eu-central-1&timeout=1s&endpoint=http://127.0.0.1:"
              + silent.getLocalPort();
      assertThatThrownBy(() -> ConfigStores.open(address))
          .isInstanceOfSatisfying(
              ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.UNAVAILABLE))
          .hasMessageStartingWith("dynamodb:weir: ")
          .hasMessageContaining("(expected: DynamoDB that answers within 1 s");
    }
  }

  @Test
  void badAddresses_areRefused() {
    for (String address :
        List.of(
            "dynamodb:",
            "dynamodb:a",
            "dynamodb:table/x",
            "dynamodb:table?region=EU",
            "dynamodb:table?endpoint=host",
            "dynamodb:table?timeout=61s",
            "dynamodb:table?x=1")) {
      assertThatIllegalArgumentException()
          .as(address)
          .isThrownBy(() -> ConfigStores.open(address))
          .withMessageContaining("(expected: ");
    }
  }
}
