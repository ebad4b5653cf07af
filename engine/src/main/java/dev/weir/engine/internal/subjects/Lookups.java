package dev.weir.engine.internal.subjects;

import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectLimits;
import dev.weir.engine.SubjectSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The look-ups of subjects' limits, for which requests wait. Safe for use by many threads. */
public final class Lookups implements AutoCloseable {
  /*
   * How is Lookups designed, and why? A subject is loaded once at a time: a crowd of requests of
   * one new customer makes one load, for which all of them wait. The time belongs to the load,
   * counted from its beginning, not to each request: so no request waits for longer, a load needs
   * one timer whatever the crowd, and a source that never answers is called once in that time for a
   * subject. A load that has ended, by its answer, by its time or at the close, is forgotten: an
   * answer that comes later finds no request, and the source keeps it for the next one. Only a load
   * that failed is kept until its time is over, and answers for the source, which is called no more
   * often than one that never answers.
   *
   * The number of waiting requests is bounded. Beyond the bound a request does not wait, and its
   * answer is OVERLOADED. Look-ups in the background have a bound of their own, so that requests
   * that hang do not block them; and failures are kept only if there is room. All subjects that are
   * looked up, or have failed, have a bound on their characters as well, since callers choose them.
   *
   * Waiting requests are independent of each other. So all are answered, even if the callback of
   * one throws, and its exception is thrown to the caller that delivered the answer.
   */

  /** The bound on the average number of characters of a subject; a usual one has some dozens. */
  static final int MEAN_CHARACTERS = 512;

  private record Subject(String domain, String key, String value) {
    int characters() {
      return domain.length() + key.length() + value.length();
    }
  }

  private final KeyPolicies policies;
  private final Ticker ticker;
  private final SubjectSettings settings;
  private final SubjectCounters counters;
  private final ConcurrentHashMap<Subject, Load> loads = new ConcurrentHashMap<>();
  private final AtomicInteger waiting = new AtomicInteger();

  /** The characters of the subjects of all loads. */
  private final AtomicLong characters = new AtomicLong();

  /** The number of subjects that are looked up for requests to come. */
  private final AtomicInteger behind = new AtomicInteger();

  private volatile boolean closed;

  public Lookups(
      KeyPolicies policies, Ticker ticker, SubjectSettings settings, SubjectCounters counters) {
    this.policies = policies;
    this.ticker = ticker;
    this.settings = settings;
    this.counters = counters;
  }

  private enum State {
    WAITING,
    /**
     * The source cannot give the limits now. It is not called again before this load is forgotten.
     */
    FAILED,
    FORGOTTEN
  }

  /** One call to the source, and the requests that wait for its answer. */
  private final class Load {
    private final Subject subject;
    private List<Consumer<@Nullable SubjectLimits>> waiters = new ArrayList<>(1);
    private Ticker.@Nullable ScheduledTask timer;
    private State state = State.WAITING;

    Load(Subject subject) {
      this.subject = subject;
    }

    /**
     * Adds a waiting request; returns false if this load is forgotten, so that the subject has to
     * be loaded once more.
     */
    boolean join(Consumer<@Nullable SubjectLimits> waiter) {
      synchronized (this) {
        if (state == State.WAITING) {
          waiters.add(waiter);
          return true;
        }
        if (state == State.FORGOTTEN) {
          return false;
        }
      }
      waiter.accept(null);
      return true;
    }

    /**
     * Calls the source. Throws nothing: this thread runs one request, and others may wait for the
     * same load.
     */
    void begin() {
      counters.loads.increment();
      try {
        forgetWith(ticker.schedule(settings.waitNanos(), this::forget));
        policies.load(subject.domain, subject.key, subject.value, this::answered);
        if (closed) {
          forget(); // The close may have come before this load could be ended by it.
        }
      } catch (Throwable e) {
        Throwable unused = end(null, State.FAILED);
      }
    }

    private void forgetWith(Ticker.ScheduledTask end) {
      synchronized (this) {
        if (state != State.FORGOTTEN) {
          timer = end;
          return;
        }
      }
      end.cancel();
    }

    private void answered(@Nullable SubjectLimits limits) {
      rethrow(end(limits, limits == null ? State.FAILED : State.FORGOTTEN));
    }

    private void forget() {
      rethrow(end(null, State.FORGOTTEN));
    }

