package dev.weir.server.internal.metrics;

import dev.weir.engine.CallerBuckets;
import dev.weir.engine.CallerBucketsMetrics;
import dev.weir.engine.EngineMetrics;
import dev.weir.engine.LeaseMetrics;
import dev.weir.engine.QueueMetrics;
import dev.weir.engine.RefundMetrics;
import dev.weir.engine.RuleMetrics;
import dev.weir.engine.holds.HoldMetrics;
import dev.weir.engine.seats.SeatMetrics;
import dev.weir.internal.Histogram;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.GuardedTask;
import dev.weir.server.internal.guard.Loop;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.log.AcceptFailures;
import io.prometheus.metrics.instrumentation.jvm.JvmBufferPoolMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmClassLoadingMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmGarbageCollectorMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmMemoryMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmRuntimeInfoMetric;
import io.prometheus.metrics.instrumentation.jvm.JvmThreadsMetrics;
import io.prometheus.metrics.instrumentation.jvm.ProcessMetrics;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * The metrics of a server: Weir's own, and the JVM's and the process's under Prometheus's usual
 * names. No extra counts are kept for them: each scrape reads the existing counters. Safe for use
 * by many threads.
 */
public final class ServerMetrics implements MultiCollector {
  private final Supplier<MetricSources> counted;
  private final Labels build = Labels.of("version", version());

  private ServerMetrics(Supplier<MetricSources> counted) {
    this.counted = counted;
  }

  /**
   * Returns a registry of all metrics.
   *
   * @param counted is called at each scrape
   */
  public static PrometheusRegistry registry(Supplier<MetricSources> counted) {
    PrometheusRegistry registry = new PrometheusRegistry();
    registry.register(new ServerMetrics(counted));
    // Not JvmMetrics, whose allocation metric adds a listener to the JVM that is never removed.
    JvmBufferPoolMetrics.builder().register(registry);
    JvmClassLoadingMetrics.builder().register(registry);
    JvmGarbageCollectorMetrics.builder().register(registry);
    JvmMemoryMetrics.builder().register(registry);
    JvmRuntimeInfoMetric.builder().register(registry);
    JvmThreadsMetrics.builder().register(registry);
    ProcessMetrics.builder().register(registry);
    return registry;
  }

