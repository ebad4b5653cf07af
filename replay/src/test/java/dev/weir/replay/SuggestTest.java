package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.replay.LimitSuggestions.RefusalCount;
import dev.weir.replay.OracleReplayTest.Asked;
import dev.weir.replay.OracleReplayTest.Recorded;
import dev.weir.rules.Rule;
import dev.weir.rules.Rules;
import dev.weir.testkit.Oracle;
import dev.weir.traffic.Format;
import dev.weir.traffic.Generator;
import dev.weir.traffic.GeneratorOptions;
import dev.weir.traffic.Progress;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A test that a suggested limit refuses at most the share, and that one less refuses more. */
class SuggestTest {
  private static final List<Duration> WINDOWS =
      List.of(Duration.ofSeconds(10), Duration.ofMinutes(1));

  @TempDir Path folder;

  private static Suggestion suggest(Traffic traffic, LimitSuggestions.Options options)
      throws Exception {
    return LimitSuggestions.run(
        traffic, options, null, Progress.NONE, InputStream.nullInputStream());
  }

  private static RefusalCount byOracle(List<Asked> records, Algorithm algorithm, Quota quota) {
    Oracle oracle = Oracle.of(Policy.builder(quota).algorithm(algorithm).build());
    long now = Long.MIN_VALUE;
    long requests = 0;
    long permits = 0;
    String worst = "";
    Map<String, Long> keys = new HashMap<>();
    for (Asked asked : records) {
      now = Math.max(now, asked.nanos());
      if (!oracle.decide(asked.key(), now, asked.permits()).allowed()) {
        requests++;
        permits += asked.permits();
        long of = keys.merge(asked.key(), 1L, Long::sum);
        worst = of > keys.getOrDefault(worst, 0L) ? asked.key() : worst;
      }
    }
    long most = keys.getOrDefault(worst, 0L);
    String shown = worst.isEmpty() ? "" : "key=" + worst;
    return new RefusalCount(quota.permits(), requests, permits, keys.size(), shown, most);
  }

  @Test
  void severalDescriptors_areSuggestedEachByItselfAndAreOneFile() throws Exception {
    StringBuilder csv = new StringBuilder("time,ip,path,cost\n");
    for (int i = 0; i < 2_000; i++) {
      csv.append(1_700_000_000 + i / 4).append(",10.0.0.").append(i % 40 == 0 ? 9 : i % 7);
      csv.append(",/p").append(i % 3).append(',').append(1 + i % 5).append('\n');
    }
    Path file = Files.writeString(folder.resolve("several.csv"), csv);
    LimitSuggestions.Options options =
        new LimitSuggestions.Options(WINDOWS, 0.01, Algorithm.SLIDING_WINDOW, "site", 0, 0);
    List<String> descriptors = List.of("ip={ip}", "path={path},ip={ip}", "path={path}");
    Traffic.Builder traffic = Traffic.builder().input(file.toString()).permits("{cost}");
    descriptors.forEach(traffic::descriptor);
    Path report = folder.resolve("several.html");
    Suggestions all = LimitSuggestions.runEach(traffic.build(), options, report, Progress.NONE);
    for (int i = 0; i < descriptors.size(); i++) {
      Suggestion alone = suggest(traffic.build().withDescriptor(descriptors.get(i)), options);
      assertThat(all.each().get(i).windows()).isEqualTo(alone.windows());
    }
    Rules.LoadResult rules = Rules.parse("rules.yaml", all.yaml());
    assertThat(rules.problems()).isEmpty();
    assertThat(Objects.requireNonNull(rules.ruleSet()).rules())
        .extracting(Rule::path)
        .containsExactlyInAnyOrder("site.ip", "site.path", "site.path.ip");
    assertThat(all.text())
        .startsWith("limits that refuse at most 1 % of the requests and of the keys")
        .contains("path, ip", "permits", "rules to paste");
    assertThat(Files.readString(report))
        .contains("3 limits that refuse at most", "permits refused", "By path, ip");
    assertThatThrownBy(
            () ->
                LimitSuggestions.runEach(
                    Traffic.builder().input("-").descriptor("a={a}").descriptor("b={b}").build(),
                    options,
                    null,
                    Progress.NONE))
        .hasMessageContaining("input: - (expected: a file, with several descriptors)");
  }

