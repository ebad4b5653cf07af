package dev.weir.bench.wire;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Ticket;
import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.identity.RequestView;
import dev.weir.rules.Rules;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A measurement of the heap of a request that waits for its turn on a virtual thread, without the
 * server.
 */
final class WaitingMemory {
  private static final int WAITING = 10_000;

  /** The rules, under which the second request of a client waits for nearly a minute. */
  private static final String RULES =
      """
      domain: shop
      descriptors:
        - key: ip
          rate_limit:
            unit: minute
            requests_per_unit: 1
            algorithm: token-bucket
            on_limit: {queue: {requests: 1, wait: 1m}}
      """;

  private WaitingMemory() {}

  /** A request as in a server. */
  private record ServedRequest(String peer) implements RequestView {
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
      return "/reports";
    }
  }

  static void measure() throws InterruptedException, ReflectiveOperationException {
    ExecutorService threads = virtualThreads();
    if (threads == null) {
      System.out.println("\nWaiting requests: not measured, virtual threads need Java 21.");
      return;
    }
    EngineSettings defaults = EngineSettings.DEFAULTS;
    EngineSettings settings =
        new EngineSettings(
            defaults.shadowMode(),
            defaults.nearLimitPercent(),
            defaults.maxDescriptors(),
            defaults.maxEntries(),
            defaults.maxKeyLength(),
            WAITING);
    Engine engine = Engine.create(new MemoryStore(), Ticker.system(), settings);
    long unused = engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", RULES).ruleSet()));
    RequestLimiter limiter =
        RequestLimiter.builder(engine).domain("shop").descriptor("ip={ip}").build();
    AtomicInteger answered = new AtomicInteger();
    long before = used();
    for (int i = 0; i < WAITING; i++) {
      String peer = "10.0." + i / 250 + "." + i % 250;
      threads.execute(
          () -> {
            one(limiter, peer);
            one(limiter, peer);
            answered.incrementAndGet();
          });
    }
    while (engine.metrics().queues().waiting() + answered.get() < WAITING) {
      Thread.onSpinWait();
    }
    if (answered.get() > 0) {
      throw new IllegalStateException(answered + " of " + WAITING + " requests did not wait");
    }
    System.out.printf(
        Locale.ROOT,
        "%nWaiting on virtual threads: %,d requests, %.1f KiB of heap each%n",
        WAITING,
        (used() - before) / 1024.0 / WAITING);
    threads.shutdownNow();
    engine.close();
  }

  private static void one(RequestLimiter limiter, String peer) {
    CompletableFuture<Verdict> turn = new CompletableFuture<>();
    limiter.decide(
        new ServedRequest(peer),
        verdict -> {
          if (verdict.passes()) {
            turn.complete(verdict);
          } else {
            Ticket unused = verdict.enqueue(Duration.ofMinutes(1).toNanos(), turn::complete);
          }
        });
    turn.join();
  }

  /** Returns an executor of virtual threads, or null if Java has none. */
  private static @Nullable ExecutorService virtualThreads() throws ReflectiveOperationException {
    for (Method method : Executors.class.getMethods()) {
      if (method.getName().equals("newVirtualThreadPerTaskExecutor")) {
        return (ExecutorService) method.invoke(null);
      }
    }
    return null;
  }

  private static long used() {
    for (int i = 0; i < 5; i++) {
      System.gc();
    }
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
