package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.StoreSettings;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChecksTest {
  private static final long MINUTE = 60_000_000_000L;

  private final FakeTicker ticker = new FakeTicker();
  private final List<String> warnings = new ArrayList<>();
  private final Checks checks =
      new Checks(
          new StoreSettings(
              "redis",
              MINUTE,
              new Clocks(ticker, ticker),
              false,
              warnings::add,
              warnings::add,
              new Counters()));
  private int asked;

  private static String info(String version, String policy) {
    return "# Server\r\nredis_version:"
        + version
        + "\r\n\r\n# Memory\r\nmaxmemory_policy:"
        + policy;
  }

  private static Set<String> complaints(String version, String policy) {
    return Checks.problems(info(version, policy));
  }

  private void tick(Map<String, CompletionStage<String>> servers) {
    checks.tick(
        () -> {
          asked++;
          return servers;
        });
  }

  private void tick(String policy) {
    tick(Map.of("", CompletableFuture.completedStage(info("7.0.15", policy))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"6.2.0", "6.2", "7.0.15", "8", "10.0.0", "255.255.255", "unstable"})
  void goodServer_isNothingToTell(String version) {
    assertThat(complaints(version, "noeviction")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"6.0.16", "5.0.7", "6", "2.8"})
  void oldServer_isTold(String version) {
    assertThat(complaints(version, "noeviction"))
        .containsExactly(
            "the store's version: " + version + " (expected: Redis 6.2 or newer, or Valkey)");
  }

  @Test
  void eviction_isTold() {
    assertThat(complaints("7.2.4", "allkeys-lru"))
        .containsExactly(
            "the store's maxmemory-policy: allkeys-lru (expected: noeviction, or keys that still"
                + " count are forgotten)");
  }

  @Test
  void whatTheServerDoesNotSay_isNotJudged() {
    assertThat(Checks.problems("")).isEmpty();
  }

  @Test
  void settingThatChangesWhileTheServerRuns_isToldWithinAMinute_andOnce() {
    tick("noeviction");
    tick("allkeys-lru");
    ticker.advance(MINUTE - 1);
    tick("allkeys-lru");
    assertThat(asked).isEqualTo(1);
    assertThat(warnings).isEmpty();

    ticker.advance(1);
    tick("allkeys-lru");
    assertThat(warnings).hasSize(1);
    assertThat(warnings.get(0)).contains("allkeys-lru");
    ticker.advance(MINUTE);
    tick("allkeys-lru");
    assertThat(warnings).hasSize(1);
    ticker.advance(MINUTE);
    tick("volatile-ttl");
    assertThat(warnings).hasSize(2);
    ticker.advance(MINUTE);
    tick("noeviction");
    assertThat(warnings).last().isEqualTo("the store's settings are as they have to be, again");
  }

  @Test
  void newConnection_isLookedAtAtOnce() {
    tick("noeviction");
    checks.checkNow();
    tick("allkeys-lru");
    assertThat(warnings).hasSize(1);
  }

  @Test
  void nodesOfACluster_areOneVoice_andThoseThatSayNothingAreNotWaitedFor() {
    CompletableFuture<String> silent = new CompletableFuture<>();
    CompletionStage<String> denied =
        CompletableFuture.failedStage(new IllegalStateException("NOPERM"));
    CompletionStage<String> evicting =
        CompletableFuture.completedStage(info("7.0.15", "allkeys-lfu"));
    tick(Map.of("a", evicting, "b", evicting, "c", silent, "d", denied));
    assertThat(warnings).hasSize(1);

    silent.complete(info("6.0.1", "allkeys-lfu"));
    assertThat(warnings).hasSize(2);
    assertThat(warnings.get(1)).contains("version: 6.0.1");
  }

  private void tickProcess(String runId, int evicted) {
    tick(
        Map.of(
            "",
            CompletableFuture.completedStage(
                info("7.0.15", "noeviction")
                    + "\r\nrun_id:"
                    + runId
                    + "\r\nevicted_keys:"
                    + evicted)));
    ticker.advance(MINUTE);
  }

  @Test
  void anotherProcess_andEvictedKeys_areReported() {
    tickProcess("a", 5);
    tickProcess("a", 5);
    assertThat(warnings).isEmpty();
    tickProcess("a", 7);
    assertThat(warnings).hasSize(1);
    assertThat(warnings.get(0)).contains("evicted 2 keys");
    tickProcess("b", 0);
    assertThat(warnings).hasSize(2);
    assertThat(warnings.get(1)).contains("another process than before (run_id b)");
  }
}
