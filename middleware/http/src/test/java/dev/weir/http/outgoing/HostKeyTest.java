package dev.weir.http.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HostKeyTest {
  @Test
  void hostPortAndKey_areToldApart() {
    HostKey key = HostKey.of("a.test", 443, "");
    assertThat(HostKey.of("b.test", 443, "")).isNotEqualTo(key);
    assertThat(HostKey.of("a.test", 80, "")).isNotEqualTo(key);
    assertThat(HostKey.of("a.test", 443, "Bearer x")).isNotEqualTo(key);
    assertThat(HostKey.of("a.test", 443, "")).isEqualTo(key);
  }
}
