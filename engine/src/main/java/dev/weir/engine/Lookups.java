package dev.weir.engine;

import dev.weir.Reason;
import dev.weir.Ticker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Has the limits of subjects looked up, and requests wait for them. Safe for use by many threads.
 */
final class Lookups implements AutoCloseable {
  /*
   * How is Lookups designed, and why? A subject is asked for once at a time: a crowd of requests of
   * one new customer makes one load, which all of them wait for. The time is the load's, counted
   * from its beginning, not each request's: so no request waits for longer, a load needs one timer
   * whatever the crowd, and a source that never answers is asked once in that time for a subject.
   * A load that has ended, by its answer, by its time or at the close, is forgotten: an answer that
   * comes later finds no request, and the source keeps it for the next one.
   *
   * What waits is bounded. Beyond the bound a request does not wait, so its answer says OVERLOADED.
   */

  private record Subject(String domain, String key, String value) {}

  private final KeyPolicies policies;
  private final Ticker ticker;
  private final SubjectSettings settings;
  private final SubjectCounters counters;
  private final ConcurrentHashMap<Subject, Load> loads = new ConcurrentHashMap<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile boolean closed;

  Lookups(KeyPolicies policies, Ticker ticker, SubjectSettings settings, SubjectCounters counters) {
    this.policies = policies;
    this.ticker = ticker;
    this.settings = settings;
    this.counters = counters;
  }

  /** One question to the source, and those who wait for its answer. */
  private final class Load {
    private final Subject subject;
    private final List<Consumer<@Nullable SubjectLimits>> waiters = new ArrayList<>(1);
    private Ticker.@Nullable Scheduled timer;
    private boolean over;

    Load(Subject subject) {
      this.subject = subject;
    }

    synchronized boolean join(Consumer<@Nullable SubjectLimits> waiter) {
      if (!over) {
        waiters.add(waiter);
      }
      return !over;
    }

    void begin() {
      counters.loads.increment();
      Ticker.Scheduled end = ticker.schedule(settings.waitNanos(), () -> end(null));
      synchronized (this) {
        timer = end;
      }
      try {
        policies.load(subject.domain, subject.key, subject.value, this::end);
      } catch (RuntimeException e) {
        end(null);
      }
      if (closed) {
        end(null); // The close may have come before this load was there to be ended.
      }
    }

    void end(@Nullable SubjectLimits limits) {
      Ticker.Scheduled off;
      synchronized (this) {
        if (over) {
          return;
        }
        over = true;
        off = timer;
      }
      if (off != null) {
        off.cancel();
      }
      loads.remove(subject, this);
      if (limits == null) {
        counters.late.increment();
      }
      RuntimeException failed = null;
      for (Consumer<@Nullable SubjectLimits> waiter : waiters) { // No other joins any more.
        try {
          waiter.accept(limits);
        } catch (RuntimeException e) {
          failed = e; // The others are answered all the same.
        }
      }
      if (failed != null) {
        throw failed;
      }
    }
  }

  /**
   * Has a request wait for all the subjects that it wants, and then calls {@code done} once: on a
   * thread of the source's, of the ticker's, or before this returns.
   */
  void await(String domain, Subjects subjects, Consumer<? super Subjects> done) {
    int size = subjects.size();
    if (waiting.addAndGet(size) > settings.maxWaiting()) {
      waiting.addAndGet(-size);
      subjects.waited(Reason.OVERLOADED);
      done.accept(subjects);
      return;
    }
    AtomicInteger missing = new AtomicInteger(size);
    for (int i = 0; i < size; i++) {
      int index = i;
      ask(
          new Subject(domain, subjects.key(i), subjects.value(i)),
          limits -> {
            subjects.known(index, limits);
            if (missing.decrementAndGet() == 0) {
              waiting.addAndGet(-size);
              subjects.waited(Reason.UNCERTAIN);
              done.accept(subjects);
            }
          });
    }
  }

  /** Has a subject looked up for the requests to come, if not too many are already. */
  void behind(String domain, String key, String value) {
    if (loads.size() < settings.maxWaiting()) {
      ask(new Subject(domain, key, value), limits -> {});
    }
  }

  private void ask(Subject subject, Consumer<@Nullable SubjectLimits> waiter) {
    while (true) {
      Load made = new Load(subject);
      Load before = loads.putIfAbsent(subject, made);
      Load load = before == null ? made : before;
      if (load.join(waiter)) {
        if (load == made) {
          load.begin();
        }
        return;
      }
      loads.remove(subject, load); // It has just ended, and is about to be removed.
    }
  }

  /** Returns for how many subjects requests wait now. */
  long waiting() {
    return waiting.get();
  }

  /** Ends all waiting: what is unknown stays so. */
  @Override
  public void close() {
    closed = true;
    List.copyOf(loads.values()).forEach(load -> load.end(null));
  }
}
