package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChecksTest {
  private static List<String> complaints(String version, String policy) {
    List<String> log = new ArrayList<>();
    Checks.check(
        "# Server\r\nredis_version:" + version + "\r\n\r\n# Memory\r\nmaxmemory_policy:" + policy,
        log::add);
    return log;
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
    List<String> log = new ArrayList<>();
    Checks.check("", log::add);

    assertThat(log).isEmpty();
  }
}
