package dev.weir.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.RunningEngine;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerInterceptors;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the documentation's example. */
class QuickStartTest {
  @Test
  void quickStart_limitsTheServerAndWaitsInTheClient(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("weir.yaml");
    Files.writeString(file, Limits.TWO_A_MINUTE);
    Shop shop = new Shop();
    try (RunningEngine engine = RunningEngine.builder().rules(file).start()) {
      RateLimitServerInterceptor limits =
          RateLimitServerInterceptor.builder(engine)
              .domain("shop")
              .descriptor("method={method}")
              .build();
      Server server =
          InProcessServerBuilder.forName("shop")
              .addService(ServerInterceptors.intercept(shop.service(), limits))
              .build()
              .start();
      RateLimitClientInterceptor patience =
          RateLimitClientInterceptor.builder().maxWait(Duration.ofSeconds(2)).build();
      ManagedChannel plain = InProcessChannelBuilder.forName("shop").build();
      Channel channel = ClientInterceptors.intercept(plain, patience);

      TestCall.send(channel, Shop.ADD).ok();
      TestCall.send(channel, Shop.ADD).ok();
      TestCall.send(channel, Shop.ADD).exhausted();
      assertThat(TestCall.send(channel, Shop.ADD).exhausted().status().getDescription())
          .startsWith("Not sent");
      plain.shutdownNow();
      server.shutdownNow();
    }
  }
}
