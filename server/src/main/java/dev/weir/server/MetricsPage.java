package dev.weir.server;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.weir.engine.EngineMetrics;
import dev.weir.engine.RuleMetrics;
import dev.weir.redis.RedisMetrics;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.OperatingSystemMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Writes all counters in Prometheus's text format, version 0.0.4.
 *
 * <p>Written by hand, because everything is counted already: a metrics library would count it
 * again, and would have to be told of every rule that comes and goes.
 */
final class MetricsPage {
  static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private static final int PAGE_BYTES = 4_096;
  private static final Path MEMORY_PAGES = Path.of("/proc/self/statm");

  private final StringBuilder text = new StringBuilder(8_192);

  private MetricsPage() {}

  /**
   * Returns the page.
   *
   * @param store the shared one's, if there is one
   * @param doors by name
   * @param pending what their connections hold together
   * @param load not a number where it is not known
   */
  static String text(
      EngineMetrics engine,
      @Nullable RedisMetrics store,
      ThrottleTable table,
      Map<String, DoorCounters> doors,
      PendingBytes pending,
      double load,
      boolean ready) {
    MetricsPage page = new MetricsPage();
    page.load(load);
    page.service(engine, ready);
    if (store != null) {
      page.store(store);
    }
    page.throttle(table);
    page.decisionTime(engine);
    page.rules(engine.rules());
    page.doors(new TreeMap<>(doors), pending);
    page.errors();
    page.process();
    return page.text.toString();
  }

  private void load(double load) {
    head("weir_load", "gauge", "What elastic rules take for the load: 1 is full, NaN not known.");
    sample("weir_load", "", Double.toString(load));
  }

  private void service(EngineMetrics engine, boolean ready) {
    counter("weir_requests_total", "Requests decided.", engine.requests());
    counter("weir_requests_denied_total", "Requests refused.", engine.denied());
    counter("weir_request_errors_total", "Requests that made no sense.", engine.errors());
    gauge("weir_keys", "Keys that have state.", engine.keys());
    gauge("weir_max_keys", "Keys that may have state at once.", engine.maxKeys());
    gauge("weir_state_bytes", "Memory that the state takes, about.", engine.bytes());
    gauge("weir_max_state_bytes", "Memory that the state may take.", engine.maxBytes());
    counter(
        "weir_key_space_full_total",
        "Charges of new keys that were refused for want of room.",
        engine.keySpaceFull());
    counter(
        "weir_overloaded_total", "Requests answered OVERLOADED, undecided.", engine.overloaded());
    counter("weir_uncertain_total", "Charges that a store could not decide.", engine.uncertain());
    gauge("weir_rule_revision", "Number of the rule set in force.", engine.revision());
    counter("weir_rule_reloads_total", "Rule sets that came into force.", engine.reloads());
    counter(
        "weir_rule_reload_failures_total",
        "Rule sets that were broken and changed nothing.",
        engine.reloadFailures());
    gauge(
        "weir_ready", "1 if the server takes requests, 0 while it starts or stops.", ready ? 1 : 0);
  }

  private void store(RedisMetrics store) {
    gauge("weir_store_available", "1 if the shared store can be asked.", store.available() ? 1 : 0);
    counter("weir_store_calls_total", "Calls of the store's script.", store.calls());
    counter("weir_store_decided_total", "Charges that the store decided.", store.decided());
    counter(
        "weir_store_merged_total",
        "Charges that shared another's place in a call, being for the same key.",
        store.merged());
    counter(
        "weir_store_held_total",
        "Charges decided here by what the store had granted or told before.",
        store.held());
    counter(
        "weir_store_fallback_total",
        "Charges decided here because the store could not be asked.",
        store.fallback());
    String failures = "weir_store_failures_total";
    head(failures, "counter", "Charges that got no answer from the store, by what was wrong.");
    new TreeMap<>(store.failures())
        .forEach((kind, count) -> sample(failures, label("kind", kind), Long.toString(count)));
    counter(
        "weir_store_late_permits_total",
        "Permits of answers that came too late, given back.",
        store.late());
    counter(
        "weir_store_burned_permits_total",
        "Permits that may have been charged for requests that were refused.",
        store.burned());
    counter(
        "weir_store_clock_steps_total",
        "How often the store's clock was seen to go back.",
        store.clockSteps());
    gauge("weir_store_queued", "Charges that wait to be sent.", store.queued());
  }

