package dev.weir.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.server.RunningServer;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test that every metric and label named in the files for Prometheus and Grafana is on a metrics
 * page.
 */
class OpsFilesTest {
  private static final Path OPS = Path.of("..", "..", "dist", "ops");
  private static final Map<String, Integer> ALERTS =
      Map.of("alerts.yaml", 7, "cluster-alerts.yaml", 6);

  /** The least number of expressions in a file. */
  private static final int EXPRESSIONS = 6;

  /** Labels that Prometheus adds. */
  private static final Set<String> BY_PROMETHEUS = Set.of("instance");

  private static final Pattern METRIC = Pattern.compile("\\bweir_[a-z0-9_]+");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)(?:=~|=|!=|!~)\\\\?\"");
  private static final Pattern BY = Pattern.compile("\\bby \\(([a-z_, ]+)\\)");
  private static final Pattern LEGEND = Pattern.compile("\\{\\{([a-z_]+)}}");
  private static final Pattern SAMPLE = Pattern.compile("(weir_[a-z0-9_]+)(?:\\{(.*)})? \\S+");
  private static final Pattern EXPRESSION =
      Pattern.compile("(?m)^ +\"expr\": \"(.*)\",?$|^ +expr: (.*(?:\n {10}.*)*)");

  @TempDir private Path folder;
  private String members = "";

  private Map<String, Set<String>> onThePage() throws Exception {
    try (RunningServer running =
        RunningServer.start(
            folder, "config-store", "memory:", "state-dir", folder.resolve("state").toString())) {
      assertThat(running.check("user", "ann").statusCode()).isEqualTo(200);
      Map<String, Set<String>> page = samples(running);
      page.putAll(ofTheUpstreamServer(running));
      return page;
    }
  }

  /** Returns the metrics that only a sidecar has. */
  private static Map<String, Set<String>> ofTheUpstreamServer(RunningServer upstream)
      throws Exception {
    String address = "weir://127.0.0.1:" + upstream.server.grpcPort();
    try (RunningServer sidecar = RunningServer.start(Map.of("upstream", address))) {
      Map<String, Set<String>> page = samples(sidecar);
      page.keySet().removeIf(name -> !name.startsWith("weir_client_"));
      return page;
    }
  }

  /** Returns the metrics of a member that has decided requests and reaches another member. */
  private Map<String, Set<String>> onAMembersPage() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RunningServer.RULES);
    members = "a=127.0.0.1:" + Ports.free() + ",b=127.0.0.1:" + Ports.free();
    CompletableFuture<RunningServer> other =
        CompletableFuture.supplyAsync(() -> member("b", rules), task -> new Thread(task).start());
    try (RunningServer member = member("a", rules);
        RunningServer second = other.join()) {
      assertThat(member.check("user", "ann").statusCode()).isEqualTo(200);
      Map<String, Set<String>> page = samples(member);
      while (!page.containsKey("weir_cluster_peer_rtt_seconds")) {
        Thread.onSpinWait();
        page = samples(member);
      }
      assertThat(samples(second)).containsKey("weir_cluster_term");
      return page;
    }
  }

  private RunningServer member(String name, Path rules) {
    try {
      return RunningServer.start(
          Map.of("rules", rules.toString()),
          "cluster",
          members,
          "cluster-name",
          name,
          "cluster-dir",
          folder.resolve(name).toString(),
          "store-timeout",
          "20s",
          "request-timeout",
          "1m");
    } catch (Exception e) {
      throw new IllegalStateException(name, e);
    }
  }

  private static Map<String, Set<String>> samples(RunningServer running) throws Exception {
    Map<String, Set<String>> labels = new HashMap<>();
    for (String line : running.get("/metrics").body().lines().toList()) {
      Matcher sample = SAMPLE.matcher(line);
      if (sample.matches()) {
        Set<String> names = labels.computeIfAbsent(sample.group(1), name -> new HashSet<>());
        Matcher label = LABEL.matcher(sample.group(2) == null ? "" : sample.group(2));
        while (label.find()) {
          names.add(label.group(1));
        }
      }
    }
    return labels;
  }

  private static Set<String> all(Pattern pattern, String text) {
    Set<String> all = new TreeSet<>();
    Matcher matcher = pattern.matcher(text);
    while (matcher.find()) {
      all.add(matcher.group(matcher.groupCount()));
    }
    return all;
  }

  private static String file(String name) {
    try {
      return Files.readString(OPS.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void metricsAndLabels_areOnAMetricsPage() throws Exception {
    Map<String, Set<String>> member = onAMembersPage();
    Map<String, Set<String>> server = onThePage();
    member.forEach(
        (name, labels) -> {
          if (name.startsWith("weir_store_")) { // The same for each kind of shared store.
            server.put(name, labels);
          }
        });
    namesMetricsOf(server, "grafana-dashboard.json", "alerts.yaml");
    namesMetricsOf(member, "cluster-dashboard.json", "cluster-alerts.yaml");
  }

  private static void namesMetricsOf(Map<String, Set<String>> page, String... files) {
    assertThat(page).isNotEmpty();
    for (String name : files) {
      Matcher expression = EXPRESSION.matcher(file(name));
      int count = 0;
      while (expression.find()) {
        count++;
        String text = expression.group(1) == null ? expression.group(2) : expression.group(1);
        Set<String> metrics = all(METRIC, text);
        assertThat(metrics).as(text).isNotEmpty();
        assertThat(page.keySet()).as(text).containsAll(metrics);
        Set<String> labels = all(LABEL, text);
        for (String by : all(BY, text)) {
          labels.addAll(Set.of(by.split(", *")));
        }
        labels.removeAll(BY_PROMETHEUS);
        for (String label : labels) {
          assertThat(metrics)
              .as("%s: %s", label, text)
              .allSatisfy(metric -> assertThat(page.get(metric)).contains(label));
        }
      }
      assertThat(count).as(name).isGreaterThanOrEqualTo(EXPRESSIONS);
      Set<String> shown = all(LEGEND, file(name));
      shown.removeAll(BY_PROMETHEUS);
      assertThat(page.keySet()).as(name).containsAll(all(METRIC, file(name)));
      assertThat(Set.of("rule", "door", "group", "peer", "reason", "kind"))
          .as(name)
          .containsAll(shown);
    }
  }

  @Test
  void alerts_eachHaveWhatToDo() {
    ALERTS.forEach(
        (name, count) -> {
          for (String each : List.of("- alert: ", "summary: ", "description: ", "severity: ")) {
            assertThat(file(name).split(each, -1)).as(name).hasSize(count + 1);
          }
        });
  }
}