    /**
     * Answers the waiting requests, if that has not happened; returns the first exception that one
     * of them threw.
     */
    @Nullable Throwable end(@Nullable SubjectLimits limits, State wish) {
      List<Consumer<@Nullable SubjectLimits>> all;
      Ticker.@Nullable ScheduledTask off = null;
      synchronized (this) {
        boolean kept =
            wish == State.FAILED
                && timer != null
                && !closed
                && loads.size() <= settings.maxWaiting()
                && characters.get() <= mostCharacters() / 2;
        State next = kept ? State.FAILED : State.FORGOTTEN;
        if (state == next || state == State.FORGOTTEN) {
          return null;
        }
        if (state == State.WAITING && limits == null) {
          counters.late.increment();
        }
        state = next;
        all = waiters; // No other request joins from here on.
        waiters = List.of();
        if (!kept) {
          off = timer;
          timer = null;
          dropped(this);
        }
      }
      if (off != null) {
        off.cancel();
      }
      return forAll(all, waiter -> waiter.accept(limits));
    }
  }

  /** Runs an action for all elements, whatever fails; returns the first exception. */
  private static <T> @Nullable Throwable forAll(List<T> all, Consumer<? super T> action) {
    Throwable first = null;
    for (T each : all) {
      try {
        action.accept(each);
      } catch (Throwable e) {
        first = first == null ? e : first;
      }
    }
    return first;
  }

  private static void rethrow(@Nullable Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    if (thrown instanceof RuntimeException exception) {
      throw exception;
    }
    if (thrown != null) {
      throw new IllegalStateException(thrown);
    }
  }

  /**
   * Makes a request wait for all the subjects that it wants, and then calls {@code done} once: on a
   * thread of the source, of the ticker, or before this returns.
   */
  public void await(String domain, Subjects subjects, Consumer<? super Subjects> done) {
    int wanted = subjects.wanted();
    boolean room = characters.get() < mostCharacters();
    if (waiting.addAndGet(wanted) > settings.maxWaiting() || !room) {
      waiting.addAndGet(-wanted);
      subjects.waited(Reason.OVERLOADED);
      done.accept(subjects);
      return;
    }
    AtomicInteger missing = new AtomicInteger(wanted);
    int asked = 0;
    for (int i = 0; asked < wanted; i++) { // The last answer passes the subjects on.
      int index = i;
      if (subjects.wanted(i)) {
        asked++;
        load(
            new Subject(domain, subjects.key(i), subjects.value(i)),
            limits -> {
              subjects.known(index, limits);
              if (missing.decrementAndGet() == 0) {
                waiting.addAndGet(-wanted);
                subjects.waited(Reason.UNCERTAIN);
                done.accept(subjects);
              }
            });
      }
    }
  }

  /** Looks up a subject for the requests to come, if there are not too many such look-ups. */
  public void prefetch(String domain, String key, String value) {
    Subject subject = new Subject(domain, key, value);
    if (loads.containsKey(subject) || characters.get() > mostCharacters() / 2) {
      return;
    }
    if (behind.incrementAndGet() > settings.maxWaiting()) {
      behind.decrementAndGet();
      return;
    }
    load(subject, limits -> behind.decrementAndGet());
  }

  private void load(Subject subject, Consumer<@Nullable SubjectLimits> waiter) {
    while (true) {
      Load made = new Load(subject);
      Load before = loads.putIfAbsent(subject, made);
      Load load = before == null ? made : before;
      if (load == made) {
        characters.addAndGet(subject.characters());
      }
      if (load.join(waiter)) {
        if (load == made) {
          load.begin();
        }
        return;
      }
      dropped(load); // The load has just been forgotten.
    }
  }

  private void dropped(Load load) {
    if (loads.remove(load.subject, load)) {
      characters.addAndGet(-load.subject.characters());
    }
  }

  private long mostCharacters() {
    return (long) settings.maxWaiting() * MEAN_CHARACTERS;
  }

  /**
   * Returns how many characters the subjects have that are looked up, or whose look-up has failed.
   */
  long characters() {
    return characters.get();
  }

  /** Returns how many subjects requests wait for now. */
  public long waiting() {
    return waiting.get();
  }

  /**
   * Ends all waiting after a time: what waits then is answered, and no further request waits.
   *
   * @param nanos zero or more
   */
  public void endWithin(long nanos) {
    if (nanos <= 0) {
      close();
    } else {
      Ticker.ScheduledTask unused = ticker.schedule(nanos, this::close);
    }
  }

  /** Ends all waiting: unknown limits stay unknown. */
  @Override
  public void close() {
    closed = true;
    rethrow(forAll(List.copyOf(loads.values()), Load::forget));
  }
}
