package dev.weir.bench;

import dev.weir.Ticker;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;

/**
 * One request with one descriptor to one answer: what a protocol's port pays, the wire aside. Rules
 * are matched, the key is fingerprinted, a token bucket decides, metrics are counted.
 */
@SuppressWarnings("NullAway.Init") // JMH calls the method marked Setup.
public class ByRule extends KeyedBenchmark {
  private EngineKeys engine;
  private int[] sequence;

  @Setup
  public void fill() {
    engine = new EngineKeys(keys, Load.of(load), Ticker.system());
    sequence = Draw.of(draw).sequence(keys);
  }

  @Benchmark
  public boolean decision(Cursor cursor) {
    return engine.decide(sequence[cursor.next()]);
  }
}
