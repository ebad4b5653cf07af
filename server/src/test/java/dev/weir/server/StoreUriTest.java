package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class StoreUriTest {
  private static final String[] WHOLE = {
    "redis://h", "redis://h:1/2", "rediss://h", "redis-sentinel://a:1,b:2/3#m", "redis-cluster://a"
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
    for (String text : new String[] {"99999", "::1", "a.yaml,b", "10s", "user@example.org"}) {
      assertThat(StoreUri.hidden(text)).isEqualTo(text);
    }
  }
}
