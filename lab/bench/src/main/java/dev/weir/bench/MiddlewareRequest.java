package dev.weir.bench;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.identity.RequestView;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * A benchmark of middleware's cost for each request of an HTTP server, without the server: an
 * admitted request with two descriptors, address and login, and the header fields of its answer.
 * {@link #engine} measures the engine's part of it, with a request that is made in advance; the
 * difference is the middleware's part.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx1g")
@SuppressWarnings("NullAway.Init") // JMH calls the method marked Setup.
public class MiddlewareRequest {
  /** The number of clients: few, so that the engine's share is small and steady. */
  private static final int CLIENTS = 1_024;

  private static final String RULES =
      """
      domain: shop
      descriptors:
        - key: path
          value: /login
          rate_limit: { requests_per_unit: 5, unit: minute }
        - key: ip
          rate_limit:
            { requests_per_unit: 4000000000, unit: second, algorithm: token-bucket, name: per-ip }
        - key: user
          rate_limit:
            { requests_per_unit: 4000000000, unit: second, algorithm: token-bucket, name: per-user }
      """;

  /** A request as in a server: its texts exist before they are needed. */
  private record ServedRequest(String peer, String login) implements RequestView {
    @Override
    public List<String> headers(String name) {
      return List.of();
    }

    @Override
    public String method() {
      return "GET";
    }

    @Override
    public String path() {
      return "/articles/7";
    }
  }

  private final RequestView[] views = new RequestView[CLIENTS];
  private final Request[] requests = new Request[CLIENTS];
  private Engine engine;
  private RequestLimiter limiter;
  private int next;

  @Setup
  public void start() {
    engine = Engine.create(new MemoryStore(Keys.MOST), Ticker.system(), EngineSettings.DEFAULTS);
    Rules.LoadResult loaded = Rules.parse("bench.yaml", RULES);
    @Nullable RuleSet rules = loaded.ruleSet();
    if (rules == null) {
      throw new IllegalStateException("rules: " + loaded.problems());
    }
    engine.apply(rules);
    limiter =
        RequestLimiter.builder(engine)
            .domain("shop")
            .descriptor("ip={ip}")
            .descriptor("user={login}")
            .exempt("/health")
            .build();
    for (int i = 0; i < CLIENTS; i++) {
      String address = "203.0." + i / 256 + "." + i % 256;
      String login = "user-" + i;
      views[i] = new ServedRequest(address, login);
      requests[i] =
          new Request("shop", List.of(descriptor("ip", address), descriptor("user", login)), 1);
    }
    List<String> fields = new ArrayList<>();
    limiter.decide(
        views[0], verdict -> verdict.fields((name, value) -> fields.add(name + ": " + value)));
    if (fields.size() != 2) {
      throw new IllegalStateException("fields: " + fields + " (expected: 2)");
    }
  }

  private static Descriptor descriptor(String key, String value) {
    return new Descriptor(List.of(new Entry(key, value)), null, 1L);
  }

  private int next() {
    next = (next + 1) % CLIENTS;
    return next;
  }

  @Benchmark
  public void engine(Blackhole sink) {
    engine.decide(requests[next()], (Answer answer) -> sink.consume(answer));
  }

  @Benchmark
  public void decision(Blackhole sink) {
    limiter.decide(views[next()], (Verdict verdict) -> sink.consume(verdict));
  }

  @Benchmark
  public void decisionAndFields(Blackhole sink) {
    BiConsumer<String, String> add =
        (name, value) -> {
          sink.consume(name);
          sink.consume(value);
        };
    limiter.decide(
        views[next()],
        verdict -> {
          verdict.fields(add);
          sink.consume(verdict.passes());
        });
  }
}
