package dev.weir.bench;

import dev.weir.Ticker;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Setup;

/**
 * The benchmark of {@link ByFingerprint} on a table that can do nothing else: a measure for what
 * memory allows.
 */
@SuppressWarnings("NullAway.Init") // JMH calls the method marked Setup.
public class ByBareTable extends KeyedBenchmark {
  private BareTable table;
  private int[] sequence;

  @Setup
  public void fill() {
    table = new BareTable(keys, Load.of(load), Ticker.system());
    sequence = Draw.of(draw).sequence(keys);
  }

  @Benchmark
  public boolean single(Cursor cursor) {
    return table.decide(sequence[cursor.next()]);
  }

  @Benchmark
  @OperationsPerInvocation(ByFingerprint.BATCH)
  public int batch(Cursor cursor) {
    int from = cursor.next() * ByFingerprint.BATCH & (Draw.LENGTH - 1);
    return table.decide(sequence, from, ByFingerprint.BATCH);
  }
}
