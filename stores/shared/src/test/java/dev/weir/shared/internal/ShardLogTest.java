package dev.weir.shared.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.shared.Bindings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShardLogTest {
  private static final long MINUTE = 60_000_000_000L;
  private static final String LINE =
      "the store cannot count a key of any (state): its requests are answered by on_failure until"
          + " it can";

  private final List<String> lines = new ArrayList<>();
  private final ShardLog log = new ShardLog(lines::add);

  @Test
  void keyThatCannotBeCounted_isLoggedOnceAMinute_withTheNumberOfThoseBetween() {
    for (long now : new long[] {-MINUTE, -1, MINUTE - 1, MINUTE, 2 * MINUTE - 2}) {
      log.cannotCount(Bindings.ANY, 1, now);
    }
    log.cannotCount(Bindings.ANY, 1, 3 * MINUTE);
    assertThat(lines)
        .containsExactly(
            LINE,
            LINE + " (1 further failures were not logged)",
            LINE + " (2 further failures were not logged)");
  }
}
