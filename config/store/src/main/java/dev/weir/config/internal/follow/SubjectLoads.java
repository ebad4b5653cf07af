package dev.weir.config.internal.follow;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.Records;
import dev.weir.config.Subject;
import dev.weir.engine.SubjectLimits;
import dev.weir.internal.Backoff;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** Loads of records from a store, in batches of many subjects. Safe for use by many threads. */
public final class SubjectLoads {
  /*
   * How is SubjectLoads designed, and why? At most two queries are in flight. Subjects that are
   * needed meanwhile go with the next one, so the more are needed, the fewer queries a subject
   * costs; and a process makes at most two queries to a store at once.
   *
   * A query that began before a record changed may be answered after the change was reported, with
   * the former record. So a change that is reported while its subject is loaded marks that load,
   * even if the table never had the subject; the answer is discarded, and the subject is loaded
   * once more. Ending a load and keeping its answer is one step for listeners to changes: they hold
   * the same lock, so a change comes either before and marks the load, or after and finds the
   * answer in the table.
   *
   * A failure is reported to all waiting callers. From then on calls are answered "unknown" at
   * once, for a random part of a time that doubles with each failure; then one query is made, and
   * two again once it is answered. No timer is needed: the next query waits for the next call.
   */
  public static final int MAX_BATCH = 100;
  public static final int MAX_UNDER_WAY = 2;

  /**
   * The most subjects waiting; more than the engine has waiting, for requests and in the
   * background.
   */
  public static final int MAX_PENDING = 20_000;

  /** The most characters of all pending subjects; usual ones have some dozens each. */
  public static final long MAX_PENDING_CHARACTERS = 256L * MAX_PENDING;

  /** The bounds on the random waits after failures. */
  public static final Backoff WAITS_NANOS = new Backoff(20_000_000, 2_000_000_000);

  private static final System.Logger LOG = System.getLogger("dev.weir.config");

  /** The keeper of answers. Called under the lock. */
  public interface Keeper {
    /** Returns the known limits that are not outdated, or null. */
    @Nullable SubjectLimits known(Subject subject);

    /** Keeps the answer for one subject, and returns its limits. */
    SubjectLimits keep(Subject subject, Records answer);
  }

  private static final class Load {
    final Subject subject;
    final List<Consumer<? super @Nullable SubjectLimits>> waiters = new ArrayList<>(1);
    boolean underWay;
    boolean outdated;

    Load(Subject subject) {
      this.subject = subject;
    }
  }

  /** An answer that is handed on without the lock. */
  private record AnsweredLoad(
      Consumer<? super @Nullable SubjectLimits> waiter, @Nullable SubjectLimits limits) {}

  private final ConfigStore store;
  private final Ticker ticker;
  private final Executor executor;
  private final LongUnaryOperator jitter;
  private final Keeper keeper;
  private final Object lock;
  private final Map<Subject, Load> loads = new HashMap<>();
  private final Queue<Load> waiting = new ArrayDeque<>();
  private long characters;
  private int underWay;
  private long queries;
  private long asked;
  private long failed;
  private long again;
  private boolean closed;

  /** The number of failures since the last success. */
  private volatile int failures;

  private volatile long notBeforeNanos;

  /**
   * Creates the loads.
   *
   * @param executor with threads that may wait
   * @param jitter draws from 0 to a bound
   * @param lock under which the keeper's table is written
   */
  public SubjectLoads(
      ConfigStore store,
      Ticker ticker,
      Executor executor,
      LongUnaryOperator jitter,
      Keeper keeper,
      Object lock) {
    this.store = store;
    this.ticker = ticker;
    this.executor = executor;
    this.jitter = jitter;
    this.keeper = keeper;
    this.lock = lock;
  }

  /** Returns whether no query is made now, since the store has just failed. */
  public boolean resting() {
    return failures > 0 && ticker.nanos() - notBeforeNanos < 0;
  }

  /** Loads a subject and hands on the answer; null if it cannot be known now. */
  public void load(Subject subject, Consumer<? super @Nullable SubjectLimits> done) {
    SubjectLimits known = null;
    boolean joined = false;
    List<List<Load>> batches = List.of();
    synchronized (lock) {
      Load load = loads.get(subject);
      known = load == null ? keeper.known(subject) : null; // It may have been loaded just now.
      if (load == null && known == null) {
        load = begin(subject);
        batches = take();
      }
      if (load != null) {
        load.waiters.add(done);
        joined = true;
      }
    }
    if (!joined) {
      done.accept(known);
    }
    run(batches);
  }

  /** Loads a subject once more, unless it is being loaded or a full batch is waiting. */
  public void refresh(Subject subject) {
    List<List<Load>> batches = List.of();
    synchronized (lock) {
      if (!loads.containsKey(subject) && waiting.size() < MAX_BATCH) {
        Load unused = begin(subject);
        batches = take();
      }
    }
    run(batches);
  }

