package dev.weir.server.internal.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreUriTest {
  private static final String[] WHOLE = {
    "redis://h", "redis://h:1/2", "rediss://h", "redis-sentinel://a:1,b:2/3#m", "redis-cluster://a"
  };

  private static final String[] WHOLE_LINES = {
    "redis://h:6379 does not decide (timeout); until it does, rules answer",
    "store: redis://h:6379; next",
    "'redis://[::1]:6379'",
    "redis-cluster://a:1,b:2,[::1]:3/0",
    "Connection refused: /127.0.0.1:6379",
    "http://localhost:8080/json.",
    "--url: ftp (expected: https://host:port, with --tls-ca)"
  };

  @Test
  void hidden_leavesNothingThatMayBeAPassword() {
    Map<String, String> shown =
        Map.of(
            "redis://user:secret@h:1/2", "redis://***@h:1/2",
            "redis://:secret@h", "redis://***@h",
            "redis://secret@h", "redis://***@h",
            "redis://:sec@ret/@h", "redis://***@h",
            "redis-sentinel://:secret@a,b#m", "redis-sentinel://***@a,b#m",
            "redis-cluster://:secret@a:1,:secret@b:2", "redis-cluster://***@b:2",
            "redis:secret@h", "redis:***@h",
            "redis://:secret", "redis://***",
            "Unknown options: '--stor', 'redis://:secret@h'", "Unknown options:***@h'");
    shown.forEach((text, expected) -> assertThat(StoreUri.hidden(text)).isEqualTo(expected));
    for (String text : WHOLE) {
      assertThat(StoreUri.hidden(text)).isEqualTo(text);
    }
    Map<String, String> withoutHost =
        Map.of(
            "redis://u:pw0rd", "redis://u:***",
            "redis://u:12secret", "redis://u:***",
            "redis://u:123456", "redis://u:***",
            "redis-cluster://a:1,b:secret", "redis-cluster://a:1,b:***",
            "rediss://[::1]:secret", "rediss://[::1]:***",
            "redis://h:1?password=secret", "redis://h:1?password=***",
            "redis://h?timeout=1s&auth=secret#m", "redis://h?timeout=***&auth=***#m",
            "redis://u:secret@h?password=secret", "redis://***@h?password=***",
            "Unknown option: 'redis://u:secret'", "Unknown option: 'redis://u:***");
    withoutHost.forEach((text, expected) -> assertThat(StoreUri.hidden(text)).isEqualTo(expected));
    for (String text : WHOLE_LINES) {
      assertThat(StoreUri.hidden(text)).isEqualTo(text);
    }
    for (String text : new String[] {"99999", "::1", "a.yaml,b", "10s", "user@example.org"}) {
      assertThat(StoreUri.hidden(text)).isEqualTo(text);
    }
  }

  @Test
  void lineAboutAStore_keepsItsReason_andNoPassword() {
    String reason = "(noperm: User can't run 'mget' script: 3f, on @user_script:1088.)";
    assertThat(StoreUri.hiddenIn("redis://h:6379 does not decide " + reason))
        .isEqualTo("redis://h:6379 does not decide " + reason);
    assertThat(StoreUri.hiddenIn("noperm: on @user_script:1088.")).contains("@user_script:1088.");
    assertThat(StoreUri.hiddenIn("redis://u:sec@ret@h:1, then rediss://:pw@i?auth=x " + reason))
        .isEqualTo("redis://***@h:1, then rediss://***@i?auth=*** " + reason);
    for (String text : WHOLE_LINES) {
      assertThat(StoreUri.hiddenIn(text)).isEqualTo(text);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://u:pw0rd",
        "redis://127.0.0.1:30900?password=pw0rd",
        "redis://127.0.0.1:99999",
        "redis://under_score:99999"
      })
  void whatIsNoAddress_isRefused(String text) {
    assertThatThrownBy(() -> StoreUri.of(text))
        .isInstanceOf(IllegalArgumentException.class)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("pw0rd"));
  }
}
