package dev.weir.engine;

import dev.weir.LoadSignal;
import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.internal.matching.PeriodicTask;
import dev.weir.engine.load.ProcessorLoad;
import dev.weir.rules.Problem;
import dev.weir.rules.Request;
import dev.weir.rules.RuleDefaults;
import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleSource;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An engine with everything that keeps it running: rules that are read again when their files
 * change, memory that is given back when keys no longer matter, a load that is measured, and the
 * stores. Middleware owns and calls one. Safe for use by many threads.
 *
 * <pre>{@code
 * RunningEngine engine = RunningEngine.builder().rules(Path.of("weir.yaml")).start();
 * engine.decide(Request.of("shop", "ip", "203.0.113.7"), answer -> ...);
 * }</pre>
 *
 * <p>Its periodic tasks run on the threads of its {@link Ticker}; the source of rules has a daemon
 * thread. {@link #close} ends all of them.
 */
public final class RunningEngine extends ForwardingDecider implements AutoCloseable {
  private static final Duration EXPIRY = Duration.ofSeconds(1);

  private final Engine engine;
  private final ReloadListener listener;
  private final @Nullable RuleSource source;
  private final Ticker ticker;
  private final List<PeriodicTask> housekeeping = new ArrayList<>();

  private RunningEngine(Builder builder, Engine engine) {
    super(engine);
    this.engine = engine;
    this.listener = builder.listener;
    this.source = builder.source();
    this.ticker = builder.ticker;
  }

  /** Returns a builder of an engine that counts in this process. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder of a {@link RunningEngine}. Not safe for use by several threads. */
  public static final class Builder {
    private List<Path> paths = List.of();
    private @Nullable RuleSet rules;
    private @Nullable RuleSource source;
    private RuleDefaults defaults = RuleDefaults.DENY;
    private @Nullable Store shared;
    private @Nullable Store memory;
    private long maxKeys = MemoryStore.DEFAULT_MAX_KEYS;
    private long maxBytes;
    private EngineSettings settings = EngineSettings.DEFAULTS;
    private LoadSignal load = LoadSignal.UNKNOWN;
    private Ticker ticker = Ticker.system();
    private ReloadListener listener = new LoggedReloads();
    private KeyPolicies policies = KeyPolicies.NONE;
    private SubjectSettings subjects = SubjectSettings.DEFAULTS;

    private Builder() {}

    /**
     * Sets files or folders to read the rules from, as {@link Rules#load} reads them, and watches
     * them.
     */
    public Builder rules(Path... files) {
      paths = List.of(files);
      rules = null;
      source = null;
      return this;
    }

    /** Sets a source of rules and follows it; it is closed with the engine. */
    public Builder rules(RuleSource ruleSource) {
      source = ruleSource;
      paths = List.of();
      rules = null;
      return this;
    }

    /** Sets the rules themselves; {@link #apply} changes them. */
    public Builder rules(RuleSet ruleSet) {
      rules = ruleSet;
      paths = List.of();
      source = null;
      return this;
    }

    /** Sets the properties of rules from files that do not set them. */
    public Builder defaults(RuleDefaults ruleDefaults) {
      defaults = ruleDefaults;
      return this;
    }

    /** Adds a store that other processes share, for rules with {@code store: shared}. */
    public Builder shared(Store store) {
      shared = store;
      return this;
    }

    /**
     * Sets the store that counts in this process, such as one that keeps its counts over restarts;
     * its own bounds hold then, and it is closed with the engine. It may answer later, as that of
     * {@link MemoryStore.Builder#buildAnswering} does. Default: a new {@link MemoryStore}.
     */
    public Builder memory(Store store) {
      memory = store;
      return this;
    }

    /** Sets how many keys may be counted in this process, at least 1. */
    public Builder maxKeys(long keys) {
      maxKeys = keys;
      return this;
    }

    /** Sets how much memory they may take, in bytes, at least 1. Default: a share of the heap. */
    public Builder maxBytes(long bytes) {
      maxBytes = bytes;
      return this;
    }

    public Builder settings(EngineSettings engineSettings) {
      settings = engineSettings;
      return this;
    }

    /** Sets the load on which elastic rules depend; a {@link ProcessorLoad} is polled. */
    public Builder load(LoadSignal signal) {
      load = signal;
      return this;
    }

    public Builder ticker(Ticker newTicker) {
      ticker = newTicker;
      return this;
    }

    /** Sets the source of the limits of subjects, for rules with {@code by}. */
    public Builder subjects(KeyPolicies keyPolicies) {
      policies = keyPolicies;
      return this;
    }

    /**
     * Sets the source of the limits of subjects, like {@link #subjects(KeyPolicies)}, and how long
     * requests wait for them.
     */
    public Builder subjects(KeyPolicies keyPolicies, SubjectSettings subjectSettings) {
      policies = keyPolicies;
      subjects = subjectSettings;
      return this;
    }

    /** Sets the receiver of changed rules, instead of the platform's log. */
    public Builder listener(ReloadListener reloadListener) {
      listener = reloadListener;
      return this;
    }

    private @Nullable RuleSource source() {
      return paths.isEmpty() ? source : RuleSource.files(paths, defaults);
    }

    /**
     * Reads the rules, puts them in force, and starts the threads.
     *
     * @throws RulesException if the rules have errors; the stores are closed then
     */
    public RunningEngine start() {
      Store local = memory == null ? newMemory() : memory;
      RoutedStore store = shared == null ? RoutedStore.local(local) : RoutedStore.of(local, shared);
      Engine engine =
          Engine.builder(store)
              .ticker(ticker)
              .settings(settings)
              .load(load)
              .subjects(policies, subjects)
              .build();
      RunningEngine running = new RunningEngine(this, engine);
      try {
        running.begin(rules, load);
        return running;
      } catch (RuntimeException | Error e) {
        running.close();
        throw e;
      }
    }

    private MemoryStore newMemory() {
      return maxBytes == 0 ? new MemoryStore(maxKeys) : new MemoryStore(maxKeys, maxBytes);
    }
  }

  private void begin(@Nullable RuleSet given, LoadSignal load) {
    if (given != null) {
      applied(given, List.of());
    } else if (source != null) {
      Rules.LoadResult loaded = source.load();
      RuleSet first = loaded.ruleSet();
      if (first == null) {
        throw new RulesException(loaded.problems());
      }
      applied(first, loaded.problems());
      source.follow(first, new Taker());
    }
    repeat("expiry", EXPIRY, engine::expire);
    if (load instanceof ProcessorLoad processors) {
      processors.poll();
      repeat("load", ProcessorLoad.PERIOD, processors::poll);
    }
  }

  private void repeat(String what, Duration period, Runnable turn) {
    housekeeping.add(
        PeriodicTask.start(
            ticker,
            period.toNanos(),
            () -> {
              try {
                turn.run();
              } catch (RuntimeException | Error e) {
                listener.failed(what, e);
              }
            }));
  }

  private void applied(RuleSet rules, List<Problem> problems) {
    List<String> changes = engine.rules().diff(rules);
    boolean first = engine.revision() == 0;
    long revision = engine.apply(rules);
    listener.applied(
        revision,
        rules,
        first ? List.of() : changes,
        problems.stream().filter(each -> each.severity() == Severity.WARNING).toList());
  }

  /** A receiver that puts the rules from the source in force. */
  private final class Taker implements RuleSource.Taker {
    @Override
    public List<Problem> changed(Rules.LoadResult loaded) {
      RuleSet rules = loaded.ruleSet();
      List<Problem> problems = loaded.problems();
      if (rules != null) {
        try {
          applied(rules, problems);
          return List.of();
        } catch (RulesException e) {
          problems = e.problems();
        }
      } else {
        engine.reloadFailed();
      }
      listener.refused(engine.revision(), problems);
      return problems;
    }

    @Override
    public void failed(Throwable error) {
      listener.failed("watching rules", error);
    }
  }

  /**
   * Reads the rules once more from their source, now. Without a source this does nothing.
   *
   * @throws RulesException if the rules have errors; those before stay in force
   */
  public synchronized void reload() {
    if (source == null) {
      return;
    }
    Rules.LoadResult loaded = source.load();
    RuleSet rules = loaded.ruleSet();
    if (rules == null) {
      engine.reloadFailed();
      throw new RulesException(loaded.problems());
    }
    applied(rules, loaded.problems());
  }

  /**
   * Puts other rules in force.
   *
   * @throws RulesException if {@link Engine#apply} throws it
   */
  public void apply(RuleSet rules) {
    applied(rules, List.of());
  }

  /** Returns the engine, for its rules and counts. It is closed with this object. */
  public Engine engine() {
    return engine;
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    engine.decide(request, done);
  }

  /** Ends the watching, the threads and the stores; waiting requests are refused. */
  @Override
  public void close() {
    if (source != null) {
      source.close();
    }
    housekeeping.forEach(PeriodicTask::close);
    engine.close();
  }
}