  /** Returns Weir's version, from its build. */
  public static String version() {
    Properties properties = new Properties();
    try (InputStream in =
        ServerMetrics.class.getResourceAsStream("/dev/weir/server/version.properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version", "unknown");
  }

  @Override
  public MetricSnapshots collect() {
    MetricSources now = counted.get();
    Families families = new Families();
    families.info("weir_build", "Version of this server; the value is always 1.", build);
    service(families, now);
    engine(families, now.engine());
    leases(families, now.leases());
    refunds(families, now.refunds());
    holds(families, now.holds());
    seats(families, now.seats());
    now.others().accept(families);
    throttle(families, now.throttle());
    rules(families, now.engine().rules());
    doors(families, now.doors(), now.pending());
    times(families, now.doors());
    errors(families);
    return families.all();
  }

  private static void service(Families to, MetricSources now) {
    to.gauge(
        "weir_load",
        "Load that elastic rules act on: 1 is full load, NaN means that the load is not known.",
        now.load());
    to.gauge(
        "weir_ready",
        "1 while the server takes requests, 0 while it starts or stops.",
        now.ready() ? 1 : 0);
  }

  private static void queues(Families to, QueueMetrics queues) {
    to.gauge(
        "weir_queued_requests",
        "Requests that wait for their turn now, where rules say so by on_limit.",
        queues.waiting());
    to.counter(
        "weir_queue_admitted",
        "Requests that waited for their turn and were admitted.",
        queues.admitted());
    to.counter(
        "weir_queue_refused",
        "Requests that were to wait and were refused: no room, no hope, or no time left.",
        queues.refused());
    to.counter(
        "weir_queue_left", "Requests whose client went away while they waited.", queues.left());
    to.seconds(
        "weir_queue_wait_seconds",
        "Time that requests have waited for their turn, all together.",
        queues.waitedNanos());
  }

  private static void engine(Families to, EngineMetrics engine) {
    to.counter(
        "weir_requests", "Requests decided by the rules, allowed or refused.", engine.requests());
    to.counter("weir_requests_denied", "Requests refused by the rules.", engine.denied());
    to.counter(
        "weir_request_errors",
        "Requests that could not be decided because something in them was wrong.",
        engine.errors());
    to.histogram(
        "weir_decision_seconds",
        "Time that it took to decide a request, without reading it and writing the answer.",
        engine.decisionTimeBoundsNanos(),
        engine.decisionTimeCounts(),
        engine.decisionTimeSumNanos());
    to.gauge("weir_keys", "Keys of rules that have state in this server.", engine.keys());
    to.gauge(
        "weir_max_keys",
        "Most keys of rules that may have state in this server at once.",
        engine.maxKeys());
    to.gauge(
        "weir_state_bytes",
        "Memory that the state of the rules' keys takes, in bytes, estimated.",
        engine.bytes());
    to.gauge(
        "weir_max_state_bytes",
        "Most memory that the state of the rules' keys may take, in bytes.",
        engine.maxBytes());
    to.counter(
        "weir_key_space_full",
        "Charges of new keys that were refused because the key table was full.",
        engine.keySpaceFull());
    to.counter(
        "weir_overloaded",
        "Requests answered OVERLOADED without a decision, because they had waited too long or too"
            + " many waited.",
        engine.overloaded());
    to.counter(
        "weir_uncertain",
        "Charges of rules that were answered UNCERTAIN because a store could not decide. Limits of"
            + " unknown subjects are in weir_subject_uncertain_total; requests before the first"
            + " rules are in neither.",
        engine.uncertain());
    queues(to, engine.queues());
    to.gauge(
        "weir_rule_revision",
        "Number of the rule set in force, 0 before the first.",
        engine.revision());
    to.counter("weir_rule_reloads", "Rule sets that came into force.", engine.reloads());
    to.counter(
        "weir_rule_reload_failures",
        "Rule sets that did not come into force because they had errors.",
        engine.reloadFailures());
  }

  private static void refunds(Families to, RefundMetrics refunds) {
    to.counter(
        "weir_negative_hits",
        "Hits that requests gave back, or that were taken off what the same request was charged.",
        refunds.given());
    to.counter(
        "weir_negative_hits_kept",
        "Hits that were not given back: not charged, refused before, or counted in a shared store.",
        refunds.kept());
  }

  private static void seats(Families to, SeatMetrics seats) {
    to.counter("weir_seats", "Requests that took seats.", seats.granted());
    to.counter(
        "weir_seats_refused",
        "Requests for seats that were refused, or could not be decided.",
        seats.refused());
    to.counter("weir_seats_renewed", "Renewals of seats.", seats.renewed());
    to.counter("weir_seats_released", "Seats that were given back.", seats.released());
    to.counter(
        "weir_seats_lost",
        "Renewals and returns of seats that were not held any more.",
        seats.lost());
    to.counter(
        "weir_seats_uncertain",
        "Renewals and returns of seats that the store did not answer.",
        seats.uncertain());
  }

  private static void holds(Families to, HoldMetrics holds) {
    to.counter("weir_holds", "Requests that held the most that they may cost.", holds.granted());
    to.counter(
        "weir_holds_refused",
        "Requests for a hold that were refused, or could not be decided.",
        holds.refused());
    to.counter(
        "weir_holds_settled", "Settlements that replaced a hold by its cost.", holds.settled());
    to.counter(
        "weir_holds_settled_before",
        "Settlements of holds that had been settled before.",
        holds.settledBefore());
    to.counter(
        "weir_holds_late",
        "Settlements that came when the life of their hold was over.",
        holds.late());
    to.counter(
        "weir_holds_uncertain",
        "Settlements of which the store could not decide whether they are the first.",
        holds.uncertain());
    to.counter(
        "weir_hold_returned_permits",
        "Permits that were held and not used, and could be spent again.",
        holds.returned());
    to.counter(
        "weir_hold_charged_permits",
        "Permits that were used beyond what was held.",
        holds.charged());
  }

  private static void leases(Families to, LeaseMetrics leases) {
    to.gauge(
        "weir_leases_outstanding",
        "Leases of clients, and requests that may be refunded, that are remembered now.",
        leases.outstanding());
    to.gauge(
        "weir_max_leases",
        "Most leases and refundable requests that are remembered at a time.",
        leases.maxOutstanding());
    to.counter("weir_lease_asks", "Requests of clients that take leases.", leases.asks());
    to.counter("weir_leases", "Leases granted.", leases.leases());
    to.counter("weir_lease_permits", "Permits lent with leases.", leases.lent());
    to.counter(
        "weir_lease_returned_permits",
        "Permits that clients have returned unspent.",
        leases.returned());
    to.counter(
        "weir_lease_taken_back_permits",
        "Permits returned or refunded by clients that could be spent again.",
        leases.takenBack());
    to.counter(
        "weir_lease_expired_permits",
        "Permits of leases that ended without a word from their client: spent, or stranded.",
        leases.expired());
    to.counter(
        "weir_lease_unknown",
        "Returns and refunds that were ignored, because they came twice, too late or from before a"
            + " restart.",
        leases.unknown());
    to.counter(
        "weir_lease_full",
        "Leases and refunds that were not granted because of --max-leases.",
        leases.full());
  }

  private static void throttle(Families to, CallerBuckets buckets) {
    CallerBucketsMetrics calls = buckets.metrics();
    to.counter(
        "weir_throttle_requests", "CL.THROTTLE and THROTTLE calls decided.", calls.requests());
    to.counter(
        "weir_throttle_denied",
        "CL.THROTTLE and THROTTLE calls that were limited.",
        calls.denied());
    to.counter(
        "weir_throttle_key_space_full",
        "CL.THROTTLE and THROTTLE calls of new keys that were limited because the key table was"
            + " full.",
        calls.keySpaceFull());
    to.counter(
        "weir_throttle_uncertain",
        "CL.THROTTLE and THROTTLE calls answered UNCERTAIN because a store could not decide.",
        calls.uncertain());
    to.counter(
        "weir_throttle_overloaded",
        "CL.THROTTLE and THROTTLE calls answered OVERLOADED by this server, without a call to the"
            + " store.",
        calls.overloaded());
    to.gauge(
        "weir_throttle_keys",
        "Keys of CL.THROTTLE and THROTTLE calls that have state.",
        buckets.store().keys());
    to.gauge(
        "weir_throttle_max_keys",
        "Most keys of CL.THROTTLE and THROTTLE calls that may have state at once.",
        buckets.store().maxKeys());
  }

  private static void rules(Families to, List<RuleMetrics> rules) {
    List<LabelledRule> labelled = rules.stream().map(LabelledRule::new).toList();
    RuleFamilies family =
        (name, help, value) ->
            to.counters(
                name,
                help,
                labelled,
                LabelledRule::labels,
                rule -> value.applyAsLong(rule.counted()));
    family.add(
        "weir_rule_hits",
        "Permits asked of the rule: the sum of within_limit, tolerated, over_limit, incomplete,"
            + " refused_by_other and undecided.",
        RuleMetrics::totalHits);
    family.add(
        "weir_rule_within_limit",
        "Permits admitted within the rule's limit.",
        RuleMetrics::withinLimit);
    family.add(
        "weir_rule_tolerated",
        "Permits of requests that passed beyond the rule's limit because of its throttle.",
        RuleMetrics::tolerated);
    family.add("weir_rule_over_limit", "Permits beyond the rule's limit.", RuleMetrics::overLimit);
    family.add(
        "weir_rule_incomplete",
        "Permits within the rule's limit, of requests with other permits beyond it.",
        RuleMetrics::incomplete);
    family.add(
        "weir_rule_refused_by_other",
        "Permits within the rule's limit, of requests that the limit of another rule refused.",
        RuleMetrics::refusedByOther);
    family.add(
        "weir_rule_undecided",
        "Permits for which it was not known whether they are within the rule's limit; its"
            + " on_failure answered.",
        RuleMetrics::undecided);
    family.add(
        "weir_rule_near_limit",
        "Permits near the rule's limit and not beyond it; other metrics of the rule count them"
            + " too.",
        RuleMetrics::nearLimit);
    family.add(
        "weir_rule_shadow_mode",
        "Permits that did not fit the rule's limit and passed because the rule is in shadow mode;"
            + " other metrics of the rule count them too.",
        RuleMetrics::shadowMode);
  }

  /** A rule with its labels, which all its counters have. Both labels together are unique. */
  private record LabelledRule(RuleMetrics counted, Labels labels) {
    LabelledRule(RuleMetrics counted) {
      this(counted, Labels.of("policy", counted.policy(), "rule", counted.path()));
    }
  }

  /** A method that adds a counter with a series for each rule. */
  private interface RuleFamilies {
    void add(String name, String help, ToLongFunction<RuleMetrics> value);
  }

  private static void doors(Families to, Map<String, DoorCounters> doors, PendingBytes pending) {
    to.gauge(
        "weir_pending_bytes",
        "Memory that unfinished requests and unread answers take, in bytes.",
        pending.bytes());
    to.gauge(
        "weir_max_pending_bytes",
        "Most memory that unfinished requests and unread answers may take, in bytes.",
        pending.maxBytes());
    Set<Map.Entry<String, DoorCounters>> each = doors.entrySet();
    to.gauges(
        "weir_connections",
        "Open connections, by protocol.",
        each,
        ServerMetrics::door,
        door -> door.getValue().connections());
    to.counters(
        "weir_connections_refused",
        "Connections closed because too many were open, by protocol.",
        each,
        ServerMetrics::door,
        door -> door.getValue().refusedConnections());
    to.counters(
        "weir_connections_timed_out",
        "Connections closed because the client was too slow or silent for too long, by protocol.",
        each,
        ServerMetrics::door,
        door -> door.getValue().timedOutConnections());
    to.counters(
        "weir_connections_evicted",
        "Connections closed because unfinished requests and unread answers took too much memory,"
            + " by protocol.",
        each,
        ServerMetrics::door,
        door -> door.getValue().evictedConnections());
  }

  private static void times(Families to, Map<String, DoorCounters> doors) {
    List<Map.Entry<String, DoorCounters>> deciding =
        doors.entrySet().stream().filter(door -> !door.getKey().equals("admin")).toList();
    to.histograms(
        "weir_request_seconds",
        "Time from when a request for a decision was read until its answer was handed to the"
            + " connection, by protocol.",
        Families.NANOS_PER_SECOND,
        deciding,
        door -> Labels.of("protocol", door.getKey()),
        door -> histogram(door.getValue().times()));
  }

  private static Families.Histogram histogram(Histogram of) {
    return new Families.Histogram(of.bounds(), of.counts(), of.sum());
  }

  private static Labels door(Map.Entry<String, DoorCounters> door) {
    return Labels.of("door", door.getKey());
  }

  private static void errors(Families to) {
    to.counters(
        "weir_internal_errors",
        "Errors in the server's own recurring work, by kind of work; the work goes on.",
        Arrays.asList(Loop.values()),
        loop -> Labels.of("loop", loop.label()),
        GuardedTask::errors);
    to.counter(
        "weir_accept_failures",
        "How often connections could not be taken because the process had no file descriptor"
            + " left.",
        AcceptFailures.count());
  }
}
