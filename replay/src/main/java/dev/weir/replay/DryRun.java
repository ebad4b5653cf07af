package dev.weir.replay;

import dev.weir.Algorithm;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectLimits;
import dev.weir.replay.DryRunResult.Counts;
import dev.weir.replay.internal.judge.History;
import dev.weir.replay.internal.judge.KeyChanges;
import dev.weir.replay.internal.judge.KeyNames;
import dev.weir.replay.internal.judge.Run;
import dev.weir.replay.internal.judge.RunRules;
import dev.weir.replay.internal.judge.WindowUse;
import dev.weir.replay.internal.pages.DryRunPage;
import dev.weir.replay.internal.pages.Figures;
import dev.weir.replay.internal.pages.ReportPage;
import dev.weir.replay.internal.recorded.DryRunPolicies;
import dev.weir.replay.internal.recorded.RecordedLoad;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.traffic.Format;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A change, tried on recorded traffic. The same requests go through the rules in force and through
 * the proposed ones, both on virtual time, side by side in one pass. Whenever the run ends, both
 * sides have seen the same requests.
 */
public final class DryRun {
  /*
   * How is DryRun designed, and why? A dry run is two runs of the replay over one cursor, in one
   * pass. So if a bound ends it, both sides have seen the same requests, and the difference stays
   * true. The sides differ in the rules and the proposed records only: the limits of all other
   * subjects come from one source, which remembers its answers. Tallies are small, because this
   * runs inside a server; only the second side has a history, from which the page is made. Keys are
   * named such that they can be masked when they are shown, and only then: two keys whose masks are
   * alike are still two.
   */

  /** The most keys in each list. */
  static final int LISTED_KEYS = 20;

  /** The number of requests after which the run checks again whether it may go on. */
  private static final int LOOK_EVERY = 256;

  private static final List<String> NAMES = List.of("recorded traffic");

  /**
   * The sizes of both tallies, together some 10 MB: a server needs its heap for other things, too.
   */
  private static final ReplayTally.Sizes SIZES = new ReplayTally.Sizes(1 << 12, 1 << 14);

  private static final int FOLLOWED_KEYS = 1 << 14;
  private static final int FOLLOWED_ENTRIES = 1 << 19;

  /**
   * A subject whose limits are proposed.
   *
   * @param domain the domain of the rules
   * @param key the key of a descriptor's entry
   * @param value the value of that entry
   */
  public record Subject(String domain, String key, String value) {}

  /**
   * A change that is compared with the rules in force.
   *
   * @param before the rules in force
   * @param after the rules that are proposed; those in force if only records are proposed
   * @param texts the rule files that are proposed, by their names, for the report
   * @param records the limits that are proposed; {@link SubjectLimits#NONE} for a record that is to
   *     be deleted
   * @param policies the limits of all other subjects, the same for both sides
   */
  public record Change(
      RuleSet before,
      RuleSet after,
      Map<String, String> texts,
      Map<Subject, SubjectLimits> records,
      KeyPolicies policies) {
    public Change {
      texts = Map.copyOf(texts);
      records = Map.copyOf(records);
    }
  }

  /**
   * The bounds of a dry run.
   *
   * @param requests the most requests that are replayed, at least 1
   * @param processorTime the most processor time of its thread
   * @param keys the most keys that may have state at once, for each side, at least 1
   * @param bytes the most bytes of state, for each side
   */
  public record Limits(long requests, Duration processorTime, long keys, long bytes) {
    /** The default bounds: five million requests or 30 s; 64 MiB for each side. */
    public static final Limits DEFAULTS =
        new Limits(5_000_000, Duration.ofSeconds(30), 2_000_000, 64 << 20);
  }

  /**
   * A dry run that is done.
   *
   * @param result the result as data
   * @param page the result as a page of HTML, which needs no script and loads nothing
   */
  public record Done(DryRunResult result, String page) {}