  private void throttle(ThrottleTable table) {
    counter("weir_throttle_requests_total", "Calls of CL.THROTTLE and THROTTLE.", table.requests());
    counter("weir_throttle_denied_total", "Those limited.", table.denied());
    counter(
        "weir_throttle_key_space_full_total",
        "Those of new keys that were limited for want of room.",
        table.keySpaceFull.sum());
    counter(
        "weir_throttle_overloaded_total",
        "Those answered OVERLOADED, undecided.",
        table.overloaded.sum());
    gauge("weir_throttle_keys", "Keys of those calls that have state.", table.store().keys());
    gauge("weir_throttle_max_keys", "Keys that may have state at once.", table.store().maxKeys());
  }

  private void decisionTime(EngineMetrics engine) {
    String name = "weir_decision_seconds";
    head(name, "histogram", "Time that the engine took for a decision.");
    List<Long> counts = engine.decisionTimeCounts();
    List<Long> bounds = engine.decisionTimeBoundsNanos();
    long sum = 0;
    for (int i = 0; i < bounds.size(); i++) {
      sum += counts.get(i);
      sample(name + "_bucket", label("le", seconds(bounds.get(i))), Long.toString(sum));
    }
    for (int i = bounds.size(); i < counts.size(); i++) {
      sum += counts.get(i);
    }
    sample(name + "_bucket", label("le", "+Inf"), Long.toString(sum));
    sample(name + "_sum", "", seconds(engine.decisionTimeSumNanos()));
    sample(name + "_count", "", Long.toString(sum));
  }

  private void rules(List<RuleMetrics> rules) {
    rule(
        rules,
        "total_hits",
        "Permits asked of the rule: the sum of within_limit, tolerated, over_limit, incomplete,"
            + " refused_by_other and uncertain.",
        RuleMetrics::totalHits);
    rule(rules, "within_limit", "Permits admitted within the limit.", RuleMetrics::withinLimit);
    rule(
        rules,
        "tolerated",
        "Permits of requests beyond the limit that passed because of the rule's throttle.",
        RuleMetrics::tolerated);
    rule(rules, "over_limit", "Permits beyond the limit.", RuleMetrics::overLimit);
    rule(
        rules,
        "incomplete",
        "Permits that would have fitted, of requests of which other permits did not.",
        RuleMetrics::incomplete);
    rule(
        rules,
        "refused_by_other",
        "Permits that fitted, of requests that another descriptor's limit refused.",
        RuleMetrics::refusedByOther);
    rule(
        rules,
        "uncertain",
        "Permits of which nobody knew whether they fit; on_failure answered.",
        RuleMetrics::uncertain);
    rule(
        rules,
        "near_limit",
        "Of all these, permits near the limit and not beyond.",
        RuleMetrics::nearLimit);
    rule(
        rules,
        "shadow_mode",
        "Of all these, permits that did not fit and passed because the rule only watches.",
        RuleMetrics::shadowMode);
  }

  private void rule(
      List<RuleMetrics> rules, String name, String help, ToLongFunction<RuleMetrics> value) {
    String full = "weir_rule_" + name + "_total";
    head(full, "counter", help);
    for (RuleMetrics rule : rules) {
      sample(
          full,
          labels("rule", rule.path(), "policy", rule.policy()),
          Long.toString(value.applyAsLong(rule)));
    }
  }

  private void doors(Map<String, DoorCounters> doors, PendingBytes pending) {
    gauge(
        "weir_pending_bytes",
        "Memory that unfinished requests and unread answers take.",
        pending.bytes());
    gauge("weir_max_pending_bytes", "Memory that those may take.", pending.maxBytes());
    door(doors, "weir_connections", "gauge", "Open connections.", DoorCounters::connections);
    door(
        doors,
        "weir_connections_refused_total",
        "counter",
        "Connections beyond the limit.",
        DoorCounters::refusedConnections);
    door(
        doors,
        "weir_connections_timed_out_total",
        "counter",
        "Connections closed because they kept the server waiting.",
        DoorCounters::timedOutConnections);
    door(
        doors,
        "weir_connections_evicted_total",
        "counter",
        "Connections closed because unfinished requests took too much memory.",
        DoorCounters::evictedConnections);
  }

