package dev.weir.server.internal.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.internal.Histogram;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.log.LogEvent;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.settings.LogFormat;
import dev.weir.server.internal.settings.ServerSettings;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests of pages and lines that machines read. */
class PagesTest {
  @Test
  void rules_sayWhereTheyAreCounted_ifThereAreTwoPlaces() {
    RuleSet rules =
        Objects.requireNonNull(
            Rules.parse(
                    "rules.yaml",
                    """
                    domain: d
                    descriptors:
                      - key: a
                        rate_limit: {unit: minute, requests_per_unit: 3}
                      - key: b
                        rate_limit: {window: 90s, requests_per_unit: 3, consistency: leased,
                          sync_interval: 200ms, on_failure: local, local_share: 25%}
                      - key: c
                        rate_limit: {unit: day, requests_per_unit: 3, store: local, on_failure: allow}
                      - key: e
                        rate_limit: {unlimited: true}
                      - key: f
                        rate_limit: {unit: day, requests_per_unit: 20, throttle: {soft: 5%}}
                      - key: g
                        rate_limit: {unit: day, requests_per_unit: 20, store: local,
                          on_limit: {queue: {requests: 20, wait: 1500ms}}}
                    """)
                .ruleSet());
    assertThat(RulesPage.text(rules, true).lines())
        .containsExactly(
            "d.a: unit=MINUTE requests_per_unit=3, shadow_mode: false, quota_mode: false,"
                + " store: shared, consistency: strict, on_failure: deny",
            "d.b: window=1m30s requests_per_unit=3, shadow_mode: false, quota_mode: false,"
                + " store: shared, consistency: leased sync_interval=200ms,"
                + " on_failure: local local_share=0.25",
            "d.c: unit=DAY requests_per_unit=3, shadow_mode: false, quota_mode: false,"
                + " store: local, on_failure: allow",
            "d.e: unlimited, shadow_mode: false, quota_mode: false",
            "d.f: unit=DAY requests_per_unit=20, shadow_mode: false, quota_mode: false,"
                + " throttle: soft 5%, store: shared, consistency: strict, on_failure: deny",
            "d.g: unit=DAY requests_per_unit=20, shadow_mode: false, quota_mode: false,"
                + " on_limit: queue requests=20 wait=1s500ms, store: local, on_failure: deny");
    assertThat(RulesPage.text(rules, false))
        .doesNotContain("store", "consistency", "on_failure: deny", "on_failure: local")
        .contains(
            "d.c: unit=DAY requests_per_unit=3, shadow_mode: false, quota_mode: false,"
                + " on_failure: allow\n");
  }

  @Test
  void openApi_describesExactlyTheEndpointsThereAre() {
    JsonObject document =
        JsonParser.parseString(Endpoints.resource("openapi.json")).getAsJsonObject();
    assertThat(document.get("openapi").getAsString()).startsWith("3.1.");
    Set<String> described = new TreeSet<>();
    JsonObject paths = document.getAsJsonObject("paths");
    for (String path : paths.keySet()) {
      for (String method : paths.getAsJsonObject(path).keySet()) {
        described.add(method + " " + path);
      }
    }
    Set<String> there = new TreeSet<>();
    try (Engine engine =
        Engine.create(new MemoryStore(), Ticker.system(), EngineSettings.DEFAULTS)) {
      for (Endpoint endpoint :
          new Endpoints(
                  new GuardedDecider(
                      engine,
                      SystemLoad.of(ServerSettings.defaults(), Ticker.system()),
                      Ticker.system()),
                  ServerSettings.defaults(),
                  () -> "",
                  new PrometheusRegistry(),
                  new RequestTimes(Histogram.ofRequests(), Ticker.system()),
                  Tracing.OFF)
              .all()) {
        there.add(endpoint.method().toLowerCase(Locale.ROOT) + " " + endpoint.path());
      }
    }
    assertThat(described).isEqualTo(there);
  }

  @Test
  void openApi_refersOnlyToWhatItDefines() {
    String text = Endpoints.resource("openapi.json");
    JsonObject components =
        JsonParser.parseString(text).getAsJsonObject().getAsJsonObject("components");
    Matcher references =
        Pattern.compile("\"\\$ref\": \"#/components/(\\w+)/([\\w-]+)\"").matcher(text);
    Set<String> seen = new HashSet<>();
    while (references.find()) {
      seen.add(references.group(2));
      assertThat(components.getAsJsonObject(references.group(1)).has(references.group(2)))
          .as(references.group())
          .isTrue();
    }
    assertThat(seen).isNotEmpty();
  }

  @Test
  void logLine_isOneEvent() {
    LogRecord event = new LogRecord(Level.WARNING, "a \"b\"\nfake INFO line");
    event.setInstant(Instant.parse("2026-01-02T03:04:05.678Z"));
    event.setLoggerName("dev.weir");
    assertThat(Logs.formatter(LogFormat.TEXT).format(event))
        .isEqualTo("2026-01-02T03:04:05.678Z WARN  a \"b\"\n    fake INFO line\n");
    assertThat(Logs.formatter(LogFormat.JSON).format(event))
        .isEqualTo(
            "{\"time\":\"2026-01-02T03:04:05.678Z\",\"level\":\"warn\",\"logger\":\"dev.weir\","
                + "\"message\":\"a \\\"b\\\"\\nfake INFO line\"}\n");
    event.setThrown(new IllegalStateException("boom"));
    assertThat(Logs.formatter(LogFormat.JSON).format(event))
        .contains("\"exception\":\"java.lang.IllegalStateException: boom");
  }

  @Test
  void logLineOfAnEvent_hasItsValuesAsFieldsInJsonOnly() {
    LogEvent event =
        LogEvent.of(Level.INFO, "rules_reloaded", "rules: {0} in force")
            .with("revision", 7L)
            .with("left", List.of("a", "b\n"))
            .with("problems", List.of(Map.of("line", 3)))
            .with("share", 0.5);
    event.setInstant(Instant.parse("2026-01-02T03:04:05.678Z"));
    assertThat(Logs.formatter(LogFormat.TEXT).format(event))
        .isEqualTo("2026-01-02T03:04:05.678Z INFO  rules: {0} in force\n");
    assertThat(Logs.formatter(LogFormat.JSON).format(event))
        .isEqualTo(
            "{\"time\":\"2026-01-02T03:04:05.678Z\",\"level\":\"info\",\"logger\":\"dev.weir\","
                + "\"message\":\"rules: {0} in force\",\"event\":\"rules_reloaded\","
                + "\"revision\":7,\"left\":[\"a\",\"b\\n\"],\"problems\":[{\"line\":3}],"
                + "\"share\":0.5}\n");
  }

  @Test
  void logOfTheServer_survivesTheManagersResetOnASignal() {
    assertThat(LogManager.getLogManager().getLogger(Logs.LOG.getName()))
        .as("what is not registered is not reset")
        .isNotSameAs(Logs.LOG);
  }
}
