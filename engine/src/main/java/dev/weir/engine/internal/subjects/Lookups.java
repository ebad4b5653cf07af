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

/**
 * Has the limits of subjects looked up, and requests wait for them. Safe for use by many threads.
 */
public final class Lookups implements AutoCloseable {
  /*
   * How is Lookups designed, and why? A subject is asked for once at a time: a crowd of requests of
   * one new customer makes one load, which all of them wait for. The time is the load's, counted
   * from its beginning, not each request's: so no request waits for longer, a load needs one timer
   * whatever the crowd, and a source that never answers is asked once in that time for a subject.
   * A load that has ended, by its answer, by its time or at the close, is forgotten: an answer that
   * comes later finds no request, and the source keeps it for the next one. Only a load that failed
   * is kept until its time is over, and answers for the source, which is not asked any more often
   * than one that never answers.
   *
   * What waits is bounded. Beyond the bound a request does not wait, so its answer says OVERLOADED.
   * What is looked up behind has a bound of its own, so that requests that hang do not keep it from
   * being known; and failures are kept only where there is room. All subjects that are looked up, or
   * have failed, have a bound on their characters as well, since callers choose them.
   *
   * Those who wait know nothing of each other. So all are answered, whatever the callback of one
   * throws, and that is thrown where the answer came from.
   */

  /** Characters that a subject may have on average; a usual one has some dozens. */
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

  /** How many subjects are looked up for requests to come. */
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
    /** The source cannot know now. It is not asked again before this is forgotten. */
    FAILED,
    FORGOTTEN
  }

  /** One question to the source, and those who wait for its answer. */
  private final class Load {
    private final Subject subject;
    private List<Consumer<@Nullable SubjectLimits>> waiters = new ArrayList<>(1);
    private Ticker.@Nullable Scheduled timer;
    private State state = State.WAITING;

    Load(Subject subject) {
      this.subject = subject;
    }

    /** Returns false if this is forgotten: the subject has to be asked for once more. */
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

    /** Throws nothing: on this thread is one request, and others may wait for the same. */
    void begin() {
      counters.loads.increment();
      try {
        forgetWith(ticker.schedule(settings.waitNanos(), this::forget));
        policies.load(subject.domain, subject.key, subject.value, this::answered);
        if (closed) {
          forget(); // The close may have come before this load was there to be ended.
        }
      } catch (Throwable e) {
        Throwable unused = end(null, State.FAILED);
      }
    }

    private void forgetWith(Ticker.Scheduled end) {
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

    /** Answers those who wait, if that has not happened; returns what one of them threw first. */
    @Nullable Throwable end(@Nullable SubjectLimits limits, State wish) {
      List<Consumer<@Nullable SubjectLimits>> all;
      Ticker.@Nullable Scheduled off = null;
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
        all = waiters; // No other joins any more.
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

  /** Does something for all, whatever fails; returns what was thrown first. */
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
   * Has a request wait for all the subjects that it wants, and then calls {@code done} once: on a
   * thread of the source's, of the ticker's, or before this returns.
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
    for (int i = 0; asked < wanted; i++) { // The last answer hands the subjects on.
      int index = i;
      if (subjects.wanted(i)) {
        asked++;
        ask(
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

  /** Has a subject looked up for the requests to come, if not too many are already. */
  public void behind(String domain, String key, String value) {
    Subject subject = new Subject(domain, key, value);
    if (loads.containsKey(subject) || characters.get() > mostCharacters() / 2) {
      return;
    }
    if (behind.incrementAndGet() > settings.maxWaiting()) {
      behind.decrementAndGet();
      return;
    }
    ask(subject, limits -> behind.decrementAndGet());
  }

  private void ask(Subject subject, Consumer<@Nullable SubjectLimits> waiter) {
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
      dropped(load); // It has just been forgotten.
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

  /** Returns how many characters the subjects have that are looked up, or have failed. */
  long characters() {
    return characters.get();
  }

  /** Returns for how many subjects requests wait now. */
  public long waiting() {
    return waiting.get();
  }

  /** Ends all waiting: what is unknown stays so. */
  @Override
  public void close() {
    closed = true;
    rethrow(forAll(List.copyOf(loads.values()), Load::forget));
  }
}
