package dev.weir.server.internal.telemetry;

import dev.weir.engine.EngineMetrics;
import dev.weir.engine.RuleMetrics;
import dev.weir.internal.DaemonThreads;
import dev.weir.server.internal.guard.GuardedTask;
import dev.weir.server.internal.guard.Loop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The sender of counters' increases to a statsd server once a second, under the names of
 * envoyproxy/ratelimit: {@code ratelimit.service.rate_limit.DOMAIN.KEY_VALUE.over_limit}. Counters
 * that have not grown are not sent. Lost datagrams are not sent again, as usual with statsd. Safe
 * for use by many threads.
 */
public final class Statsd implements AutoCloseable {
  /** The largest datagram; one of that size is not fragmented on nearly every network. */
  private static final int MAX_DATAGRAM = 1_432;

  private static final long ROUND_MILLIS = 1_000;
  private static final String SERVICE = "ratelimit.service.";

  /** The characters that the protocol uses itself, and those that no name should have. */
  private static final Pattern NOT_IN_NAMES = Pattern.compile("[:|@#\\s\\p{Cntrl}]");

  private final InetSocketAddress server;
  private final Supplier<EngineMetrics> metrics;
  private final DatagramSocket socket;
  private final Map<String, Long> sent = new HashMap<>();
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-statsd"));

  private Statsd(InetSocketAddress server, Supplier<EngineMetrics> metrics) throws IOException {
    this.server = server;
    this.metrics = metrics;
    socket = new DatagramSocket();
  }

  /**
   * Starts to send.
   *
   * @param server its name is resolved each time, unless the JVM has it in its cache
   * @throws UncheckedIOException if there is no socket for it
   */
  public static Statsd start(InetSocketAddress server, Supplier<EngineMetrics> metrics) {
    try {
      Statsd statsd = new Statsd(server, metrics);
      ScheduledFuture<?> unused =
          statsd.thread.scheduleWithFixedDelay(
              new GuardedTask(Loop.STATSD, statsd::send),
              ROUND_MILLIS,
              ROUND_MILLIS,
              TimeUnit.MILLISECONDS);
      return statsd;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void send() {
    try {
      InetSocketAddress to = new InetSocketAddress(server.getHostString(), server.getPort());
      if (to.isUnresolved()) {
        throw new UnknownHostException(server.getHostString());
      }
      for (String datagram : datagrams(counters(metrics.get()))) {
        byte[] bytes = datagram.getBytes(StandardCharsets.UTF_8);
        socket.send(new DatagramPacket(bytes, bytes.length, to));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(server + ": " + e.getMessage(), e);
    }
  }

  /** Returns all counters by name. */
  private static Map<String, Long> counters(EngineMetrics engine) {
    Map<String, Long> counters = new LinkedHashMap<>();
    for (RuleMetrics rule : engine.rules()) {
      String name =
          SERVICE + "rate_limit." + NOT_IN_NAMES.matcher(rule.path()).replaceAll("_") + ".";
      counters.merge(name + "total_hits", rule.totalHits(), Long::sum);
      counters.merge(name + "over_limit", rule.overLimit(), Long::sum);
      counters.merge(name + "near_limit", rule.nearLimit(), Long::sum);
      counters.merge(name + "within_limit", rule.withinLimit() + rule.tolerated(), Long::sum);
      counters.merge(name + "shadow_mode", rule.shadowMode(), Long::sum);
    }
    counters.put(SERVICE + "config_load_success", engine.reloads());
    counters.put(SERVICE + "config_load_error", engine.reloadFailures());
    counters.put(SERVICE + "call.should_rate_limit.service_error", engine.errors());
    counters.put(SERVICE + "call.should_rate_limit.redis_error", engine.uncertain());
    return counters;
  }

  /** Returns the increases, several lines to a datagram; a counter that fell begins anew. */
  private List<String> datagrams(Map<String, Long> counters) {
    List<String> datagrams = new ArrayList<>();
    StringBuilder datagram = new StringBuilder();
    counters.forEach(
        (name, value) -> {
          long before = sent.getOrDefault(name, 0L);
          long grown = value < before ? value : value - before;
          if (grown > 0) {
            String line = name + ":" + grown + "|c";
            if (datagram.length() > 0 && datagram.length() + 1 + line.length() > MAX_DATAGRAM) {
              datagrams.add(datagram.toString());
              datagram.setLength(0);
            }
            datagram.append(datagram.length() == 0 ? "" : "\n").append(line);
          }
        });
    if (datagram.length() > 0) {
      datagrams.add(datagram.toString());
    }
    sent.clear();
    sent.putAll(counters);
    return datagrams;
  }

  /** Sends the increases since the last time, and ends. */
  @Override
  public void close() {
    thread.execute(new GuardedTask(Loop.STATSD, this::send));
    thread.shutdown();
    try {
      if (!thread.awaitTermination(ROUND_MILLIS, TimeUnit.MILLISECONDS)) {
        thread.shutdownNow();
      }
    } catch (InterruptedException e) {
      thread.shutdownNow();
      Thread.currentThread().interrupt();
    }
    socket.close();
  }
}