  @Test
  void realTraces_agreeWithTheOracle() throws Exception {
    for (Recorded trace : OracleReplayTest.real()) {
      Traffic traffic =
          Traffic.builder(trace.file().toString())
              .timeUnit(TimeUnit.SECONDS)
              .anyOrder(true)
              .descriptor(trace.descriptor())
              .permits(trace.permits())
              .build();
      Suggestion suggestion =
          suggest(
              traffic,
              new LimitSuggestions.Options(WINDOWS, 0.001, Algorithm.SLIDING_WINDOW_LOG, "d"));
      for (LimitSuggestions.Window each : suggestion.windows()) {
        for (RefusalCount said : List.of(each.both(), Objects.requireNonNull(each.below()))) {
          Quota quota = new Quota(said.limit(), each.windowNanos());
          assertThat(said)
              .as("%s %s", trace.file(), quota)
              .isEqualTo(byOracle(trace.records(), Algorithm.SLIDING_WINDOW_LOG, quota));
        }
        hold(suggestion, each, 0.001);
      }
    }
  }

  private static void hold(Suggestion suggestion, LimitSuggestions.Window window, double share) {
    double requests = share * suggestion.requests();
    double keys = share * suggestion.keys();
    RefusalCount below = Objects.requireNonNull(window.below());
    assertThat((double) window.both().requests()).isLessThanOrEqualTo(requests);
    assertThat((double) window.both().keys()).isLessThanOrEqualTo(keys);
    assertThat(below.limit()).isEqualTo(window.both().limit() - 1);
    assertThat(below.requests() > requests || below.keys() > keys).as("%s", below).isTrue();
    assertThat((double) window.forRequests().requests()).isLessThanOrEqualTo(requests);
    assertThat((double) window.forKeys().keys()).isLessThanOrEqualTo(keys);
    assertThat(window.both().limit())
        .isEqualTo(Math.max(window.forRequests().limit(), window.forKeys().limit()));
    assertThat(window.curve()).isSortedAccordingTo((a, b) -> Long.compare(a.limit(), b.limit()));
    assertThat(window.curve().get(0).limit()).isEqualTo(1);
    assertThat(window.curve().get(window.curve().size() - 1).requests()).isZero();
  }

  private Path generated() throws IOException, TrafficException {
    Path file = folder.resolve("access.log");
    GeneratorOptions all = GeneratorOptions.DEFAULTS;
    GeneratorOptions options =
        new GeneratorOptions(
            all.traffic(),
            3,
            all.start(),
            Duration.ofMinutes(20),
            10,
            300,
            1,
            all.window(),
            20_000);
    try (OutputStream out = Files.newOutputStream(file)) {
      Generator.write(options, Format.COMBINED, out);
    }
    return file;
  }

  @ParameterizedTest
  @EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
  void pastedRules_refuseWhatWasSaid(Algorithm algorithm) throws Exception {
    Traffic traffic =
        Traffic.builder(generated().toString())
            .timeUnit(TimeUnit.SECONDS)
            .anyOrder(true)
            .descriptor("site=a b,ip={ip}")
            .build();
    Suggestion suggestion =
        suggest(traffic, new LimitSuggestions.Options(WINDOWS, 0.02, algorithm, "my site"));
    LimitSuggestions.Window minute = suggestion.windows().get(1);
    hold(suggestion, minute, 0.02);
    assertThat(denied(traffic, suggestion.yaml())).isEqualTo(minute.both().requests()).isPositive();
    String tighter =
        suggestion
            .yaml()
            .replace(
                "requests_per_unit: " + minute.both().limit() + "\n",
                "requests_per_unit: " + (minute.both().limit() - 1) + "\n");
    assertThat(denied(traffic, tighter))
        .isEqualTo(Objects.requireNonNull(minute.below()).requests());
  }