  private void door(
      Map<String, DoorCounters> doors,
      String name,
      String type,
      String help,
      ToLongFunction<DoorCounters> value) {
    head(name, type, help);
    doors.forEach(
        (door, counters) ->
            sample(name, label("door", door), Long.toString(value.applyAsLong(counters))));
  }

  private void errors() {
    String name = "weir_internal_errors_total";
    head(name, "counter", "Errors of the server's own work, by what it was about; it goes on.");
    for (Loop loop : Loop.values()) {
      sample(name, label("loop", loop.label()), Long.toString(Guarded.errors(loop)));
    }
    counter(
        "weir_accept_failures_total",
        "Times that connections could not be taken, for want of file descriptors.",
        AcceptFailures.count());
  }

  private void process() {
    MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    gauge("jvm_heap_used_bytes", "Heap in use.", memory.getHeapMemoryUsage().getUsed());
    gauge("jvm_heap_max_bytes", "Heap at most.", memory.getHeapMemoryUsage().getMax());
    gauge("jvm_threads_current", "Threads.", ManagementFactory.getThreadMXBean().getThreadCount());
    long collections = 0;
    long collectionMillis = 0;
    for (var collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      collections += Math.max(0, collector.getCollectionCount());
      collectionMillis += Math.max(0, collector.getCollectionTime());
    }
    counter("jvm_gc_collections_total", "Garbage collections.", collections);
    value(
        "jvm_gc_seconds_total", "counter", "Time in them.", seconds(collectionMillis * 1_000_000));
    OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
    if (system instanceof UnixOperatingSystemMXBean unix) {
      value(
          "process_cpu_seconds_total",
          "counter",
          "Processor time.",
          seconds(unix.getProcessCpuTime()));
      gauge("process_open_fds", "Open files and sockets.", openDescriptors(unix));
      gauge("process_max_fds", "Most of those.", unix.getMaxFileDescriptorCount());
    }
    long resident = residentBytes();
    if (resident > 0) {
      gauge("process_resident_memory_bytes", "Memory in RAM.", resident);
    }
    value(
        "process_start_time_seconds",
        "gauge",
        "Start, in seconds since 1970.",
        seconds(ManagementFactory.getRuntimeMXBean().getStartTime() * 1_000_000));
  }

  /** To count them takes one more: if there is none, all are open. */
  private static long openDescriptors(UnixOperatingSystemMXBean unix) {
    try {
      return unix.getOpenFileDescriptorCount();
    } catch (InternalError e) {
      return unix.getMaxFileDescriptorCount();
    }
  }

  /** Linux tells; elsewhere the value is left out. */
  private static long residentBytes() {
    try {
      String[] pages = Files.readString(MEMORY_PAGES, StandardCharsets.US_ASCII).split(" ", 3);
      return Long.parseLong(pages[1]) * PAGE_BYTES;
    } catch (IOException | NumberFormatException | IndexOutOfBoundsException e) {
      return 0;
    }
  }

  private void counter(String name, String help, long value) {
    value(name, "counter", help, Long.toString(value));
  }

  private void gauge(String name, String help, long value) {
    value(name, "gauge", help, Long.toString(value));
  }

  private void value(String name, String type, String help, String value) {
    head(name, type, help);
    sample(name, "", value);
  }

  private void head(String name, String type, String help) {
    text.append("# HELP ").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private void sample(String name, String label, String value) {
    text.append(name).append(label).append(' ').append(value).append('\n');
  }

  private static String label(String name, String value) {
    return "{" + name + "=\"" + escaped(value) + "\"}";
  }

  private static String labels(String name, String value, String name2, String value2) {
    return "{" + name + "=\"" + escaped(value) + "\"," + name2 + "=\"" + escaped(value2) + "\"}";
  }

  private static String escaped(String value) {
    return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }

  private static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%d.%09d", nanos / 1_000_000_000, nanos % 1_000_000_000);
  }
}
