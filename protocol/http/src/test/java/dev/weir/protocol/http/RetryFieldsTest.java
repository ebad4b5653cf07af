package dev.weir.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RetryFieldsTest {
  private static List<String> fields(RetryFields fields, long seconds) {
    List<String> added = new ArrayList<>();
    fields.add(seconds, (name, value) -> added.add(name + ": " + value));
    return added;
  }

  /**
   * The form that clients read: whole seconds, at least 1. A decimal makes urllib3 raise an error,
   * 0 makes many come back at once, and none reads another field.
   */
  @Test
  void exactFields_areWholeSeconds() {
    assertThat(fields(RetryFields.EXACT, 1)).containsExactly("Retry-After: 1");
    assertThat(fields(RetryFields.EXACT, 86_400)).containsExactly("Retry-After: 86400");
    assertThat(fields(RetryFields.EXACT, Standing.NO_TIME)).isEmpty();
  }

  @Test
  void refusalBeyondTheBound_isNotToBeRepeated() {
    RetryFields bound = RetryFields.of(Duration.ofMillis(59_001), Duration.ZERO);
    assertThat(fields(bound, 60)).containsExactly("Retry-After: 60");
    assertThat(fields(bound, 61)).containsExactly("Retry-After: 60", "x-should-retry: false");
    assertThat(fields(bound, Standing.NO_TIME)).containsExactly("x-should-retry: false");
  }

  @Test
  void jitter_isNeverEarlierThanTheTruth_norBeyondTheBound() {
    SplittableRandom random = Trials.random("retry fields", 1_000);
    RetryFields fields = new RetryFields(60, 10, most -> random.nextLong(most + 1));
    boolean[] seen = new boolean[11];
    for (int i = 0; i < 1_000; i++) {
      long seconds = fields.seconds(20);
      assertThat(seconds).isBetween(20L, 30L);
      seen[(int) seconds - 20] = true;
      assertThat(fields.seconds(55)).isBetween(55L, 60L);
    }
    assertThat(seen).doesNotContain(false);
  }

  @Test
  void durationOutOfRange_isRefused() {
    for (Duration most : List.of(Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThatThrownBy(() -> RetryFields.of(most, Duration.ZERO))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("maxRetryAfter: " + most + " (expected: PT0S..PT8784H)");
    }
    for (Duration jitter : List.of(Duration.ofNanos(-1), Duration.ofMinutes(61))) {
      assertThatThrownBy(() -> RetryFields.of(Duration.ZERO, jitter))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("retryJitter: " + jitter + " (expected: PT0S..PT1H)");
    }
  }

  /** The requests of clients that all come back as they are asked, until each was admitted. */
  private record Herd(long requests, long most, long lastSecond) {}

  private static Herd herd(long jitterSeconds, SplittableRandom random) {
    int limit = 100;
    long window = 60;
    RetryFields fields =
        new RetryFields(0, jitterSeconds, most -> most == 0 ? 0 : random.nextLong(most + 1));
    PriorityQueue<Long> due = new PriorityQueue<>();
    for (int client = 0; client < 1_000; client++) {
      due.add(0L);
    }
    List<Long> admitted = new ArrayList<>();
    long requests = 0;
    long most = 0;
    long second = 0;
    long inSecond = 0;
    while (!due.isEmpty()) {
      long now = due.remove();
      inSecond = now == second ? inSecond + 1 : 1;
      second = now;
      most = Math.max(most, now == 0 ? 0 : inSecond);
      requests++;
      int size = admitted.size();
      if (size < limit || now - admitted.get(size - limit) >= window) {
        admitted.add(now);
      } else {
        due.add(now + fields.seconds(admitted.get(size - limit) + window - now));
      }
    }
    return new Herd(requests, most, second);
  }

  @Test
  void thousandClientsOfALimitOfAHundredAMinute_comeBackSpread() {
    SplittableRandom random = Trials.random("herd", 2);
    Herd together = herd(0, random);
    Herd spread = herd(60, random);
    System.out.println("all at once: " + together + "; up to 60 s later: " + spread);
    assertThat(together.most()).isEqualTo(900);
    assertThat(spread.most()).isLessThan(together.most() / 10);
    assertThat(spread.requests()).isLessThan(2 * together.requests());
  }
}