  private long denied(Traffic traffic, String yaml) throws Exception {
    Path rules = Files.writeString(folder.resolve("pasted.yaml"), yaml);
    ReplayOptions options = ReplayOptions.builder(traffic, "my site").rules(rules).build();
    return Replay.run(options, Progress.NONE).counts().denied();
  }

  @Test
  void textJsonAndPage_sayTheSame() throws Exception {
    Path page = folder.resolve("suggest.html");
    Suggestion suggestion =
        LimitSuggestions.run(
            Traffic.builder(generated().toString())
                .timeUnit(TimeUnit.SECONDS)
                .anyOrder(true)
                .build(),
            new LimitSuggestions.Options(WINDOWS, 0.01, Algorithm.SLIDING_WINDOW, "site"),
            page,
            Progress.NONE,
            InputStream.nullInputStream());
    long limit = suggestion.windows().get(1).both().limit();
    assertThat(suggestion.text())
        .contains("refuse at most 1 %", "requests_per_unit: " + limit, "# or window: 10s");
    assertThat(suggestion.json()).contains("\"refuse_at_most\" : 0.01", "\"limit\" : " + limit);
    assertThat(Files.readString(page))
        .contains("requests_per_unit: " + limit, "--refuse-at-most 1%", "limit " + limit)
        .doesNotContain("<script", "http://", "https://");
  }

  @Test
  void answer_standsFirstAndHasItsHeadroom() throws Exception {
    Traffic traffic =
        Traffic.builder(generated().toString())
            .timeUnit(TimeUnit.SECONDS)
            .anyOrder(true)
            .descriptor("ip={ip}")
            .build();
    Suggestion suggestion =
        suggest(
            traffic,
            new LimitSuggestions.Options(
                WINDOWS, 0.01, Algorithm.SLIDING_WINDOW, "my site", 0.25, 0));
    LimitSuggestions.Window minute = suggestion.windows().get(1);
    long limit = (minute.both().limit() * 5 + 3) / 4;
    assertThat(minute.suggested().limit()).isEqualTo(limit);
    assertThat(suggestion.text())
        .startsWith(
            limit + " per 1 min for each ip (" + minute.both().limit() + " and 25 % of headroom)");
    assertThat(suggestion.yaml()).contains("requests_per_unit: " + limit + "\n");
    assertThat(denied(traffic, suggestion.yaml())).isEqualTo(minute.suggested().requests());
  }

  @Test
  void keysLeftOut_countNowhere() throws Exception {
    StringBuilder text = new StringBuilder("time,ip\n");
    for (int second = 0; second < 200; second++) {
      text.append(second).append(",scraper\n").append(second).append(",scraper\n");
      text.append(second).append(',').append("user").append(second % 50).append('\n');
    }
    Traffic traffic =
        Traffic.builder(Files.writeString(folder.resolve("in.csv"), text).toString())
            .timeUnit(TimeUnit.SECONDS)
            .build();
    Suggestion all =
        suggest(traffic, new LimitSuggestions.Options(WINDOWS, 0, Algorithm.SLIDING_WINDOW, "d"));
    assertThat(all.windows().get(1).both().limit()).isEqualTo(120);
    Suggestion without =
        suggest(
            traffic, new LimitSuggestions.Options(WINDOWS, 0, Algorithm.SLIDING_WINDOW, "d", 0, 1));
    assertThat(without.windows().get(1).both().limit()).isEqualTo(2);
    assertThat(without.ignoredKeys()).containsExactly("ip=scraper");
    assertThat(without.requests() + " " + without.keys()).isEqualTo("200 50");
    assertThat(without.text())
        .contains("without the key that asked for the most (ip=scraper), 400 requests");
    assertThatThrownBy(
            () ->
                suggest(
                    traffic,
                    new LimitSuggestions.Options(WINDOWS, 0, Algorithm.SLIDING_WINDOW, "d", 0, 51)))
        .hasMessage("ignore-top: 51 of 51 keys (expected: fewer, so that one is left)");
  }