  private final Change change;
  private final RecordedRequests traffic;
  private final Limits limits;
  private final LongSupplier processorNanos;
  private final KeyNames names;
  private final DryRunPolicies policies;
  private final KeyChanges keys = new KeyChanges();
  private final History history = new History(new WindowUse(FOLLOWED_KEYS, FOLLOWED_ENTRIES), null);
  private final ReplayTally before;
  private final ReplayTally after;
  private final List<String> warnings = new ArrayList<>();

  private DryRun(
      Change change,
      RecordedRequests traffic,
      Limits limits,
      Masking masking,
      LongSupplier processorNanos) {
    this.change = change;
    this.traffic = traffic;
    this.limits = limits;
    this.processorNanos = processorNanos;
    names = KeyNames.masked(masking);
    policies = new DryRunPolicies(change.policies);
    before = tally(change.before, null, false);
    after = tally(change.after, history, true);
  }

  private ReplayTally tally(RuleSet rules, @Nullable History to, boolean isAfter) {
    return new ReplayTally(rules, rule -> true, to, names, keys.side(isAfter), SIZES);
  }

  /**
   * Runs the change on this thread.
   *
   * @param traffic the traffic, at least one request
   * @param progress receives the number of requests that were replayed
   * @param cancelled true if the run should end without a result
   * @return null if it was cancelled, or the thread interrupted
   * @throws RuntimeException if the rules cannot be put in force
   */
  public static @Nullable Done run(
      Change change,
      RecordedRequests traffic,
      Limits limits,
      Masking masking,
      LongConsumer progress,
      BooleanSupplier cancelled) {
    LongSupplier time = ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime;
    return run(change, traffic, limits, masking, progress, cancelled, time);
  }

  static @Nullable Done run(
      Change change,
      RecordedRequests traffic,
      Limits limits,
      Masking masking,
      LongConsumer progress,
      BooleanSupplier cancelled,
      LongSupplier processorNanos) {
    DryRun run = new DryRun(change, traffic, limits, masking, processorNanos);
    try {
      return run.run(progress, cancelled);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // No file is read or written.
    }
  }

  private @Nullable Done run(LongConsumer progress, BooleanSupplier cancelled) throws IOException {
    long startNanos = processorNanos.getAsLong();
    long lastNanos = traffic.fromNanos();
    long replayed = 0;
    DryRunResult.End end = DryRunResult.End.COMPLETE;
    try (Run first = run(change.before, before, Map.of());
        Run second = run(change.after, after, change.records)) {
      RecordedRequests.Cursor cursor = traffic.cursor();
      while (cursor.next()) {
        if (replayed % LOOK_EVERY == 0) {
          progress.accept(replayed);
          if (cancelled.getAsBoolean() || Thread.currentThread().isInterrupted()) {
            return null;
          }
          if (processorNanos.getAsLong() - startNanos >= limits.processorTime.toNanos()) {
            end = DryRunResult.End.PROCESSOR_TIME;
            break;
          }
        }
        if (replayed == limits.requests) {
          end = DryRunResult.End.REQUESTS;
          break;
        }
        Request request = charged(cursor.request());
        first.take(0, replayed, cursor.nanos(), request, Double.NaN, -1);
        second.take(0, replayed, cursor.nanos(), request, Double.NaN, -1);
        lastNanos = cursor.nanos();
        replayed++;
      }
      first.finish();
      second.finish();
    }
    progress.accept(replayed);
    return done(lastNanos, replayed, end);
  }

  /** Returns a request whose descriptors all have their permits, where tallies read them. */
  private static Request charged(Request request) {
    if (request.permits() < 0) {
      return request; // Such a request cannot be decided.
    }
    List<Descriptor> descriptors = new ArrayList<>(request.descriptors());
    long permits = Math.max(1, request.permits());
    descriptors.replaceAll(
        each ->
            each.permits() == null
                ? new Descriptor(each.entries(), each.limitOverride(), permits)
                : each);
    return new Request(request.domain(), descriptors, request.permits(), request.charge());
  }

