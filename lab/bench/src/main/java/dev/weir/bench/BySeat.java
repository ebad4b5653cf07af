package dev.weir.bench;

import com.netflix.concurrency.limits.Limiter;
import com.netflix.concurrency.limits.limit.FixedLimit;
import com.netflix.concurrency.limits.limiter.SimpleLimiter;
import dev.weir.Policy;
import dev.weir.RateLimiter;
import dev.weir.Seat;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
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
 * A benchmark of permits that are out at the same time: one is taken for a key and given back.
 * Peers are one object a key in a map, and nothing that they give out is ever lost.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx4g")
@SuppressWarnings("NullAway.Init") // JMH sets parameters, then calls the method marked Setup.
public class BySeat {
  private static final int LIMIT = 100;

  @Param({"1000", "100000"})
  public int keys;

  private RateLimiter limiter;
  private ConcurrentHashMap<String, Bulkhead> bulkheads;
  private ConcurrentHashMap<String, Limiter<Void>> limiters;
  private String[] texts;
  private int[] sequence;

  @Setup
  public void fill() {
    limiter = RateLimiter.of(Policy.concurrency(LIMIT, Duration.ofMinutes(1)).build());
    bulkheads = new ConcurrentHashMap<>();
    limiters = new ConcurrentHashMap<>();
    BulkheadConfig config =
        BulkheadConfig.custom().maxConcurrentCalls(LIMIT).maxWaitDuration(Duration.ZERO).build();
    texts = Keys.of(keys);
    sequence = Draw.of("uniform").sequence(keys);
    for (String key : texts) {
      bulkheads.put(key, Bulkhead.of(key, config));
      limiters.put(key, SimpleLimiter.newBuilder().limit(FixedLimit.of(LIMIT)).build());
    }
  }

  private String next(Cursor cursor) {
    return texts[sequence[cursor.next()]];
  }

  @Benchmark
  public boolean weir(Cursor cursor) {
    Seat seat = limiter.seat(next(cursor));
    return seat.granted() && seat.release();
  }

  @Benchmark
  public boolean resilience4j(Cursor cursor) {
    Bulkhead bulkhead = Objects.requireNonNull(bulkheads.get(next(cursor)));
    boolean taken = bulkhead.tryAcquirePermission();
    if (taken) {
      bulkhead.onComplete();
    }
    return taken;
  }

  @Benchmark
  public boolean netflix(Cursor cursor) {
    Optional<Limiter.Listener> taken =
        Objects.requireNonNull(limiters.get(next(cursor))).acquire(null);
    taken.ifPresent(Limiter.Listener::onSuccess);
    return taken.isPresent();
  }
}