  @Test
  void windowLongerThanTheTraffic_hasNoLimit() throws Exception {
    Traffic traffic =
        Traffic.builder(
                Files.writeString(folder.resolve("in.csv"), "time,ip\n1,a\n31,a\n").toString())
            .timeUnit(TimeUnit.SECONDS)
            .build();
    Suggestion suggestion =
        suggest(traffic, new LimitSuggestions.Options(WINDOWS, 0, Algorithm.SLIDING_WINDOW, "d"));
    assertThat(suggestion.windows()).hasSize(1);
    assertThat(suggestion.text()).contains("window: 10s").doesNotContain("1 min  ", "stopped");
    assertThat(suggestion.warnings()).anyMatch(each -> each.contains("longer than the traffic"));
    assertThatThrownBy(
            () ->
                suggest(
                    traffic,
                    new LimitSuggestions.Options(
                        List.of(Duration.ofMinutes(1)), 0, Algorithm.SLIDING_WINDOW, "d")))
        .hasMessageStartingWith("window: longer than the traffic, 30.00 s");
  }

  @Test
  void nothingOrEverything_mayBeRefused() throws Exception {
    Traffic traffic =
        Traffic.builder(generated().toString()).timeUnit(TimeUnit.SECONDS).anyOrder(true).build();
    LimitSuggestions.Window none =
        suggest(traffic, new LimitSuggestions.Options(WINDOWS, 0, Algorithm.SLIDING_WINDOW, "d"))
            .windows()
            .get(0);
    assertThat(none.both().requests()).isZero();
    assertThat(Objects.requireNonNull(none.below()).requests()).isPositive();
    LimitSuggestions.Window all =
        suggest(traffic, new LimitSuggestions.Options(WINDOWS, 1, Algorithm.SLIDING_WINDOW, "d"))
            .windows()
            .get(0);
    assertThat(all.both().limit()).isZero();
    assertThat(all.below()).isNull();
  }

  @Test
  void share_isTakenInDecimals() throws Exception {
    // Of 100 keys, 29 make two requests: 0.29 of 100 is 28.999... in binary.
    StringBuilder text = new StringBuilder("time,ip\n");
    for (int i = 0; i < 129; i++) {
      text.append("1,").append(i % 100).append('\n');
    }
    text.append("100,another\n"); // The traffic is as long as the windows.
    Traffic traffic =
        Traffic.builder(Files.writeString(folder.resolve("in.csv"), text).toString())
            .timeUnit(TimeUnit.SECONDS)
            .build();
    Suggestion suggestion =
        suggest(
            traffic, new LimitSuggestions.Options(WINDOWS, 0.29, Algorithm.SLIDING_WINDOW, "d"));
    assertThat(suggestion.windows().get(0).forKeys())
        .isEqualTo(new RefusalCount(1, 29, 29, 29, "ip=0", 1));
    assertThat(suggestion.text()).contains("refuse at most 29 %");
  }

  @Test
  void stoppedBeforeALimitIsFound_isSaid() throws Exception {
    Traffic traffic =
        Traffic.builder(generated().toString()).timeUnit(TimeUnit.SECONDS).anyOrder(true).build();
    LimitSuggestions.Options options =
        new LimitSuggestions.Options(WINDOWS, 0.01, Algorithm.SLIDING_WINDOW, "d");
    assertThatThrownBy(
            () ->
                LimitSuggestions.run(
                    traffic,
                    options,
                    null,
                    (bytes, total, records) -> {
                      if (bytes == total) {
                        Thread.currentThread().interrupt();
                      }
                    },
                    InputStream.nullInputStream()))
        .hasMessage("suggest: stopped before any limit was found");
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void wrongOptions_areSaidAtOnce() throws Exception {
    Traffic traffic =
        Traffic.builder(generated().toString()).timeUnit(TimeUnit.SECONDS).anyOrder(true).build();
    assertThatThrownBy(
            () ->
                suggest(
                    traffic,
                    new LimitSuggestions.Options(
                        List.of(Duration.ZERO), 2, Algorithm.SLIDING_WINDOW, "d")))
        .isInstanceOfSatisfying(
            TrafficException.class,
            e ->
                assertThat(e.problems()).hasSize(2).allMatch(each -> each.contains("(expected: ")));
  }
}
