package dev.weir.bench;

import dev.weir.Ticker;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * A benchmark of one decision by a key that is a number: {@link dev.weir.PackedLimiter#decide(long,
 * long)}.
 */
@SuppressWarnings("NullAway.Init") // JMH sets parameters, then calls the method marked Setup.
public class ByNumber extends KeyedBenchmark {
  @Param({"weir-number", "bucket4j-number"})
  public String limiter;

  private NumberKeys asked;
  private int[] sequence;

  @Setup
  public void fill() {
    asked = NumberKeys.of(limiter, keys, Load.of(load), Ticker.system());
    sequence = Draw.of(draw).sequence(keys);
  }

  @Benchmark
  public boolean decision(Cursor cursor) {
    return asked.tryAcquire(Keys.hashed(sequence[cursor.next()]));
  }
}
