package dev.weir.server.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weir.MemoryStore;
import dev.weir.client.ClientMetrics;
import dev.weir.config.follow.FollowerStatus;
import dev.weir.config.follow.SubjectCacheStatus;
import dev.weir.engine.CallerBuckets;
import dev.weir.engine.EngineMetrics;
import dev.weir.engine.LeaseMetrics;
import dev.weir.engine.QueueMetrics;
import dev.weir.engine.RefundMetrics;
import dev.weir.engine.RuleMetrics;
import dev.weir.engine.SubjectMetrics;
import dev.weir.engine.holds.HoldMetrics;
import dev.weir.engine.seats.SeatMetrics;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.shared.SharedMetrics;
import dev.weir.testkit.FakeTicker;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ServerMetricsTest {
  private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0";
  private static final String RULE = "{policy=\"log\\\"in\",rule=\"d.a\\\"b\\\\c\\nd\"}";

  private static final SharedMetrics STORE =
      new SharedMetrics(
          "redis",
          true,
          11,
          12,
          13,
          14,
          15,
          Map.of("timeout", 16L, "disconnected", 17L),
          18,
          19,
          20,
          21,
          Map.of("counts", 22L, "eviction", 23L));

  private static final CountedConfig CONFIG =
      new CountedConfig(
          new FollowerStatus(41, 42, 1_500_000_000L, List.of("a", "b")),
          new SubjectMetrics(31, 32, 33, 34, 35, 36, 37, 38),
          new SubjectCacheStatus(
              51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, List.of()));

  private static final EngineMetrics ENGINE =
      new EngineMetrics(
          List.of(
              new RuleMetrics("d.a\"b\\c\nd", "log\"in", 9, 4, 1, 5, 6, 7, 2, 3),
              new RuleMetrics("d.a\"b\\c\nd", "other", 1, 0, 0, 0, 0, 0, 0, 0),
              new RuleMetrics("d.e", "log\"in", 2, 0, 0, 0, 0, 0, 0, 0)),
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
          9,
          new QueueMetrics(22, 23, 24, 25, 26_500_000_000L));

  private static final ClientMetrics CLIENT =
      new ClientMetrics(91, 92, 93, 94, 95, 96, 97, 98, true);

  private static MetricSources counted(@Nullable SharedMetrics store, double load) {
    PendingBytes pending = new PendingBytes(1_000, new FakeTicker());
    DoorCounters door = new DoorCounters(1, pending);
    boolean unused = door.account(() -> {}).add(700);
    door.opened();
    door.opened();
    return new MetricSources(
        ENGINE,
        new LeaseMetrics(71, 72, 73, 74, 75, 76, 77, 78, 79, 80),
        new RefundMetrics(121, 122),
        new HoldMetrics(123, 124, 125, 126, 127, 128, 129, 130),
        new SeatMetrics(131, 132, 133, 134, 135, 136, 0),
        to -> others(store, to),
        new CallerBuckets(new MemoryStore(9), 0),
        Map.of("http", door),
        pending,
        load,
        true);
  }

  private static void others(@Nullable SharedMetrics store, Families to) {
    if (store != null) {
      StoreFamilies.add(to, store);
      to.gauge("weir_cluster_pretended", "None.", 101);
      ConfigFamilies.add(to, CONFIG);
      ClientFamilies.add(to, CLIENT);
      StateFamilies.add(to, true, 111);
    }
  }

  private static String page(PrometheusRegistry registry, String accept) throws IOException {
    ByteArrayOutputStream page = new ByteArrayOutputStream();
    ExpositionFormats.init().findWriter(accept).write(page, registry.scrape());
    return page.toString(StandardCharsets.UTF_8);
  }

  private static Exposition classic() throws IOException {
    return Exposition.classic(
        page(ServerMetrics.registry(() -> counted(STORE, 0.25)), "text/plain"));
  }

  private static Exposition openMetrics() throws IOException {
    return Exposition.openMetrics(
        page(ServerMetrics.registry(() -> counted(STORE, 0.25)), OPEN_METRICS));
  }

  @Test
  void bothFormats_haveWhatIsCounted() throws Exception {
    for (Exposition page : List.of(classic(), openMetrics())) {
      Map<String, Double> expected = new HashMap<>();
      expected.put("weir_load", 0.25);
      expected.put("weir_ready", 1.0);
      expected.put("weir_requests_total", 100.0);
      expected.put("weir_requests_denied_total", 7.0);
      expected.put("weir_request_errors_total", 2.0);
      expected.put("weir_rule_hits_total" + RULE, 32.0);
      expected.put("weir_rule_within_limit_total" + RULE, 9.0);
      expected.put("weir_rule_tolerated_total" + RULE, 4.0);
      expected.put("weir_rule_over_limit_total" + RULE, 1.0);
      expected.put("weir_rule_incomplete_total" + RULE, 5.0);
      expected.put("weir_rule_refused_by_other_total" + RULE, 6.0);
      expected.put("weir_rule_undecided_total" + RULE, 7.0);
      expected.put("weir_rule_near_limit_total" + RULE, 2.0);
      expected.put("weir_rule_shadow_mode_total" + RULE, 3.0);
      expected.put(
          "weir_rule_within_limit_total{policy=\"other\",rule=\"d.a\\\"b\\\\c\\nd\"}", 1.0);
      expected.put("weir_rule_within_limit_total{policy=\"log\\\"in\",rule=\"d.e\"}", 2.0);
      expected.put("weir_decision_seconds_bucket{le=\"1.0E-6\"}", 5.0);
      expected.put("weir_decision_seconds_bucket{le=\"2.0E-6\"}", 9.0);
      expected.put("weir_decision_seconds_bucket{le=\"+Inf\"}", 10.0);
      expected.put("weir_decision_seconds_count", 10.0);
      expected.put("weir_decision_seconds_sum", 123.456789012);
      expected.put("weir_key_space_full_total", 5.0);
      expected.put("weir_overloaded_total", 6.0);
      expected.put("weir_config_stale_seconds", 1.5);
      expected.put("weir_config_revision{state=\"applied\"}", 41.0);
      expected.put("weir_config_revision{state=\"head\"}", 42.0);
      expected.put("weir_config_problems", 2.0);
      expected.put("weir_subject_waiting", 31.0);
      expected.put("weir_subject_finds_failed_total", 32.0);
      expected.put("weir_subject_loads_total", 33.0);
      expected.put("weir_subject_late_total", 34.0);
      expected.put("weir_subject_uncertain_total", 35.0);
      expected.put("weir_subject_overloaded_total", 36.0);
      expected.put("weir_subject_plans_missing_total", 37.0);
      expected.put("weir_subject_limits_refused_total", 38.0);
      expected.put("weir_limits_known", 51.0);
      expected.put("weir_limits_absent", 52.0);
      expected.put("weir_limits_stale", 53.0);
      expected.put("weir_limits_bytes", 55.0);
      expected.put("weir_limits_hits_total", 56.0);
      expected.put("weir_limits_misses_total", 57.0);
      expected.put("weir_limits_queries_total", 58.0);
      expected.put("weir_limits_loads_total", 59.0);
      expected.put("weir_limits_again_total", 60.0);
      expected.put("weir_limits_failures_total", 61.0);
      expected.put("weir_limits_evictions_total", 62.0);
      expected.put("weir_limits_no_room_total", 63.0);
      expected.put("weir_limits_unreadable_total", 64.0);
      expected.put("weir_limits_plans_missing_total", 65.0);
      expected.put("weir_uncertain_total", 11.0);
      expected.put("weir_queued_requests", 22.0);
      expected.put("weir_queue_admitted_total", 23.0);
      expected.put("weir_queue_refused_total", 24.0);
      expected.put("weir_queue_left_total", 25.0);
      expected.put("weir_queue_wait_seconds_total", 26.5);
      expected.put("weir_leases_outstanding", 71.0);
      expected.put("weir_max_leases", 72.0);
      expected.put("weir_lease_asks_total", 73.0);
      expected.put("weir_leases_total", 74.0);
      expected.put("weir_lease_permits_total", 75.0);
      expected.put("weir_lease_returned_permits_total", 76.0);
      expected.put("weir_lease_taken_back_permits_total", 77.0);
      expected.put("weir_lease_expired_permits_total", 78.0);
      expected.put("weir_lease_unknown_total", 79.0);
      expected.put("weir_negative_hits_total", 121.0);
      expected.put("weir_negative_hits_kept_total", 122.0);
      expected.put("weir_holds_total", 123.0);
      expected.put("weir_holds_refused_total", 124.0);
      expected.put("weir_holds_settled_total", 125.0);
      expected.put("weir_holds_settled_before_total", 126.0);
      expected.put("weir_holds_late_total", 127.0);
      expected.put("weir_holds_uncertain_total", 128.0);
      expected.put("weir_hold_returned_permits_total", 129.0);
      expected.put("weir_hold_charged_permits_total", 130.0);
      expected.put("weir_lease_full_total", 80.0);
      expected.put("weir_cluster_pretended", 101.0);
      expected.put("weir_state_kept", 1.0);
      expected.put("weir_state_journal_bytes", 111.0);
      expected.put("weir_client_available", 1.0);
      expected.put("weir_client_admitted_locally_total", 91.0);
      expected.put("weir_client_refused_locally_total", 92.0);
      expected.put("weir_client_asked_total", 93.0);
      expected.put("weir_client_answered_away_total", 94.0);
      expected.put("weir_client_messages_total", 95.0);
      expected.put("weir_client_leases_total", 96.0);
      expected.put("weir_client_lent_permits_total", 97.0);
      expected.put("weir_client_returned_permits_total", 98.0);
      expected.put("weir_keys", 42.0);
      expected.put("weir_max_keys", 50.0);
      expected.put("weir_state_bytes", 4096.0);
      expected.put("weir_max_state_bytes", 8192.0);
      expected.put("weir_rule_reloads_total", 3.0);
      expected.put("weir_rule_reload_failures_total", 1.0);
      expected.put("weir_rule_revision", 9.0);
      expected.put("weir_store_available", 1.0);
      expected.put("weir_store_calls_total", 11.0);
      expected.put("weir_store_decided_total", 12.0);
      expected.put("weir_store_merged_total", 13.0);
      expected.put("weir_store_held_total", 14.0);
      expected.put("weir_store_on_failure_local_total", 15.0);
      expected.put("weir_store_failures_total{kind=\"timeout\"}", 16.0);
      expected.put("weir_store_failures_total{kind=\"disconnected\"}", 17.0);
      expected.put("weir_store_late_permits_total", 18.0);
      expected.put("weir_store_burned_permits_total", 19.0);
      expected.put("weir_store_queued", 20.0);
      expected.put("weir_store_clock_steps_total", 21.0);
      expected.put("weir_store_losses_total{kind=\"counts\"}", 22.0);
      expected.put("weir_store_losses_total{kind=\"eviction\"}", 23.0);
      expected.put("weir_throttle_max_keys", 9.0);
      expected.put("weir_connections{door=\"http\"}", 2.0);
      expected.put("weir_connections_refused_total{door=\"http\"}", 1.0);
      expected.put("weir_connections_evicted_total{door=\"http\"}", 0.0);
      expected.put("weir_pending_bytes", 700.0);
      expected.put("weir_max_pending_bytes", 1000.0);
      assertThat(page.samples()).containsAllEntriesOf(expected);
      assertThat(page.samples().keySet())
          .anyMatch(sample -> sample.matches("weir_build_info\\{version=\"\\d[^\"]+\"}"));
    }
  }

  @Test
  void bothFormats_haveTheSameSamples() throws Exception {
    assertThat(openMetrics().samples().keySet()).isEqualTo(classic().samples().keySet());
  }

  @Test
  void jvmAndProcess_haveTheNamesThatDashboardsKnow() throws Exception {
    assertThat(classic().samples())
        .containsKeys(
            "jvm_memory_used_bytes{area=\"heap\"}",
            "jvm_memory_max_bytes{area=\"heap\"}",
            "jvm_threads_current",
            "jvm_threads_daemon",
            "process_cpu_seconds_total",
            "process_start_time_seconds")
        .anySatisfy(
            (name, value) -> assertThat(name).startsWith("jvm_gc_collection_seconds_count{gc="))
        .anySatisfy(
            (name, value) -> assertThat(name).startsWith("jvm_gc_collection_seconds_sum{gc="));
  }

  @Test
  void residentMemory_isWhatTheSystemSays_whateverItsPages() throws Exception {
    Path status = Path.of("/proc/self/status");
    assumeTrue(Files.isReadable(status));
    Matcher resident = Pattern.compile("VmRSS:\\s+(\\d+) kB").matcher(Files.readString(status));
    assertThat(resident.find()).isTrue();
    double bytes = Double.parseDouble(resident.group(1)) * 1024;
    assertThat(classic().samples().get("process_resident_memory_bytes"))
        .isBetween(bytes / 2, bytes * 2);
  }

  @Test
  void everyScrape_readsTheCountersOnce() throws Exception {
    AtomicInteger reads = new AtomicInteger();
    PrometheusRegistry registry =
        ServerMetrics.registry(
            () -> {
              reads.incrementAndGet();
              return counted(STORE, 1);
            });
    assertThat(reads).hasValue(0);
    for (int i = 1; i <= 3; i++) {
      assertThat(Exposition.classic(page(registry, "*/*")).samples())
          .containsEntry("weir_requests_total", 100.0);
      assertThat(reads).hasValue(i);
    }
  }

  @Test
  void withoutASharedStore_nothingIsSaidOfOne() throws Exception {
    String page = page(ServerMetrics.registry(() -> counted(null, Double.NaN)), "text/plain");
    assertThat(page)
        .contains("\nweir_load NaN\n")
        .doesNotContain(
            "weir_store", "weir_cluster", "weir_config", "weir_limits", "weir_state_kept");
  }

  /**
   * Returns whether a metric is one of a cluster's member: those are in another module, like their
   * tests.
   */
  private static boolean ofACluster(String name) {
    return name.startsWith("weir_cluster_");
  }

  private static String document() throws IOException {
    return Files.readString(Path.of("..", "docs", "server", "metrics.md"));
  }

  @Test
  void metricsPage_hasARowForEachOfWeirsMetrics_asThePageSaysIt() throws Exception {
    Exposition page = classic();
    Set<String> rows = new TreeSet<>();
    page.types()
        .forEach(
            (name, type) -> {
              if (name.startsWith("weir_") && !ofACluster(name)) {
                rows.add("| `" + name + "` | " + type + " | " + page.helps().get(name) + " |");
              }
            });
    Set<String> documented = new TreeSet<>();
    document()
        .lines()
        .filter(line -> line.startsWith("| `weir_") && !line.startsWith("| `weir_cluster_"))
        .forEach(documented::add);
    assertThat(String.join("\n", documented)).isEqualTo(String.join("\n", rows));
  }

  @Test
  void metricsPage_namesEveryLabelOfWeirsMetrics() throws Exception {
    Set<String> labels = new TreeSet<>();
    for (String sample : classic().samples().keySet()) {
      if (sample.startsWith("weir_")) {
        Matcher label = Pattern.compile("[{,]([a-z_]+)=\"").matcher(sample);
        while (label.find()) {
          labels.add(label.group(1));
        }
      }
    }
    labels.remove("le"); // This label belongs to histograms.
    assertThat(labels).contains("policy", "rule", "door");
    String document = document();
    assertThat(labels).allSatisfy(label -> assertThat(document).contains("`" + label + "`"));
  }

  @Test
  void pagesForUsers_nameNoMetricThatIsNotThere() throws Exception {
    Set<String> names = classic().names();
    for (String text : List.of(document(), Files.readString(Path.of("..", "docs", "redis.md")))) {
      Matcher named = Pattern.compile("`((?:weir|jvm|process)_[a-z_]+)[`{]").matcher(text);
      while (named.find()) {
        if (!ofACluster(named.group(1))) {
          assertThat(names).contains(named.group(1));
        }
      }
    }
  }
}
