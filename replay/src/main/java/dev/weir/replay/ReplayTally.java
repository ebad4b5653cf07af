package dev.weir.replay;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.replay.ReplaySummary.BusyWindow;
import dev.weir.replay.ReplaySummary.Counts;
import dev.weir.replay.ReplaySummary.PolicyCount;
import dev.weir.replay.ReplaySummary.RefusedKey;
import dev.weir.replay.ReplaySummary.Source;
import dev.weir.replay.ReplaySummary.UnreadableLine;
import dev.weir.replay.internal.judge.BusyWindows;
import dev.weir.replay.internal.judge.FrequentKeys;
import dev.weir.replay.internal.judge.History;
import dev.weir.replay.internal.judge.KeyNames;
import dev.weir.replay.internal.judge.RuleKey;
import dev.weir.replay.internal.judge.SeatTally;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A collector of all figures of a summary, in bounded memory. */
public final class ReplayTally {
  /*
   * How is ReplayTally designed, and why? Every answer is taken apart once, here, and passed to
   * all counters: sums for the whole, and for each rule and queue (RuleTallies), the refused keys,
   * the busiest windows and, if a report is wanted, a History. Each of these is bounded, so a
   * replay of any length fits. Rules are counted by their own policies; if a subject has its own
   * number, the status has it, and only the History needs it. The caller chooses how keys are
   * named: a dry run names them such that they can be masked later.
   */

  /** A listener that receives more details of each answer than a summary has. */
  public interface Listener {
    /** A listener that ignores all. */
    Listener NONE =
        new Listener() {
          @Override
          public void judged(Rule rule, int descriptor) {}

          @Override
          public void refused(RuleKey key) {}
        };

    /** Called when a rule has decided the descriptor of that number. */
    void judged(Rule rule, int descriptor);

    /** Called when a request was refused, with the key that decided. */
    void refused(RuleKey key);
  }

  /**
   * The sizes of a tally.
   *
   * @param refusedKeys the number of keys whose refusals are counted exactly, of some 300 bytes
   *     each
   * @param openWindows the number of keys that can have a window open at once, of some 240 bytes
   *     each
   */
  record Sizes(int refusedKeys, int openWindows) {
    static final Sizes DEFAULTS = new Sizes(1 << 16, 1 << 18);
  }

  /**
   * The times of a request that had to wait.
   *
   * @param timeNanos the record's own time
   * @param sinceNanos the time at which it was first decided
   * @param answeredNanos the time at which it was admitted, or refused for good
   * @param stood true if it found a place in the queues
   */
  public record Wait(long timeNanos, long sinceNanos, long answeredNanos, boolean stood) {}

  private final RuleTallies rules;
  private final KeyNames names;
  private final Listener listener;
  private final FrequentKeys refused;
  private final BusyWindows windows;
  private final List<UnreadableLine> unreadableLines = new ArrayList<>();
  private final @Nullable History history;
  private final SeatTally seats = new SeatTally();
  private long[] matched = new long[0];
  private long requests;
  private long denied;
  private long deniedForTrouble;
  private long shadowDenied;
  private long tolerated;
  private long unlimited;
  private long unreadable;
  private long outOfOrder;
  private long firstNanos = Long.MAX_VALUE;
  private long lastNanos = Long.MIN_VALUE;

  /**
   * @param history a history that receives all answers as well; or null
   */
  ReplayTally(RuleSet rules, String domain, @Nullable History history) {
    this(
        rules,
        rule -> rule.domain().equals(domain),
        history,
        KeyNames.PLAIN,
        Listener.NONE,
        Sizes.DEFAULTS);
  }

  /**
   * @param which the rules that are listed even if they decide nothing
   * @param history a history that receives all answers as well; or null
   */
  ReplayTally(
      RuleSet rules,
      Predicate<Rule> which,
      @Nullable History history,
      KeyNames names,
      Listener listener,
      Sizes sizes) {
    this.history = history;
    this.names = names;
    this.listener = listener;
    this.refused = new FrequentKeys(sizes.refusedKeys);
    this.windows = new BusyWindows(ReplaySummary.LISTED, sizes.openWindows);
    this.rules = new RuleTallies(rules, which);
  }

  /** Returns the names of keys. */
  public KeyNames names() {
    return names;
  }

  /** Returns the history that receives all answers; null if no report is wanted. */
  public @Nullable History history() {
    return history;
  }

  /** Returns the counts of seats, which a run adds to if it knows when requests have ended. */
  public SeatTally seats() {
    return seats;
  }

  public void unreadable(String input, long line, String reason) {
    unreadable++;
    if (unreadableLines.size() < ReplaySummary.LISTED) {
      unreadableLines.add(new UnreadableLine(input, line, reason));
    }
  }

  /**
   * Counts an answer.
   *
   * @param timeNanos the record's own time
   * @param nowNanos the time at which it was decided
   * @param deciding the answer's deciding status
   * @param load the load at that time, NaN if it is not known
   */
  public void add(
      Request request,
      Answer answer,
      @Nullable Status deciding,
      long timeNanos,
      long nowNanos,
      double load) {
    came(timeNanos, nowNanos);
    answered(request, answer, deciding, nowNanos, load, false);
  }

  /**
   * Counts the arrival of a request that its rules let wait; {@link #addWaited} counts its answer.
   */
  public void waits(Request request, Answer refused, long nowNanos) {
    List<Status> statuses = refused.statuses();
    for (int i = 0; i < statuses.size() && history != null; i++) {
      Status status = statuses.get(i);
      Rule rule = status.rule();
      if (rule != null && status.decision() != null) {
        Descriptor descriptor = request.descriptors().get(i);
        history.offer(names.of(rule, descriptor), policy(status), descriptor, nowNanos);
      }
    }
  }

