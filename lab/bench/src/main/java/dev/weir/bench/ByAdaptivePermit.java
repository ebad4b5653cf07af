package dev.weir.bench;

import com.netflix.concurrency.limits.Limiter;
import com.netflix.concurrency.limits.limit.Gradient2Limit;
import com.netflix.concurrency.limits.limit.WindowedLimit;
import com.netflix.concurrency.limits.limiter.SimpleLimiter;
import dev.weir.adaptive.AdaptiveAlgorithm;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.adaptive.RequestOutcome;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A benchmark of adaptive limits: a permit is taken, and ends as a success at once. The peer learns
 * from each success or, as this does, from windows of them.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx1g")
public class ByAdaptivePermit {
  private final AdaptiveLimiter gradient = AdaptiveLimiter.builder().build();
  private final AdaptiveLimiter vegas =
      AdaptiveLimiter.builder().algorithm(AdaptiveAlgorithm.VEGAS).build();
  private final Limiter<Void> peer =
      SimpleLimiter.newBuilder().limit(Gradient2Limit.newDefault()).build();
  private final Limiter<Void> windowedPeer =
      SimpleLimiter.newBuilder()
          .limit(WindowedLimit.newBuilder().build(Gradient2Limit.newDefault()))
          .build();

  private static boolean use(AdaptiveLimiter limiter) {
    AdaptivePermit permit = limiter.tryAcquire();
    return permit.granted() && permit.end(RequestOutcome.SUCCEEDED);
  }

  private static boolean use(Limiter<Void> limiter) {
    Optional<Limiter.Listener> taken = limiter.acquire(null);
    taken.ifPresent(Limiter.Listener::onSuccess);
    return taken.isPresent();
  }

  @Benchmark
  public boolean gradient() {
    return use(gradient);
  }

  @Benchmark
  public boolean vegas() {
    return use(vegas);
  }

  @Benchmark
  public boolean netflix() {
    return use(peer);
  }

  @Benchmark
  public boolean netflixWindowed() {
    return use(windowedPeer);
  }
}
