package dev.weir.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.ClusterMetrics;
import dev.weir.cluster.ClusterMetrics.Counts;
import dev.weir.cluster.ClusterMetrics.GroupMetrics;
import dev.weir.server.internal.metrics.Exposition;
import dev.weir.server.internal.metrics.Families;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ClusterFamiliesTest {
  private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0";

  private static Counts counts(long bound, long below, long beyond, long sum) {
    return new Counts(List.of(bound), List.of(below, beyond), sum);
  }

  private static final ClusterMetrics MEMBER =
      new ClusterMetrics(
          List.of(
              new GroupMetrics(
                  3,
                  true,
                  101,
                  102,
                  counts(1_000_000, 103, 1, 104_000_000_000L),
                  counts(1_000_000, 105, 1, 106_000_000_000L),
                  counts(1_000_000, 107, 1, 108_000_000_000L),
                  counts(64, 109, 1, 110),
                  111_500_000_000L,
                  112_500_000_000L,
                  119,
                  113,
                  114,
                  Map.of("unknown", 115L),
                  true,
                  117,
                  118)),
          Map.of("b", 116_500_000L));

  private static String page(String accept) throws IOException {
    Families families = new Families();
    ClusterFamilies.add(families, MEMBER);
    ByteArrayOutputStream page = new ByteArrayOutputStream();
    ExpositionFormats.init().findWriter(accept).write(page, families.all());
    return page.toString(StandardCharsets.UTF_8);
  }

  private static Exposition classic() throws IOException {
    return Exposition.classic(page("text/plain"));
  }

  private static Exposition openMetrics() throws IOException {
    return Exposition.openMetrics(page(OPEN_METRICS));
  }

  @Test
  void bothFormats_haveWhatAMemberHasCounted() throws Exception {
    for (Exposition page : List.of(classic(), openMetrics())) {
      Map<String, Double> expected = new HashMap<>();
      expected.put("weir_cluster_leader{group=\"3\"}", 1.0);
      expected.put("weir_cluster_term{group=\"3\"}", 101.0);
      expected.put("weir_cluster_log_bytes{group=\"3\"}", 102.0);
      expected.put("weir_cluster_commit_seconds_bucket{group=\"3\",le=\"0.001\"}", 103.0);
      expected.put("weir_cluster_commit_seconds_sum{group=\"3\"}", 104.0);
      expected.put("weir_cluster_apply_seconds_sum{group=\"3\"}", 106.0);
      expected.put("weir_cluster_snapshot_seconds_sum{group=\"3\"}", 108.0);
      expected.put("weir_cluster_batch_charges_bucket{group=\"3\",le=\"64.0\"}", 109.0);
      expected.put("weir_cluster_batch_charges_count{group=\"3\"}", 110.0);
      expected.put("weir_cluster_batch_charges_sum{group=\"3\"}", 110.0);
      expected.put("weir_cluster_apply_lag_seconds{group=\"3\"}", 111.5);
      expected.put("weir_cluster_clock_lag_seconds{group=\"3\"}", 112.5);
      expected.put("weir_cluster_clock_faults_total{group=\"3\"}", 119.0);
      expected.put("weir_cluster_elections_total{group=\"3\"}", 113.0);
      expected.put("weir_cluster_refused_early_total{group=\"3\"}", 114.0);
      expected.put("weir_cluster_undecided_total{group=\"3\",reason=\"unknown\"}", 115.0);
      expected.put("weir_cluster_diverged{group=\"3\"}", 1.0);
      expected.put("weir_cluster_moved_slots_total{group=\"3\"}", 117.0);
      expected.put("weir_cluster_frozen_slots{group=\"3\"}", 118.0);
      expected.put("weir_cluster_peer_rtt_seconds{peer=\"b\"}", 0.1165);
      assertThat(page.samples()).containsAllEntriesOf(expected);
    }
    assertThat(openMetrics().samples().keySet()).isEqualTo(classic().samples().keySet());
  }

  private static String document() throws IOException {
    return Files.readString(Path.of("..", "..", "docs", "server", "metrics.md"));
  }

  @Test
  void metricsPage_hasARowForEachMetricOfAMember_asThePageSaysIt() throws Exception {
    Exposition page = classic();
    Set<String> rows = new TreeSet<>();
    page.types()
        .forEach(
            (name, type) ->
                rows.add("| `" + name + "` | " + type + " | " + page.helps().get(name) + " |"));
    Set<String> documented = new TreeSet<>();
    document().lines().filter(line -> line.startsWith("| `weir_cluster_")).forEach(documented::add);
    assertThat(String.join("\n", documented)).isEqualTo(String.join("\n", rows));
  }

  @Test
  void metricsPage_namesEveryLabelOfAMembersMetrics_andNoMetricThatIsNotThere() throws Exception {
    Set<String> labels = new TreeSet<>();
    for (String sample : classic().samples().keySet()) {
      Matcher label = Pattern.compile("[{,]([a-z_]+)=\"").matcher(sample);
      while (label.find()) {
        labels.add(label.group(1));
      }
    }
    labels.remove("le"); // Added by histograms.
    assertThat(labels).contains("group", "peer", "reason");
    String document = document();
    assertThat(labels).allSatisfy(label -> assertThat(document).contains("`" + label + "`"));
    Set<String> names = classic().names();
    Matcher named = Pattern.compile("`(weir_cluster_[a-z_]+)[`{]").matcher(document);
    while (named.find()) {
      assertThat(names).contains(named.group(1));
    }
  }
}
