package dev.weir.bench;

import dev.weir.Batch;
import dev.weir.Ticker;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * A benchmark of token buckets by ready fingerprint, straight at the store: one by one, and 64 in
 * one call. The clock is read once a call.
 */
@SuppressWarnings("NullAway.Init") // JMH calls the method marked Setup.
public class ByFingerprint extends KeyedBenchmark {
  /**
   * The number of requests that arrive together at a busy port; a divisor of {@link Draw#LENGTH}.
   */
  static final int BATCH = 64;

  private StoreKeys store;
  private int[] sequence;

  /** A thread's request, which is used again and again. */
  @State(Scope.Thread)
  public static class Request {
    private final Batch batch = new Batch(BATCH);
  }

  @Setup
  public void fill() {
    store = new StoreKeys(keys, Load.of(load), Ticker.system());
    sequence = Draw.of(draw).sequence(keys);
  }

  @Benchmark
  public boolean single(Cursor cursor) {
    return store.decide(sequence[cursor.next()]);
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public int batch(Cursor cursor, Request request) {
    int from = cursor.next() * BATCH & (Draw.LENGTH - 1);
    return store.decide(request.batch, sequence, from, BATCH);
  }
}
