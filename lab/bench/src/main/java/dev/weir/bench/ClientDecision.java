package dev.weir.bench;

import dev.weir.bench.wire.ClientServer;
import dev.weir.client.WeirClient;
import dev.weir.engine.Answer;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * A benchmark of a decision in the client: by a lease, with the calls for new leases, and by a
 * remembered denial. The server is in the same process, so its memory counts too.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx512m")
@SuppressWarnings("NullAway.Init") // JMH calls the method marked Setup.
public class ClientDecision {
  private final Request leased = Request.of(ClientServer.DOMAIN, "endless", "a");
  private final Request denied = Request.of(ClientServer.DOMAIN, "none", "a");
  private ClientServer server;
  private WeirClient client;
  private Consumer<Answer> done;

  /** Starts a server and a client for it. */
  @Setup
  public void start(Blackhole blackhole) throws Exception {
    server = ClientServer.start();
    client = WeirClient.builder(server.target()).deadline(Duration.ofSeconds(5)).build();
    done = blackhole::consume;
    if (!client.awaitAvailable(Duration.ofSeconds(20))) {
      throw new IllegalStateException("server: does not answer");
    }
  }

  /** Closes both. */
  @TearDown
  public void stop() {
    client.close();
    server.close();
  }

  @Benchmark
  public void lease() {
    client.decide(leased, done);
  }

  @Benchmark
  public void denial() {
    client.decide(denied, done);
  }
}