  /**
   * Counts the answer to a request that waited, at the time at which it was answered.
   *
   * @param refused the answer that made it wait
   * @param load the load when it was answered, NaN if it is not known
   */
  public void addWaited(
      Request request,
      Answer refused,
      Answer answer,
      @Nullable Status deciding,
      Wait wait,
      double load) {
    came(wait.timeNanos, wait.sinceNanos);
    answered(request, answer, deciding, wait.answeredNanos, load, true);
    rules.waited(refused, answer.allowed(), wait);
  }

  private void came(long timeNanos, long nowNanos) {
    requests++;
    outOfOrder += timeNanos < nowNanos ? 1 : 0;
    firstNanos = Math.min(firstNanos, timeNanos);
    lastNanos = Math.max(lastNanos, timeNanos);
  }

  private void answered(
      Request request,
      Answer answer,
      @Nullable Status deciding,
      long nowNanos,
      double load,
      boolean offered) {
    denied += answer.allowed() ? 0 : 1;
    unlimited += deciding == null ? 1 : 0;
    boolean shadowed = false;
    boolean beyond = false;
    List<Status> statuses = answer.statuses();
    if (matched.length < statuses.size()) {
      matched = Arrays.copyOf(matched, statuses.size());
    }
    // The first of equals is the deciding one.
    int refusing = answer.allowed() || deciding == null ? -1 : statuses.indexOf(deciding);
    for (int i = 0; i < statuses.size(); i++) {
      Status status = statuses.get(i);
      Rule rule = status.rule();
      Decision decision = status.decision();
      if (rule != null && decision != null) {
        matched[i]++;
        Descriptor descriptor = request.descriptors().get(i);
        RuleKey key = names.of(rule, descriptor);
        listener.judged(rule, i);
        judged(key, descriptor, status, decision, nowNanos, answer.allowed());
        boolean lenient = decision.reason() == Reason.TOLERATED;
        if (history != null) {
          boolean fits = status.allowed() && decision.reason() != Reason.SHADOW;
          history.add(
              key,
              policy(status),
              descriptor,
              nowNanos,
              offered,
              fits,
              answer.allowed(),
              lenient,
              i == refusing);
        }
        beyond |= lenient && answer.allowed();
        shadowed |= decision.reason() == Reason.SHADOW;
        if (i == refusing) {
          refused.add(key);
          listener.refused(key);
          deniedForTrouble += decision.reason() == Reason.OVER_LIMIT ? 0 : 1;
        }
      }
    }
    shadowDenied += shadowed && answer.allowed() ? 1 : 0;
    tolerated += beyond ? 1 : 0;
    if (history != null) {
      history.add(nowNanos, answer.allowed(), beyond, load);
    }
  }

  /** Returns the policy that decided: the rule's, or one with the number of a subject. */
  private static @Nullable Policy policy(Status status) {
    CurrentLimit limit = status.currentLimit();
    return limit == null ? null : limit.policy();
  }

  private void judged(
      RuleKey key,
      Descriptor descriptor,
      Status status,
      Decision decision,
      long nowNanos,
      boolean allowed) {
    boolean fits = status.allowed();
    boolean shadow = decision.reason() == Reason.SHADOW;
    rules.judged(key.rule(), decision.reason(), fits, allowed);
    Policy policy = key.rule().policy();
    Long permits = descriptor.permits();
    boolean window = policy != null && policy.algorithm() != Algorithm.CONCURRENCY;
    if (policy != null && window && permits != null) {
      windows.add(key, policy.quota().windowNanos(), nowNanos, permits, !fits || shadow);
    }
  }

  /**
   * Returns, for each position of a descriptor, the number of requests to which a limit applied by
   * it.
   */
  long[] matched() {
    return matched.clone();
  }

  /** Ends the collection. To be called once. */
  ReplaySummary summary(Source source, boolean stopped, List<String> warnings, Duration timeTaken) {
    Counts counts =
        new Counts(
            requests,
            requests - denied,
            denied,
            deniedForTrouble,
            shadowDenied,
            tolerated,
            unlimited,
            unreadable,
            outOfOrder,
            requests == 0 ? null : (Long) firstNanos,
            requests == 0 ? null : (Long) lastNanos);
    List<PolicyCount> policies = rules.policyCounts();
    return new ReplaySummary(
        source,
        stopped,
        counts,
        policies,
        rules.queueCounts(),
        seats.counts(policies),
        refused.top(ReplaySummary.LISTED).stream()
            .map(each -> new RefusedKey(name(each.key()), each.key().key(), each.count()))
            .toList(),
        refused.exact(),
        windows.finish().stream().map(ReplayTally::busyWindow).toList(),
        windows.complete(),
        unreadableLines,
        warnings,
        timeTaken);
  }

  private static BusyWindow busyWindow(BusyWindows.Window window) {
    Policy policy = window.key().rule().policy();
    return new BusyWindow(
        name(window.key()),
        window.key().key(),
        window.startNanos(),
        policy == null ? 0 : policy.quota().windowNanos(),
        window.permits(),
        window.requests(),
        window.denied());
  }

  private static String name(RuleKey key) {
    Policy policy = key.rule().policy();
    return policy == null ? key.rule().path() : policy.name();
  }
}
