package dev.weir.bench;

import dev.weir.bench.peers.KeyedLimiter;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * A benchmark of one decision by String key, of Weir and of the peers. The text of the request is
 * never the object that a map holds: in a service it comes from the wire.
 */
@SuppressWarnings("NullAway.Init") // JMH sets parameters, then calls the method marked Setup.
public class ByStringKey extends KeyedBenchmark {
  @Param({
    "weir-token-bucket",
    "weir-leaky-bucket",
    "weir-fixed-window",
    "weir-sliding-window-counter",
    "weir-sliding-window-buckets",
    "weir-sliding-window-log",
    "weir-decision",
    "weir-allow",
    "bucket4j",
    "bucket4j-caffeine",
    "resilience4j",
    "guava",
    "deques"
  })
  public String limiter;

  private KeyedLimiter asked;
  private String[] texts;
  private int[] sequence;

  @Setup
  public void fill() {
    asked = Contender.of(limiter).limiter(Load.of(load));
    sequence = Draw.of(draw).sequence(keys);
    for (String key : Keys.of(keys)) {
      asked.fill(key);
    }
    texts = Keys.of(keys);
  }

  @Benchmark
  public boolean decision(Cursor cursor) {
    return asked.tryAcquire(texts[sequence[cursor.next()]]);
  }
}
