package dev.weir.engine;

import dev.weir.Charges;
import dev.weir.Fingerprint;
import dev.weir.LoadSignal;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Judges requests by the rules in force: one request with several descriptors to one answer, all or
 * nothing. Safe for use by many threads; each request is judged by exactly one revision.
 *
 * <p>The way of a request: the rules match each descriptor, each match becomes a charge, the store
 * makes all charges or none, and the answer says how each descriptor fared.
 */
public final class Engine implements AutoCloseable {
  /** When to come back to a server that has too much to do. */
  private static final long RETRY_OVERLOAD_NANOS = 1_000_000_000L;

  private final RoutedStore store;
  private final Ticker ticker;
  private final EngineSettings settings;
  private final Fingerprint fingerprint;
  private final LoadSignal load;
  private final RuleLimits limits;
  private final Overrides overrides;

  private final DecisionTimes decisionTimes = new DecisionTimes();
  private final LongAdder requests = new LongAdder();
  private final LongAdder denied = new LongAdder();
  private final LongAdder keySpaceFull = new LongAdder();
  private final LongAdder overloaded = new LongAdder();
  private final LongAdder uncertain = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final LongAdder reloads = new LongAdder();
  private final LongAdder reloadFailures = new LongAdder();

  private volatile InForce inForce = InForce.NOTHING;

  private Engine(
      Store store,
      Ticker ticker,
      EngineSettings settings,
      Fingerprint fingerprint,
      LoadSignal load) {
    this.store = store instanceof RoutedStore routed ? routed : RoutedStore.local(store);
    this.ticker = ticker;
    this.settings = settings;
    this.fingerprint = fingerprint;
    this.load = load;
    this.limits = new RuleLimits(this.store);
    this.overrides = new Overrides(this.store);
  }

  /**
   * Creates an engine without rules. It closes the store when it is closed.
   *
   * @param store a {@link RoutedStore} where rules may choose between stores; any other is the only
   *     one, which no other process shares
   */
  public static Engine create(Store store, Ticker ticker, EngineSettings settings) {
    return create(store, ticker, settings, store.fingerprint());
  }

  /**
   * As {@link #create(Store, Ticker, EngineSettings)}, with other fingerprints than the store's.
   */
  public static Engine create(
      Store store, Ticker ticker, EngineSettings settings, Fingerprint fingerprint) {
    return new Engine(store, ticker, settings, fingerprint, LoadSignal.UNKNOWN);
  }

  /**
   * As {@link #create(Store, Ticker, EngineSettings)}, with what elastic rules listen to. Without,
   * they are as hard ones.
   */
  public static Engine create(
      Store store, Ticker ticker, EngineSettings settings, LoadSignal load) {
    return new Engine(store, ticker, settings, store.fingerprint(), load);
  }

  /**
   * Puts a rule set in force, in one step, instead of the one before. State survives, save where a
   * rule moves to another store.
   *
   * @return the new revision, counted from 1
   * @throws RulesException if there is no such store as a rule asks for, or it cannot take the
   *     rule; the rules before stay in force, as they do after any other exception or error
   */
  public synchronized long apply(RuleSet rules) {
    long now = ticker.nanos();
    InForce before = inForce;
    try {
      inForce = limits.bind(before, rules, now);
    } catch (RuntimeException | Error e) {
      reloadFailures.increment();
      throw e;
    }
    limits.retire(before, inForce, now);
    reloads.increment();
    return inForce.revision;
  }

  /** Counts a rule set that never got as far as {@link #apply}. */
  public void reloadFailed() {
    reloadFailures.increment();
  }

  /** Returns the rules in force, empty before the first. */
  public RuleSet rules() {
    return inForce.rules;
  }

  /** Returns the number of the rule set in force, 0 before the first. */
  public long revision() {
    return inForce.revision;
  }

