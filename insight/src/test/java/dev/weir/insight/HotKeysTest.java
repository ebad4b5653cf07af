package dev.weir.insight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.DecidedDescriptor;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HotKeysTest {
  private final FakeTicker ticker = new FakeTicker(1_800_000_000_000_000_000L);
  private final Decided decided = new Decided();

  private static String value(HotKeys.HotKey top) {
    return top.name().entries().get(0).value();
  }

  @Test
  void refusals_areCountedExactly_whileThereAreFewKeys() {
    HotKeys keys = new HotKeys(ticker);
    for (int i = 0; i < 40; i++) {
      for (int times = 0; times <= i; times++) {
        decided.observe(keys, "key" + i, true);
      }
    }
    HotKeys.Snapshot top = keys.top(HotKeys.KeyOrder.REFUSED);
    assertThat(top.keys()).hasSize(40);
    for (int i = 0; i < 40; i++) {
      HotKeys.HotKey each = top.keys().get(i);
      assertThat(value(each)).isEqualTo("key" + (39 - i));
      assertThat(each.count()).isEqualTo(40L - i);
      assertThat(each.name().rule()).isEqualTo("shop.user");
    }
  }

  /**
   * Tests that counts are never too low, and too high by at most their stated error, over many
   * threads' sketches.
   */
  @Test
  void counts_areWithinTheirStatedError() {
    long seed = Trials.random("hot keys").nextLong();
    Random random = new Random(seed);
    Map<Long, Long> truth = new HashMap<>();
    List<KeySketch> sketches = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      sketches.add(new KeySketch(Long.MAX_VALUE));
    }
    long all = 0;
    for (int i = 0; i < 400_000; i++) {
      int rank = (int) Math.pow(100_000, random.nextDouble());
      long id = (rank + 1L) * 0x9e3779b97f4a7c15L;
      truth.merge(id, 1L, Long::sum);
      all++;
      sketches.get(random.nextInt(6)).add(id, 1, decided.refused("k" + rank));
    }
    Map<Long, long[]> sums = KeySketch.sums(sketches, new HashMap<>());
    for (Map.Entry<Long, long[]> sum : sums.entrySet()) {
      long exact = truth.getOrDefault(sum.getKey(), 0L);
      long count = sum.getValue()[0];
      assertThat(count).as("seed %d", seed).isGreaterThanOrEqualTo(exact);
      assertThat(count - sum.getValue()[1]).as("seed %d", seed).isLessThanOrEqualTo(exact);
    }
    long often = all / 50;
    truth.forEach(
        (id, count) -> {
          if (count > often) {
            assertThat(sums).as("seed %d: %d times", seed, count).containsKey(id);
          }
        });
  }

  @Test
  void asked_isEstimatedFromOneInSixteen() {
    HotKeys keys = new HotKeys(ticker);
    for (int i = 0; i < 160_000; i++) {
      decided.observe(keys, i % 10 < 7 ? "often" : "seldom", false);
    }
    List<HotKeys.HotKey> top = keys.top(HotKeys.KeyOrder.ASKED).keys();
    assertThat(top).extracting(HotKeysTest::value).containsExactly("often", "seldom");
    assertThat(top.get(0).count()).isBetween(112_000L - 6_000, 112_000L + 6_000);
    assertThat(top.get(1).count()).isBetween(48_000L - 4_500, 48_000L + 4_500);
    assertThat(keys.top(HotKeys.KeyOrder.REFUSED).keys()).isEmpty();
  }

  @Test
  void key_isForgottenAfterTwoWindows() {
    HotKeys keys = new HotKeys(ticker);
    decided.observe(keys, "early", true);
    for (int i = 0; i < 61; i++) {
      ticker.advance(Duration.ofSeconds(1));
      keys.tick();
    }
    decided.observe(keys, "late", true);
    assertThat(keys.top(HotKeys.KeyOrder.REFUSED).keys()).hasSize(2);
    for (int i = 0; i < 60; i++) {
      ticker.advance(Duration.ofSeconds(1));
      keys.tick();
    }
    assertThat(keys.top(HotKeys.KeyOrder.REFUSED).keys())
        .extracting(HotKeysTest::value)
        .containsExactly("late");
  }

  @Test
  void textThatIsLong_isKeptShort_andStillDiffers() {
    HotKeys keys = new HotKeys(ticker);
    String begin = "x".repeat(5_000);
    decided.observe(keys, begin + "1", true);
    decided.observe(keys, begin + "2", true);
    List<HotKeys.HotKey> top = keys.top(HotKeys.KeyOrder.REFUSED).keys();
    assertThat(top).hasSize(2);
    assertThat(value(top.get(0))).hasSizeLessThanOrEqualTo(KeyName.MAX_TEXT);
    assertThat(value(top.get(0))).isNotEqualTo(value(top.get(1)));
  }

  /** Uses descriptors of the longest kind, all of them different. */
  @Test
  void namesOfAllKeys_areBoundedInBytes() {
    HotKeys keys = new HotKeys(ticker);
    int one = 0;
    for (int window = 0; window < 2; window++) {
      for (int i = 0; i < 3_000; i++) {
        decided.observe(keys, decided.longest(one++, 32, 1_000));
      }
      ticker.advance(Duration.ofSeconds(60));
      keys.tick();
    }
    assertThat(keys.nameBytes()).isLessThan(Runtime.getRuntime().maxMemory() / 8);
    assertThat(keys.nameBytes()).isLessThan(4 * (1L << 20)); // One thread, so one stripe.
    keys.tick();
    ticker.advance(Duration.ofSeconds(60));
    keys.tick();
    decided.observe(keys, "short", true);
    assertThat(value(keys.top(HotKeys.KeyOrder.REFUSED).keys().get(0))).isNotEmpty();
  }

  @Test
  void briefName_differsWhereTheKeyDiffers() {
    KeySketch sketch = new KeySketch(0);
    DecidedDescriptor one = decided.longest(1, 32, 200);
    DecidedDescriptor two = decided.longest(2, 32, 200);
    KeyName brief = KeyName.brief(one.descriptor(), one.status());
    assertThat(brief.memoryBytes()).isLessThan(1_000);
    assertThat(brief.entries()).hasSize(3).hasSameSizeAs(brief.named());
    assertThat(brief).isNotEqualTo(KeyName.brief(two.descriptor(), two.status()));
    sketch.add(1, 1, one);
    assertThat(sketch.nameBytes()).isEqualTo(brief.memoryBytes());
    sketch.clear();
    assertThat(sketch.nameBytes()).isZero();
  }

  @Test
  void valueThatTheRuleNames_isSaidToBe() {
    HotKeys keys = new HotKeys(ticker);
    decided.observeFixed(keys);
    KeyName name = keys.top(HotKeys.KeyOrder.REFUSED).keys().get(0).name();
    assertThat(name.named()).containsExactly(true);
    assertThat(name.entries().get(0).value()).isEqualTo("/login");
  }
}
