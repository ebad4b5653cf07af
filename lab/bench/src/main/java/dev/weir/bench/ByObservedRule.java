package dev.weir.bench;

import dev.weir.Ticker;
import dev.weir.insight.History;
import dev.weir.insight.HotKeys;
import dev.weir.insight.Insight;
import dev.weir.insight.Refusals;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;

/**
 * The benchmark of {@link ByRule} with the additional work of a server with a dashboard: the key
 * counts among the busiest and most refused, and a refusal may be kept. The difference is the cost
 * of that.
 */
@SuppressWarnings("NullAway.Init") // JMH calls the method marked Setup.
public class ByObservedRule extends KeyedBenchmark {
  private EngineKeys engine;
  private int[] sequence;

  @Setup
  public void fill() {
    Ticker ticker = Ticker.system();
    engine = new EngineKeys(keys, Load.of(load), ticker);
    engine.observe(
        of ->
            new Insight(
                new History(of::totals, of::fullPercent, null, ticker, Ticker.wall()),
                new Refusals(Ticker.wall(), () -> 1),
                new HotKeys(ticker)));
    sequence = Draw.of(draw).sequence(keys);
  }

  @Benchmark
  public boolean decision(Cursor cursor) {
    return engine.decide(sequence[cursor.next()]);
  }
}