  /**
   * Judges a request now. Calls {@code done} exactly once: before returning if the store is in this
   * process, else on a thread of the store's. A request that cannot be judged gets an answer with
   * an error.
   */
  public void decide(Request request, Consumer<? super Answer> done) {
    decideAt(request, ticker.nanos(), done);
  }

  /**
   * Judges a request now.
   *
   * @throws IllegalStateException if the store does not answer on the caller's thread
   */
  public Answer decide(Request request) {
    return decideAt(request, ticker.nanos());
  }

  /**
   * Judges a request at the caller's own time, on the ticker's scale.
   *
   * @throws IllegalStateException if the store does not answer on the caller's thread
   */
  public Answer decideAt(Request request, long nowNanos) {
    @Nullable Answer[] answer = {null};
    decideAt(request, nowNanos, decided -> answer[0] = decided);
    Answer decided = answer[0];
    if (decided == null) {
      throw new IllegalStateException("store: answers later (expected: one in this process)");
    }
    return decided;
  }

  /**
   * Answers a request without deciding it, because there is no time for that: with {@link
   * Reason#OVERLOADED}. Lets it pass if all policies that could refuse it answer a failure with
   * {@code ALLOW}; {@code LOCAL} denies, for deciding here is what there is no time for. Charges
   * nothing.
   */
  public void refuse(Request request, Consumer<? super Answer> done) {
    InForce current = inForce;
    String problem = problem(request, current);
    if (problem != null) {
      errors.increment();
      done.accept(Answer.error(problem, current.revision));
      return;
    }
    long now = ticker.nanos();
    Judgement judgement = judgement(request, current, now, Double.NaN);
    Charges charges = judgement.charges();
    for (int i = 0; i < charges.size(); i++) {
      charges.result(i, Reason.OVERLOADED, 0, RETRY_OVERLOAD_NANOS, 0, now);
    }
    charges.allowed(forgiven(charges));
    Answer answer = judgement.answer(charges, settings);
    requests.increment();
    overloaded.increment();
    if (!answer.allowed()) {
      denied.increment();
    }
    done.accept(answer);
  }

  /** Returns whether a request passes of whose charges nobody knows whether they fit. */
  private static boolean forgiven(Charges charges) {
    boolean required = true;
    boolean anyAsked = false;
    boolean any = false;
    for (int i = 0; i < charges.size(); i++) {
      switch (charges.role(i)) {
        case REQUIRED -> required &= charges.forgiven(i);
        case ANY -> {
          anyAsked = true;
          any |= charges.forgiven(i);
        }
        case OPTIONAL -> {}
      }
    }
    return required && (any || !anyAsked);
  }

  /**
   * Judges many requests, each for itself and in their order, as if by {@link #decideAt(Request,
   * long)}, but faster: what the store has to fetch for them is fetched at once.
   *
   * @param nowNanos the time of each request, on the ticker's scale
   * @param loads the load at each time, as a {@link LoadSignal} tells it
   * @param done is given their answers, in their order if the store is in this process
   * @throws IllegalArgumentException if there are fewer times or loads than requests
   */
  public void decideAllAt(
      List<Request> requests, long[] nowNanos, double[] loads, Consumer<? super Answer> done) {
    int given = Math.min(nowNanos.length, loads.length);
    if (given < requests.size()) {
      throw new IllegalArgumentException(
          "nowNanos, loads: " + given + " (expected: at least " + requests.size() + ")");
    }
    decideAll(requests, nowNanos, loads, i -> done);
  }

  /**
   * Judges many requests now, each for itself and in their order, by one revision of the rules.
   * What the store has to fetch for them is fetched at once.
   *
   * @param done is given all answers, in the order of the requests, whenever and in whatever order
   *     the store gives them
   */
  public void decideAll(List<Request> requests, Consumer<? super List<Answer>> done) {
    if (requests.isEmpty()) {
      done.accept(List.of());
      return;
    }
    Answers answers = new Answers(requests.size(), done);
    long[] nowNanos = new long[requests.size()];
    double[] loads = new double[requests.size()];
    Arrays.fill(nowNanos, ticker.nanos());
    Arrays.fill(loads, load());
    decideAll(requests, nowNanos, loads, i -> answer -> answers.put(i, answer));
  }

