package dev.weir.okhttp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.http.outgoing.OutgoingLimiter;
import dev.weir.http.outgoing.Upstream;
import dev.weir.rules.Rules;
import java.time.Duration;
import java.util.Objects;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
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
      Request request = new Request.Builder().url(upstream.url("127.0.0.1")).build();

      // begin
      OutgoingLimiter limiter =
          OutgoingLimiter.builder()
              .rules(engine, "partners")
              .descriptor("host={host}")
              .maxWait(Duration.ofSeconds(2))
              .build();
      OkHttpClient client =
          new OkHttpClient.Builder().addInterceptor(RateLimitInterceptor.of(limiter)).build();
      // end

      for (int expected : new int[] {200, 429}) {
        try (Response response = client.newCall(request).execute()) {
          assertThat(response.code()).isEqualTo(expected);
        }
      }
      client.connectionPool().evictAll();
    }
  }
}
