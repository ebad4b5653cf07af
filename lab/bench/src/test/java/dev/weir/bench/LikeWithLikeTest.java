package dev.weir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Batch;
import dev.weir.Ticker;
import dev.weir.bench.peers.KeyedLimiter;
import dev.weir.bench.peers.WeirLimiter;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A test that the contenders give the same verdicts, so that they differ only in speed. */
class LikeWithLikeTest {
  /** The time: noon of some day, so that no aligned window of a day ends soon. */
  private final AtomicLong now = new AtomicLong(Duration.ofDays(20_000).plusHours(12).toNanos());

  private final Ticker ticker = now::get;

  private final TimeMeter bucket4jTime =
      new TimeMeter() {
        @Override
        public long currentTimeNanos() {
          return now.get();
        }

        @Override
        public boolean isWallClockBased() {
          return true;
        }
      };

  @ParameterizedTest
  @EnumSource
  void mostlyDenied_givesEachKeyOnePermit(Contender contender) {
    KeyedLimiter limiter = contender.limiter(Load.MOSTLY_DENIED, ticker, bucket4jTime);
    assertThat(limiter.fill("a")).isTrue();
    assertThat(asks(limiter, "a", 100)).isZero();
    assertThat(limiter.tryAcquire("b")).isTrue();
    assertThat(asks(limiter, "b", 100)).isZero();
    assertThat(asks(limiter, "a", 100)).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void allAllowed_refusesNobody(Contender contender) {
    KeyedLimiter limiter = contender.limiter(Load.ALL_ALLOWED, ticker, bucket4jTime);
    assertThat(limiter.fill("a")).isTrue();
    assertThat(asks(limiter, "a", 10_000)).isEqualTo(10_000);
    assertThat(asks(limiter, "b", 100)).isEqualTo(100);
  }

  /** Tests the limiters whose time can be set; Resilience4j and Guava read the system's clock. */
  @ParameterizedTest
  @EnumSource(
      value = Contender.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"RESILIENCE4J", "GUAVA"})
  void permit_comesBackAfterItsWindow(Contender contender) {
    KeyedLimiter limiter = contender.limiter(Load.MOSTLY_DENIED, ticker, bucket4jTime);
    limiter.fill("a");
    now.addAndGet(Load.DAY.minusHours(13).toNanos());
    assertThat(asks(limiter, "a", 3)).as("after 11 hours").isZero();
    // The counter over two aligned windows drops the first only when the second is over.
    now.addAndGet(Load.DAY.plusHours(1).toNanos());
    assertThat(asks(limiter, "a", 3)).as("after 36 hours").isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void storeAndBareTable_agreeOneByOneAndInABatch(Load load) {
    KeyedLimiter limiter = new WeirLimiter(dev.weir.Algorithm.TOKEN_BUCKET, load, ticker);
    StoreKeys store = new StoreKeys(10, load, ticker);
    BareTable bare = new BareTable(10, load, ticker);
    for (int i = 0; i < 10; i++) {
      limiter.fill(Keys.key(i));
    }
    boolean expected = limiter.tryAcquire(Keys.key(3));
    Batch batch = new Batch(2);
    assertThat(store.decide(3)).isEqualTo(expected);
    assertThat(bare.decide(3)).isEqualTo(expected);
    int[] keys = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9};
    assertThat(store.decide(batch, keys, 2, 10)).isEqualTo(expected ? 10 : 0);
    assertThat(bare.decide(keys, 2, 10)).isEqualTo(expected ? 10 : 0);
    // Two hours give the all-allowed load back what it had; a permit a day is not back yet.
    now.addAndGet(Duration.ofHours(2).toNanos());
    assertThat(store.decide(batch, keys, 0, 12)).isEqualTo(expected ? 12 : 0);
    assertThat(bare.decide(keys, 0, 12)).isEqualTo(expected ? 12 : 0);
    // A day later each key has one permit, even if it is requested three times in one batch.
    now.addAndGet(Duration.ofDays(1).toNanos());
    assertThat(store.decide(batch, keys, 0, 12)).isEqualTo(expected ? 12 : 10);
    assertThat(bare.decide(keys, 0, 12)).isEqualTo(expected ? 12 : 10);
  }

  @ParameterizedTest
  @EnumSource
  void engine_agrees(Load load) {
    EngineKeys engine = new EngineKeys(3, load, ticker);
    boolean expected = load == Load.ALL_ALLOWED;
    for (int key : List.of(0, 1, 2, 2, 1, 0)) {
      assertThat(engine.decide(key)).isEqualTo(expected);
    }
    now.addAndGet(Duration.ofDays(1).toNanos());
    assertThat(engine.decide(1)).isTrue();
    assertThat(engine.decide(1)).isEqualTo(expected);
  }

  @Test
  void everyName_leadsBackToItsContender() {
    Set<Contender> found = EnumSet.noneOf(Contender.class);
    for (Contender contender : Contender.values()) {
      found.add(Contender.of(contender.toString()));
    }
    assertThat(found).containsExactly(Contender.values());
  }

  private static int asks(KeyedLimiter limiter, String key, int times) {
    int allowed = 0;
    for (int i = 0; i < times; i++) {
      allowed += limiter.tryAcquire(key) ? 1 : 0;
    }
    return allowed;
  }
}
