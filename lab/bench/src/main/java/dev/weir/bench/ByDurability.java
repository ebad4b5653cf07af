package dev.weir.bench;

import dev.weir.Algorithm;
import dev.weir.MemoryStore;
import dev.weir.PackedLimiter;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A benchmark of admissions that outlive the death of the process, beside admissions that do not.
 * Every request is admitted, so every decision is journaled; images are written meanwhile, as they
 * are in a program.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 2)
@Fork(value = 1, jvmArgsAppend = "-Xmx6g")
@SuppressWarnings("NullAway.Init") // JMH sets parameters, then calls the method marked Setup.
public class ByDurability {
  @Param({"1000", "1000000"})
  public int keys;

  @Param({"TOKEN_BUCKET", "SLIDING_WINDOW"})
  public Algorithm algorithm;

  @Param({"none", "process"})
  public String durability;

  private Path folder;
  private MemoryStore store;
  private PackedLimiter limiter;
  private String[] texts;
  private int[] sequence;

  @Setup
  public void fill() throws IOException {
    MemoryStore.Builder builder = MemoryStore.builder();
    if (durability.equals("process")) {
      folder = Files.createTempDirectory(Path.of("target"), "durability");
      builder.journal(folder);
    }
    store = builder.build();
    Policy policy =
        Policy.builder(Quota.perSecond(1_000_000_000)).algorithm(algorithm).name("all").build();
    limiter = RateLimiter.builder(policy).store(store).build().packed();
    texts = Keys.of(keys);
    sequence = Draw.of("uniform").sequence(keys);
    for (String key : texts) {
      limiter.decide(key);
    }
  }

  @TearDown
  public void delete() throws IOException {
    store.close();
    if (folder != null) {
      try (Stream<Path> all = Files.walk(folder)) {
        for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
          Files.delete(each);
        }
      }
    }
  }

  @Benchmark
  public long admission(Cursor cursor) {
    return limiter.decide(texts[sequence[cursor.next()]]);
  }
}