  private @Nullable Load begin(Subject subject) {
    boolean room = loads.size() < MAX_PENDING && characters < MAX_PENDING_CHARACTERS;
    if (closed || !room || resting()) {
      return null;
    }
    Load load = new Load(subject);
    loads.put(subject, load);
    characters += characters(subject);
    waiting.add(load);
    return load;
  }

  private static int characters(Subject subject) {
    return subject.domain().length() + subject.key().length() + subject.value().length();
  }

  /** Removes as many batches as may be in flight now. */
  private List<List<Load>> take() {
    List<List<Load>> batches = new ArrayList<>(1);
    while (underWay < (failures > 0 ? 1 : MAX_UNDER_WAY) && !waiting.isEmpty()) {
      List<Load> batch = new ArrayList<>();
      for (Load load = waiting.poll(); load != null; load = waiting.poll()) {
        load.underWay = true;
        batch.add(load);
        if (batch.size() == MAX_BATCH) {
          break;
        }
      }
      underWay++;
      queries++;
      asked += batch.size();
      batches.add(batch);
    }
    return batches;
  }

  private void run(List<List<Load>> batches) {
    for (List<Load> batch : batches) {
      try {
        executor.execute(() -> query(batch));
      } catch (RuntimeException | Error e) {
        answer(batch, null); // Rejected, or no memory for a thread.
      }
    }
  }

  private void query(List<Load> batch) {
    Records answer = null;
    try {
      answer = store.records(batch.stream().map(load -> load.subject).toList());
    } catch (RuntimeException | Error e) {
      if (failures == 0) {
        LOG.log(
            System.Logger.Level.WARNING,
            "records: {0}; what is known of subjects stays, others are not known",
            e.toString());
      }
    }
    answer(batch, answer);
  }

  private void answer(List<Load> batch, @Nullable Records answer) {
    List<AnsweredLoad> answered = new ArrayList<>();
    List<List<Load>> batches;
    synchronized (lock) {
      underWay--;
      if (answer == null) {
        failed++;
        long bound = WAITS_NANOS.longest(failures);
        failures++;
        notBeforeNanos = ticker.nanos() + jitter.applyAsLong(bound);
        batch.forEach(load -> end(load, null, answered));
        waiting.forEach(load -> end(load, null, answered));
        waiting.clear();
      } else {
        failures = 0;
        batch.forEach(load -> keep(load, answer, answered));
      }
      batches = take();
    }
    run(batches);
    answered.forEach(SubjectLoads::deliver);
  }

  private void keep(Load load, Records answer, List<AnsweredLoad> answered) {
    if (load.outdated) {
      load.outdated = false;
      load.underWay = false;
      again++;
      waiting.add(load);
    } else {
      SubjectLimits limits = null;
      try {
        limits = keeper.keep(load.subject, answer);
      } catch (RuntimeException | Error e) {
        // Such as a lack of memory for the table. This answer is not kept; the others are.
        LOG.log(System.Logger.Level.WARNING, "limits of a subject: not kept, {0}", e.toString());
      }
      end(load, limits, answered);
    }
  }

  private void end(Load load, @Nullable SubjectLimits limits, List<AnsweredLoad> answered) {
    if (loads.remove(load.subject) != null) {
      characters -= characters(load.subject);
    }
    load.waiters.forEach(waiter -> answered.add(new AnsweredLoad(waiter, limits)));
  }

  /** Hands on an answer; an exception of one caller does not affect others. */
  private static void deliver(AnsweredLoad answered) {
    try {
      answered.waiter.accept(answered.limits);
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.WARNING, "limits of a subject: not handed on", e);
    }
  }

  /** Marks a changed record. Called under the lock. */
  public void changed(Subject subject) {
    Load load = loads.get(subject);
    if (load != null && load.underWay) {
      load.outdated = true;
    }
  }

  /** Marks that any record may have changed. Called under the lock. */
  public void allChanged() {
    loads.values().forEach(load -> load.outdated = load.underWay);
  }

  /** Stops loading; waiting callers get the answer "unknown". */
  public void close() {
    List<AnsweredLoad> answered = new ArrayList<>();
    synchronized (lock) {
      closed = true;
      waiting.forEach(load -> end(load, null, answered));
      waiting.clear();
    }
    answered.forEach(SubjectLoads::deliver);
  }

  /** Returns the number of queries. Called under the lock, as the following methods. */
  public long queries() {
    return queries;
  }

  /** Returns the number of subjects in these queries. */
  public long queried() {
    return asked;
  }

  /** Returns the number of queries that failed. */
  public long failed() {
    return failed;
  }

  /** Returns the number of answers that were discarded, since the record had changed meanwhile. */
  public long again() {
    return again;
  }
}
