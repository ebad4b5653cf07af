package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineMetrics;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.RuleMetrics;
import dev.weir.redis.RedisMetrics;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.time.Instant;
import java.util.HashMap;
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

/** Pages and lines that machines read. */
class PagesTest {
  private static final String TEXT = "(?:[^\"\\\\\n]|\\\\[\\\\\"n])*";
  private static final Pattern SAMPLE =
      Pattern.compile(
          "([a-z_]+)(?:\\{[a-z]+=\"(" + TEXT + ")\"(?:,policy=\"(" + TEXT + ")\")?})? (-?[0-9.]+)");

  private static final RedisMetrics STORE =
      new RedisMetrics(
          true, 11, 12, 13, 14, 15, Map.of("timeout", 16L, "disconnected", 17L), 18, 19, 20, 21);

  private static EngineMetrics metrics(String rule) {
    return new EngineMetrics(
        List.of(new RuleMetrics(rule, "log\"in", 9, 4, 1, 5, 6, 7, 2, 3)),
        100,
        7,
        2,
        List.of(5L, 4L, 1L),
        List.of(1_000L, 2_000L),
        123_456_789_012L,
        5,
        6,
        11,
        42,
        50,
        4_096,
        8_192,
        3,
        1,
        9);
  }

  @Test
  void metrics_areWellFormedWithHelpAndTypeOnce() {
    PendingBytes pending = new PendingBytes(1_000, new FakeTicker());
    DoorCounters door = new DoorCounters(1, pending);
    PendingBytes.Account account = door.account(() -> {});
    account.add(700);
    door.opened();
    door.opened();
    String page =
        MetricsPage.text(
            metrics("d.a\"b\\c\nd"),
            STORE,
            new ThrottleTable(9, 1 << 20, 0),
            Map.of("http", door),
            pending,
            0.25,
            true);
    Map<String, String> types = new HashMap<>();
    Map<String, String> samples = new HashMap<>();
    for (String line : page.lines().toList()) {
      if (line.startsWith("# TYPE ")) {
        String[] words = line.split(" ", 4);
        assertThat(types.put(words[2], words[3])).as(line).isNull();
      } else if (!line.startsWith("# HELP ")) {
        Matcher sample = SAMPLE.matcher(line);
        assertThat(sample.matches()).as(line).isTrue();
        String family = sample.group(1).replaceAll("_(bucket|sum|count)$", "");
        assertThat(types).as(line).containsKey(family);
        String key = sample.group(1) + (sample.group(2) == null ? "" : " " + sample.group(2));
        if (sample.group(1).startsWith("weir_rule_") && sample.group(2) != null) {
          assertThat(sample.group(3)).as(line).isEqualTo("log\\\"in");
        }
        assertThat(samples.put(key, sample.group(4))).as(line).isNull();
      }
    }
    assertThat(samples)
        .containsEntry("weir_requests_total", "100")
        .containsEntry("weir_requests_denied_total", "7")
        .containsEntry("weir_request_errors_total", "2")
        .containsEntry("weir_rule_total_hits_total d.a\\\"b\\\\c\\nd", "32")
        .containsEntry("weir_rule_tolerated_total d.a\\\"b\\\\c\\nd", "4")
        .containsEntry("weir_rule_incomplete_total d.a\\\"b\\\\c\\nd", "5")
        .containsEntry("weir_rule_refused_by_other_total d.a\\\"b\\\\c\\nd", "6")
        .containsEntry("weir_rule_uncertain_total d.a\\\"b\\\\c\\nd", "7")
        .containsEntry("weir_rule_over_limit_total d.a\\\"b\\\\c\\nd", "1")
        .containsEntry("weir_rule_near_limit_total d.a\\\"b\\\\c\\nd", "2")
        .containsEntry("weir_rule_within_limit_total d.a\\\"b\\\\c\\nd", "9")
        .containsEntry("weir_rule_shadow_mode_total d.a\\\"b\\\\c\\nd", "3")
        .containsEntry("weir_decision_seconds_bucket 0.000001000", "5")
        .containsEntry("weir_decision_seconds_bucket 0.000002000", "9")
        .containsEntry("weir_decision_seconds_bucket +Inf", "10")
        .containsEntry("weir_decision_seconds_count", "10")
        .containsEntry("weir_decision_seconds_sum", "123.456789012")
        .containsEntry("weir_keys", "42")
        .containsEntry("weir_max_keys", "50")
        .containsEntry("weir_max_state_bytes", "8192")
        .containsEntry("weir_key_space_full_total", "5")
        .containsEntry("weir_overloaded_total", "6")
        .containsEntry("weir_uncertain_total", "11")
        .containsEntry("weir_state_bytes", "4096")
        .containsEntry("weir_rule_revision", "9")
        .containsEntry("weir_store_available", "1")
        .containsEntry("weir_store_calls_total", "11")
        .containsEntry("weir_store_decided_total", "12")
        .containsEntry("weir_store_merged_total", "13")
        .containsEntry("weir_store_held_total", "14")
        .containsEntry("weir_store_fallback_total", "15")
        .containsEntry("weir_store_failures_total timeout", "16")
        .containsEntry("weir_store_failures_total disconnected", "17")
        .containsEntry("weir_store_late_permits_total", "18")
        .containsEntry("weir_store_burned_permits_total", "19")
        .containsEntry("weir_store_queued", "20")
        .containsEntry("weir_store_clock_steps_total", "21")
        .containsEntry("weir_connections http", "2")
        .containsEntry("weir_connections_refused_total http", "1")
        .containsEntry("weir_connections_evicted_total http", "0")
        .containsEntry("weir_pending_bytes", "700")
        .containsEntry("weir_max_pending_bytes", "1000")
        .containsKey("process_cpu_seconds_total")
        .containsKey("jvm_heap_used_bytes");
    assertThat(types).containsEntry("weir_decision_seconds", "histogram");
  }

  @Test
  void metrics_withoutASharedStore_areSilentOfIt() {
    ThrottleTable table = new ThrottleTable(9, 1 << 20, 0);
    PendingBytes pending = new PendingBytes(1_000, new FakeTicker());
    assertThat(MetricsPage.text(metrics("d.a"), null, table, Map.of(), pending, Double.NaN, true))
        .contains("weir_requests_total 100")
        .doesNotContain("weir_store");
  }

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
                    """)
                .ruleSet());
    assertThat(RulesPage.text(rules, true).lines())
        .containsExactly(
            "d.a: unit=MINUTE requests_per_unit=3, shadow_mode: false, quota_mode: false,"
                + " store: redis, consistency: strict, on_failure: deny",
            "d.b: window=90s requests_per_unit=3, shadow_mode: false, quota_mode: false,"
                + " store: redis, consistency: leased sync_interval=200ms,"
                + " on_failure: local local_share=0.25",
            "d.c: unit=DAY requests_per_unit=3, shadow_mode: false, quota_mode: false,"
                + " store: local, on_failure: allow",
            "d.e: unlimited, shadow_mode: false, quota_mode: false",
            "d.f: unit=DAY requests_per_unit=20, shadow_mode: false, quota_mode: false,"
                + " throttle: soft 5%, store: redis, consistency: strict, on_failure: deny");
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
                  new Decider(
                      engine, Load.of(ServerSettings.defaults(), Ticker.system()), Ticker.system()),
                  ServerSettings.defaults(),
                  () -> true,
                  () -> "")
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
  void logOfTheServer_survivesTheManagersResetOnASignal() {
    assertThat(LogManager.getLogManager().getLogger(Logs.LOG.getName()))
        .as("what is not registered is not reset")
        .isNotSameAs(Logs.LOG);
  }
}
