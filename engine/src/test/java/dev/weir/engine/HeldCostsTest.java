package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Requests that hold the most that they may cost, and settle when their response has ended: one
 * call gives back what was held and takes what it did cost.
 */
class HeldCostsTest {
  private static final long LIMIT = 1000;
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: tokens
          rate_limit: {unit: hour, requests_per_unit: 1000, algorithm: %s, costs: held}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: hour, requests_per_unit: 1000, costs: held}
      """;

  private static Fixture fixture(String algorithm) {
    return new Fixture(RULES.formatted(algorithm));
  }

  private static List<Entry> entries(String key) {
    return List.of(new Entry(key, "alice"));
  }

  private static Answer hold(Fixture weir, String key, long most) {
    return weir.engine.decide(
        new Request("d", List.of(new Descriptor(entries(key), null, most)), 1));
  }

  private static Answer settle(Fixture weir, String key, long held, long cost) {
    return weir.engine.decide(
        new Request(
            "d",
            List.of(
                Descriptor.refunding(entries(key), null, held),
                new Descriptor(entries(key), null, cost)),
            1));
  }

  private static Status look(Fixture weir, String key) {
    return hold(weir, key, 0).statuses().get(0);
  }

  @ParameterizedTest
  @MethodSource("dev.weir.engine.Fixture#algorithms")
  void settlement_givesBackWhatIsLess_andCountsWhatIsMore(String algorithm) {
    Fixture weir = fixture(algorithm);
    assertThat(hold(weir, "tokens", 600).allowed()).isTrue();
    assertThat(hold(weir, "tokens", 600).allowed()).isFalse();
    // The end of the refused request: it gives back and takes the same.
    assertThat(settle(weir, "tokens", 600, 600).allowed()).isTrue();
    assertThat(settle(weir, "tokens", 600, 200).allowed()).isTrue();
    assertThat(look(weir, "tokens").limitRemaining()).isEqualTo(800);

    assertThat(hold(weir, "tokens", 700).allowed()).isTrue();
    Answer more = settle(weir, "tokens", 700, 1_000);
    assertThat(more.allowed()).isFalse();
    assertThat(more.statuses().get(1).debt()).isEqualTo(200);
    assertThat(hold(weir, "tokens", 1).allowed()).isFalse();
  }

  @Test
  void settlementOfAWatchedRule_isCounted_andRefusesNothing() {
    Fixture weir = fixture("fixed-window");
    assertThat(hold(weir, "watched", 900).allowed()).isTrue();
    assertThat(settle(weir, "watched", 900, 1_300).allowed()).isTrue();
    assertThat(hold(weir, "watched", 1).statuses().get(0).limitRemaining()).isZero();
    assertThat(look(weir, "watched").limitRemaining()).isZero();
  }

  @Test
  void requestsAtOnceThatCostWhatTheyHold_neverSpendMoreThanTheLimit() {
    for (String algorithm : List.of("sliding-window-log", "token-bucket", "fixed-window")) {
      SplittableRandom seeds = Trials.random("held costs, " + algorithm, 100);
      for (int trial = 0; trial < 100; trial++) {
        long seed = seeds.nextLong();
        SplittableRandom random = new SplittableRandom(seed);
        Fixture weir = fixture(algorithm);
        List<Long> running = new ArrayList<>();
        long spent = 0;
        long held = 0;
        for (int step = 0; step < 200; step++) {
          if (running.isEmpty() || random.nextBoolean()) {
            long most = 1 + random.nextLong(400);
            boolean admitted = hold(weir, "tokens", most).allowed();
            if (admitted) {
              running.add(most);
              held += most;
            } else {
              settle(weir, "tokens", most, most); // Its end comes at once.
            }
            assertThat(admitted)
                .as("%s, seed %d, step %d", algorithm, seed, step)
                .isEqualTo(spent + (admitted ? held : held + most) <= LIMIT);
          } else {
            long most = running.remove(random.nextInt(running.size()));
            long cost = random.nextLong(most + 1);
            settle(weir, "tokens", most, cost);
            held -= most;
            spent += cost;
          }
          assertThat(look(weir, "tokens").limitRemaining())
              .as("%s, seed %d, step %d", algorithm, seed, step)
              .isEqualTo(LIMIT - spent - held);
        }
      }
    }
  }
}
