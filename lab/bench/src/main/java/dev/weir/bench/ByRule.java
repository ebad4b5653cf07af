package dev.weir.bench;

import dev.weir.Ticker;
import dev.weir.engine.RequestBatch;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * One request with one descriptor to one answer: what a protocol's port pays, the wire aside. Rules
 * are matched, the key is fingerprinted, a token bucket decides, metrics are counted. One by one,
 * as a {@code Request} and an {@code Answer}; and of texts, as ports ask: one in a call, or 64, as
 * pipelined commands are.
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

  /** One thread's requests, used again and again. */
  @State(Scope.Thread)
  public static class Together {
    private final String[] texts = new String[2];
    private RequestBatch batch;

    @Setup
    public void make(ByRule of) {
      batch = of.engine.batch(ByFingerprint.BATCH);
    }
  }

  @Benchmark
  public boolean decision(Cursor cursor) {
    return engine.decide(sequence[cursor.next()]);
  }

  /** The same of a request that is made for the call, as middleware makes it. */
  @Benchmark
  public boolean made(Cursor cursor) {
    return engine.decideNew(sequence[cursor.next()]);
  }

  /** A batch of one: what a port asks that has one request at a time. */
  @Benchmark
  public int alone(Cursor cursor, Together together) {
    return engine.decide(together.batch, together.texts, sequence, cursor.next(), 1);
  }

  @Benchmark
  @OperationsPerInvocation(ByFingerprint.BATCH)
  public int batch(Cursor cursor, Together together) {
    int from = cursor.next() * ByFingerprint.BATCH & (Draw.LENGTH - 1);
    return engine.decide(together.batch, together.texts, sequence, from, ByFingerprint.BATCH);
  }
}
