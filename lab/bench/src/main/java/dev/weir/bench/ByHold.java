package dev.weir.bench;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** A benchmark of holds and their settlement, beside the same permits taken at once. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx6g")
@SuppressWarnings("NullAway.Init") // JMH sets parameters, then calls the method marked Setup.
public class ByHold {
  private static final long MOST = 600;
  private static final long COST = 250;

  @Param({"1000", "1000000"})
  public int keys;

  @Param({"TOKEN_BUCKET", "FIXED_WINDOW", "SLIDING_WINDOW"})
  public Algorithm algorithm;

  private RateLimiter limiter;
  private String[] texts;
  private int[] sequence;

  @Setup
  public void fill() {
    Policy policy =
        Policy.builder(Quota.perSecond(1_000_000_000)).algorithm(algorithm).name("all").build();
    limiter = RateLimiter.builder(policy).build();
    texts = Keys.of(keys);
    sequence = Draw.of("uniform").sequence(keys);
    for (String key : texts) {
      boolean unused = limiter.tryAcquire(key).allowed();
    }
  }

  private String next(Cursor cursor) {
    return texts[sequence[cursor.next()]];
  }

  @Benchmark
  public boolean taken(Cursor cursor) {
    return limiter.tryAcquire(next(cursor), MOST).allowed();
  }

  @Benchmark
  public long heldAndSettledForLess(Cursor cursor) {
    return limiter.hold(next(cursor), MOST).settle(COST);
  }

  @Benchmark
  public long heldAndSettledForAsMuch(Cursor cursor) {
    return limiter.hold(next(cursor), MOST).settle(MOST);
  }

  @Benchmark
  public long heldAndSettledForMore(Cursor cursor) {
    return limiter.hold(next(cursor), COST).settle(MOST);
  }
}
