package dev.weir.http.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.http.outgoing.OutgoingLimiter;
import dev.weir.http.outgoing.Upstream;
import dev.weir.rules.Rules;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Tests of the documentation's lines, in their exact form. */
class QuickStartTest {
  @Test
  void quickStart_limitsARealRequest() throws Exception {
    String yaml =
        "{domain: partners, descriptors: [{key: host, rate_limit: {unit: day, requests_per_unit:"
            + " 1}}]}";
    try (Engine engine =
            Engine.create(new MemoryStore(), Ticker.system(), EngineSettings.DEFAULTS);
        Upstream upstream = new Upstream()) {
      engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", yaml).ruleSet()));
      HttpRequest request = HttpRequest.newBuilder(URI.create(upstream.url("127.0.0.1"))).build();

      // begin
      OutgoingLimiter limiter =
          OutgoingLimiter.builder()
              .rules(engine, "partners")
              .descriptor("host={host}")
              .maxWait(Duration.ofSeconds(2))
              .build();
      HttpClient client = RateLimitedHttpClient.of(HttpClient.newHttpClient(), limiter);
      // end

      for (int expected : new int[] {200, 429}) {
        assertThat(client.send(request, BodyHandlers.discarding()).statusCode())
            .isEqualTo(expected);
      }
    }
  }
}
