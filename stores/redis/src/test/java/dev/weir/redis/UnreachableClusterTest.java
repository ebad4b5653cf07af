package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store that was never reached: its decisions are failures of one kind, whatever the store. */
class UnreachableClusterTest {
  @ParameterizedTest
  @ValueSource(strings = {"redis", "redis-cluster"})
  void storeThatWasNeverReached_isNotAsked(String scheme) throws IOException {
    // Bound and closed again: nothing listens there.
    ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    String uri = scheme + "://127.0.0.1:" + socket.getLocalPort();
    socket.close();
    try (RedisStore store = RedisStore.builder(uri).timeout(Duration.ofSeconds(20)).build()) {
      Binding binding = store.bind("one", Policy.of(Quota.of(1, Duration.ofSeconds(1))), 0);
      List<Charges> answers = new ArrayList<>();
      store.decide(new Charges().add(binding, 1, 1), 0, answers::add);
      assertThat(answers).as("answered at once").hasSize(1);
      assertThat(answers.get(0).reason(0)).isEqualTo(Reason.UNCERTAIN);
      assertThat(store.metrics().failures()).containsEntry("open", 1L).containsEntry("moved", 0L);
    }
  }
}
