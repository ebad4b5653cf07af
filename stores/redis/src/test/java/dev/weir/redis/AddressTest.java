package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://localhost",
        "redis://under_score:7000",
        "redis://user@localhost",
        "redis://localhost:65535/3?clientName=weir&timeout=2s",
        "redis://[::1]:7000",
        "redis://[::1]",
        "redis://:secret@localhost:7000/3",
        "redis://user:secret@127.0.0.1",
        "rediss://localhost:7000",
        "redis-sentinel://:secret@one:26379,two:26380/1#master",
        "rediss-sentinel://one#master"
      })
  void oneMaster_isKnown(String uri) {
    assertThat(Address.of(uri).isCluster()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis-cluster://one",
        "redis-cluster://user:secret@one:7000,two:7001,three",
        "rediss-cluster://:se@cret@one:7000"
      })
  void cluster_isKnown(String uri) {
    assertThat(Address.of(uri).isCluster()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "localhost:6379",
        "http://user:secret@localhost",
        "secret@redis://localhost",
        "redis://",
        "redis://:secret@",
        "redis://:secret@host:port",
        "redis://:secret@host:99999",
        "redis://host:0x1",
        "redis://under_score:99999",
        "redis://under_score:0",
        "redis://user:pa55secret",
        "redis-cluster://one:7000,two:99999",
        "redis-sentinel://one:99999#master",
        "redis://user:secret@ho st",
        "redis-sentinel://secret@one",
        "redis-cluster://",
        "redis-cluster://:secret@one,",
        "redis-cluster://:secret@one,two:port",
        "REDIS://secret@localhost"
      })
  void whatIsNoAddress_isRefusedWithoutItsPassword(String uri) {
    assertThatThrownBy(() -> Address.of(uri))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("store: ")
        .hasMessageEndingWith(
            "(expected: redis://, rediss://, redis-sentinel:// or redis-cluster:// and a host)")
        .hasNoCause()
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("secret"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://host?password=secret",
        "redis://host:1/2?timeout=1s&secret",
        "redis-cluster://one,two?auth=secret",
        "redis-sentinel://one?password=secret#master"
      })
  void parameterThatNobodyKnows_isRefusedWithoutItsValue(String uri) {
    assertThatThrownBy(() -> Address.of(uri))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("store: a parameter that is not known (expected: clientName, ")
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("secret"));
  }
}
