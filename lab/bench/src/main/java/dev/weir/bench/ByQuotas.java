package dev.weir.bench;

import dev.weir.Quota;
import dev.weir.bench.peers.Bucket4jQuotasLimiter;
import dev.weir.bench.peers.KeyedLimiter;
import dev.weir.bench.peers.WeirQuotasLimiter;
import java.util.List;
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

/**
 * A benchmark of the README's first lines: quotas by the default algorithm, whose decisions are
 * objects, beside Bucket4j with the same quotas. Requests come as fast as the threads make them: a
 * thousand keys are refused nearly always, a million are hardly ever.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx6g")
@SuppressWarnings("NullAway.Init") // JMH sets parameters, then calls the method marked Setup.
public class ByQuotas {
  private static final String ONE = "100 a minute";
  private static final String TWO = "10 a second and 100 a minute";

  @Param({"1000", "1000000"})
  public int keys;

  @Param("uniform")
  public String draw;

  /** The quotas. */
  @Param({ONE, TWO})
  public String load;

  @Param({"weir", "weir-packed", "bucket4j"})
  public String limiter;

  private KeyedLimiter asked;
  private String[] texts;
  private int[] sequence;

  @Setup
  public void fill() {
    asked = limiter(limiter, quotas(load));
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

  static KeyedLimiter limiter(String name, List<Quota> quotas) {
    return switch (name) {
      case "weir" -> WeirQuotasLimiter.ofDecisions(quotas);
      case "weir-packed" -> WeirQuotasLimiter.packed(quotas);
      case "bucket4j" -> new Bucket4jQuotasLimiter(quotas);
      default ->
          throw new IllegalArgumentException(
              "limiter: " + name + " (expected: weir, weir-packed or bucket4j)");
    };
  }

  static List<Quota> quotas(String text) {
    return switch (text) {
      case ONE -> List.of(Quota.perMinute(100));
      case TWO -> List.of(Quota.perSecond(10), Quota.perMinute(100));
      default ->
          throw new IllegalArgumentException(
              "load: " + text + " (expected: " + ONE + " or " + TWO + ")");
    };
  }
}
