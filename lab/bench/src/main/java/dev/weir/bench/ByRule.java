package dev.weir.bench;

import dev.weir.Ticker;
import dev.weir.engine.RequestBatch;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * A benchmark of one request with one descriptor to one answer: the cost to a protocol's port,
 * without the wire. Rules are matched, the key is fingerprinted, a token bucket decides, metrics
 * are counted. Requests are decided one by one, as a {@code Request} and an {@code Answer}; and
 * from texts, in the way of ports: one in a call, or 64, in the way of pipelined commands.
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

  /** A thread's requests, which are used again and again. */
  @State(Scope.Thread)
  public static class ThreadRequests {
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

  /** Decides a request that is made for the call, in the way of middleware. */
  @Benchmark
  public boolean made(Cursor cursor) {
    return engine.decideNew(sequence[cursor.next()]);
  }

  /** Decides a batch of one: the call of a port that has one request at a time. */
  @Benchmark
  public int alone(Cursor cursor, ThreadRequests together) {
    return engine.decide(together.batch, together.texts, sequence, cursor.next(), 1);
  }

  @Benchmark
  @OperationsPerInvocation(ByFingerprint.BATCH)
  public int batch(Cursor cursor, ThreadRequests together) {
    int from = cursor.next() * ByFingerprint.BATCH & (Draw.LENGTH - 1);
    return engine.decide(together.batch, together.texts, sequence, from, ByFingerprint.BATCH);
  }
}