  /** Returns the load if any rule listens to it: to ask for it may cost a look at the clock. */
  private double load() {
    return inForce.elastic ? load.load() : Double.NaN;
  }

  private void decideAll(
      List<Request> requests,
      long[] nowNanos,
      double[] loads,
      IntFunction<Consumer<? super Answer>> done) {
    long startNanos = ticker.nanos();
    InForce current = inForce;
    List<Object> judgements = new ArrayList<>(requests.size());
    for (int i = 0; i < requests.size(); i++) {
      String problem = problem(requests.get(i), current);
      if (problem != null) {
        judgements.add(problem);
      } else {
        Judgement judgement = judgement(requests.get(i), current, nowNanos[i], loads[i]);
        store.expect(judgement.charges());
        judgements.add(judgement);
      }
    }
    for (int i = 0; i < judgements.size(); i++) {
      if (judgements.get(i) instanceof Judgement judgement) {
        judge(judgement, judgement.charges(), nowNanos[i], startNanos, done.apply(i));
      } else {
        errors.increment();
        done.apply(i).accept(Answer.error((String) judgements.get(i), current.revision));
      }
    }
  }

  private void decideAt(Request request, long nowNanos, Consumer<? super Answer> done) {
    long startNanos = ticker.nanos();
    InForce current = inForce;
    String problem = problem(request, current);
    if (problem != null) {
      errors.increment();
      done.accept(Answer.error(problem, current.revision));
      return;
    }
    Judgement judgement = judgement(request, current, nowNanos, load());
    judge(judgement, judgement.charges(), nowNanos, startNanos, done);
  }

  private void judge(
      Judgement judgement,
      Charges charges,
      long nowNanos,
      long startNanos,
      Consumer<? super Answer> done) {
    store.decide(
        charges,
        nowNanos,
        decided -> {
          if (judgement.forgives(decided)) {
            judge(judgement, judgement.charges(), nowNanos, startNanos, done);
          } else {
            Answer answer = judgement.answer(decided, settings);
            count(answer, decided);
            decisionTimes.add(ticker.nanos() - startNanos);
            done.accept(answer);
          }
        });
  }

  private void count(Answer answer, Charges decided) {
    requests.increment();
    if (!answer.allowed()) {
      denied.increment();
    }
    for (int i = 0; i < decided.size(); i++) {
      switch (decided.reason(i)) {
        case KEY_SPACE_FULL -> keySpaceFull.increment();
        case UNCERTAIN -> uncertain.increment();
        default -> {}
      }
    }
  }

  /** Returns what makes a request impossible to judge, or null. */
  private @Nullable String problem(Request request, InForce current) {
    if (request.domain().isEmpty()) {
      return "rate limit domain must not be empty";
    }
    if (request.descriptors().isEmpty()) {
      return "rate limit descriptor list must not be empty";
    }
    if (current.revision == 0) {
      return "no rate limit configuration loaded";
    }
    if (request.domain().length() > settings.maxKeyLength()) {
      return tooMany("domain length", request.domain().length(), settings.maxKeyLength());
    }
    if (request.descriptors().size() > settings.maxDescriptors()) {
      return tooMany("descriptors", request.descriptors().size(), settings.maxDescriptors());
    }
    if (request.permits() < 0) {
      return "permits: " + request.permits() + " (expected: at least 0)";
    }
    for (Descriptor descriptor : request.descriptors()) {
      String problem = problem(descriptor);
      if (problem != null) {
        return problem;
      }
    }
    return null;
  }