  private Run run(RuleSet rules, ReplayTally tally, Map<Subject, SubjectLimits> records) {
    boolean queues = rules.rules().stream().anyMatch(rule -> rule.queue() != null);
    return new RunRules(rules, new MemoryStore(limits.keys, limits.bytes), policies.with(records))
        .run(
            NAMES,
            queues ? RunRules.Pace.EACH : RunRules.Pace.TOGETHER,
            RecordedLoad.UNKNOWN,
            tally,
            null);
  }

  private Done done(long lastNanos, long replayed, DryRunResult.End end) {
    ReplaySummary one = summary(before, end);
    Counts totals = RuleDifference.totals(one);
    warn(replayed, end, one);
    ReplaySummary two = summary(after, end);
    if (two.counts().deniedForTrouble() > 0) {
      warnings.add(
          Figures.number(two.counts().deniedForTrouble())
              + " requests would be refused for another reason than a limit, such as no room for"
              + " more keys in the memory of a dry run.");
    }
    DryRunResult result =
        new DryRunResult(
            traffic.fromNanos(),
            lastNanos,
            traffic.came(),
            replayed,
            traffic.keysPerRecorded(),
            end,
            totals,
            RuleDifference.totals(two),
            RuleDifference.of(one.policies(), two.policies(), this::whole),
            keys.top(LISTED_KEYS, true, names),
            keys.top(LISTED_KEYS, false, names),
            keys.exact(),
            policies.unknown(),
            warnings);
    String page =
        ReportPage.ofDryRun(
            two, history, names, html -> DryRunPage.append(html, result), change.texts);
    return new Done(result, page);
  }

  private static ReplaySummary summary(ReplayTally tally, DryRunResult.End end) {
    return tally.summary(
        new ReplaySummary.Source(List.of(), Format.AUTO, "time", "", null, List.of()),
        end != DryRunResult.End.COMPLETE,
        List.of(),
        Duration.ZERO);
  }

  private void warn(long replayed, DryRunResult.End end, ReplaySummary of) {
    if (end != DryRunResult.End.COMPLETE) {
      warnings.add(
          "Ended after "
              + Figures.number(replayed)
              + " requests, because "
              + (end == DryRunResult.End.REQUESTS
                  ? "no more are replayed."
                  : "its processor time was used up."));
    }
    if (traffic.keysPerRecorded() > 1) {
      warnings.add(
          "One key in "
              + traffic.keysPerRecorded()
              + " was replayed, with all of its requests. The key of a request is here its first"
              + " descriptor. Rules that count requests of several of these keys together refuse"
              + " more in truth: they are marked.");
    }
    if (policies.unknown() > 0) {
      warnings.add(
          Figures.number(policies.unknown())
              + " subjects' records could not be looked up; both sides took them as having none.");
    }
    if (hasSeats(change.before) || hasSeats(change.after)) {
      warnings.add(
          "How long requests take is not recorded: at a limit at the same time, each counts for its"
              + " hold.");
    }
    if (elastic(change.before) || elastic(change.after)) {
      warnings.add("The load is not recorded: elastic rules are replayed as hard ones.");
    }
    if (of.counts().unreadable() > 0) {
      warnings.add(
          Figures.number(of.counts().unreadable()) + " requests could not be decided at all.");
    }
  }

  private static boolean hasSeats(RuleSet rules) {
    return rules.rules().stream()
        .map(Rule::policy)
        .anyMatch(policy -> policy != null && policy.algorithm() == Algorithm.CONCURRENCY);
  }

  private static boolean elastic(RuleSet rules) {
    return rules.rules().stream()
        .anyMatch(
            rule -> {
              Policy policy = rule.policy();
              return policy != null && policy.throttle().isElastic();
            });
  }

  private boolean whole(String path) {
    return traffic.keysPerRecorded() == 1 || !keys.isSplit(path);
  }
}