  private @Nullable String problem(Descriptor descriptor) {
    Long permits = descriptor.permits();
    if (permits != null && permits < 0) {
      return "descriptor permits: " + permits + " (expected: at least 0)";
    }
    if (descriptor.entries().size() > settings.maxEntries()) {
      return tooMany("descriptor entries", descriptor.entries().size(), settings.maxEntries());
    }
    for (Entry entry : descriptor.entries()) {
      int length = Math.max(entry.key().length(), entry.value().length());
      if (length > settings.maxKeyLength()) {
        return tooMany("entry length", length, settings.maxKeyLength());
      }
    }
    return null;
  }

  private static String tooMany(String name, int value, int most) {
    return name + ": " + value + " (expected: at most " + most + ")";
  }

  /** Matches every descriptor and drops what is replaced. */
  private Judgement judgement(Request request, InForce current, long nowNanos, double load) {
    int size = request.descriptors().size();
    boolean domainKnown = current.rules.hasDomain(request.domain());
    Judgement judgement = new Judgement(current.revision, domainKnown, size, load);
    List<@Nullable Rule> matched = new ArrayList<>(size);
    List<String> replaced = List.of();
    for (Descriptor descriptor : request.descriptors()) {
      Rule rule =
          descriptor.limitOverride() == null
              ? current.rules.match(request.domain(), descriptor.entries())
              : null;
      matched.add(rule);
      if (rule != null && !rule.replaces().isEmpty()) {
        replaced = new ArrayList<>(replaced);
        replaced.addAll(rule.replaces());
      }
    }
    for (int i = 0; i < size; i++) {
      Descriptor descriptor = request.descriptors().get(i);
      Rule rule = matched.get(i);
      long permits = permits(request, descriptor);
      if (descriptor.limitOverride() != null && domainKnown) {
        judgement.override(
            overrides.limit(
                request.domain(), descriptor.limitOverride(), current.rules.defaults(), nowNanos),
            descriptor.limitOverride(),
            fingerprint(null, descriptor),
            permits);
      } else if (rule == null) {
        judgement.unmatched();
      } else if (!rule.name().isEmpty() && replaced.contains(rule.name())) {
        judgement.replaced(rule);
      } else {
        InForce.Bound bound = current.of(rule);
        judgement.rule(bound, descriptor, fingerprint(rule, descriptor), permits);
      }
    }
    return judgement;
  }

  private static long permits(Request request, Descriptor descriptor) {
    Long own = descriptor.permits();
    return own != null ? own : Math.max(1, request.permits());
  }

  /** Fingerprints the values that a counter belongs to; those of a shared level are its pattern. */
  private long fingerprint(@Nullable Rule rule, Descriptor descriptor) {
    long key = 0;
    for (int i = 0; i < descriptor.entries().size(); i++) {
      Entry entry = descriptor.entries().get(i);
      String value = rule != null && rule.sharedAt(i) ? rule.patternAt(i) : entry.value();
      key = fingerprint.add(fingerprint.add(key, entry.key()), value);
    }
    return key;
  }

  /** Forgets what no longer matters, a bounded amount; to be called every second or so. */
  public void expire() {
    store.expire(ticker.nanos());
  }

  /** Returns how full the store in this process is, the fuller of keys and bytes, 0 to 100. */
  public int fullPercent() {
    double keys = (double) store.keys() / store.maxKeys();
    double bytes = (double) store.bytes() / store.maxBytes();
    return (int) Math.min(100, 100 * Math.max(keys, bytes));
  }

  public EngineMetrics metrics() {
    return new EngineMetrics(
        limits.metrics(inForce.rules),
        requests.sum(),
        denied.sum(),
        errors.sum(),
        decisionTimes.counts(),
        DecisionTimes.boundsNanos(),
        decisionTimes.sumNanos(),
        keySpaceFull.sum(),
        overloaded.sum(),
        uncertain.sum(),
        store.keys(),
        store.maxKeys(),
        store.bytes(),
        store.maxBytes(),
        reloads.sum(),
        reloadFailures.sum(),
        revision());
  }

  @Override
  public void close() {
    store.close();
  }
}
