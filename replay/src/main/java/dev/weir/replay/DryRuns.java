package dev.weir.replay;

import dev.weir.internal.DaemonThreads;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The dry runs of a server: one at a time, on a thread of low priority, and the results of the last
 * ten. Safe for use by many threads.
 */
public final class DryRuns implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("dev.weir.replay");

  /** The number of results that are kept; an older one is dropped. */
  static final int KEPT = 10;

  private static final int ID_BYTES = 16;

  /** The state of a dry run. */
  public enum State {
    RUNNING,
    DONE,
    CANCELLED,
    FAILED;

    /** Returns the name in the JSON, for example {@code running}. */
    public String text() {
      return switch (this) {
        case RUNNING -> "running";
        case DONE -> "done";
        case CANCELLED -> "cancelled";
        case FAILED -> "failed";
      };
    }
  }

  /** The reason for which a dry run was not started. */
  public enum Refusal {
    /** Another one is running. */
    BUSY,
    /** Nothing was recorded in that time. */
    NOTHING_RECORDED,
    /** The server is closing. */
    CLOSED
  }

  /**
   * A dry run that was started, or the reason why there is none.
   *
   * @param id 32 hexadecimal digits that cannot be guessed; empty if it was refused
   * @param refusal null if it was started
   */
  public record StartedRun(String id, @Nullable Refusal refusal) {}

  /**
   * The status of a dry run.
   *
   * @param id its id
   * @param state its state
   * @param replayed the number of requests replayed so far
   * @param came the number of requests that came in its span
   * @param done its result, null unless it is done
   * @param problem the reason of its failure, empty if it has not failed
   */
  public record Status(
      String id,
      State state,
      long replayed,
      long came,
      DryRun.@Nullable Done done,
      String problem) {}

  private static final class Entry {
    private final String id;
    private final long came;
    private volatile long replayed;
    private volatile boolean cancelled;
    private State state = State.RUNNING;
    private DryRun.@Nullable Done done;
    private String problem = "";

    Entry(String id, long came) {
      this.id = id;
      this.came = came;
    }

    synchronized void end(State reached, DryRun.@Nullable Done result, String why) {
      if (state == State.RUNNING) {
        state = reached;
        done = result;
        problem = why;
      }
    }

    synchronized Status status() {
      return new Status(id, state, replayed, came, done, problem);
    }
  }

  private final RecordedTraffic traffic;
  private final Masking masking;
  private final DryRun.Limits limits;
  private final SecureRandom random = new SecureRandom();
  private final Deque<Entry> entries = new ArrayDeque<>();
  private @Nullable Thread thread;
  private boolean closed;

  /**
   * @param traffic the recorded traffic
   * @param masking the masking under which values are shown
   * @param limits the bounds of each dry run
   */
  public DryRuns(RecordedTraffic traffic, Masking masking, DryRun.Limits limits) {
    this.traffic = traffic;
    this.masking = masking;
    this.limits = limits;
  }

  /**
   * Starts a dry run, unless one is running.
   *
   * @param spanNanos the span of recorded traffic that is replayed, back from now: 10 s to an hour
   */
  public synchronized StartedRun start(DryRun.Change change, long spanNanos) {
    if (closed) {
      return new StartedRun("", Refusal.CLOSED);
    }
    if (entries.stream().anyMatch(each -> each.status().state() == State.RUNNING)) {
      return new StartedRun("", Refusal.BUSY);
    }
    RecordedRequests requests = traffic.requests(spanNanos, limits.requests());
    if (!requests.cursor().next()) {
      return new StartedRun("", Refusal.NOTHING_RECORDED);
    }
    Entry entry = new Entry(id(), requests.came());
    if (entries.size() == KEPT) {
      entries.removeLast();
    }
    entries.addFirst(entry);
    Thread started = thread(() -> run(entry, change, requests));
    thread = started;
    started.start();
    return new StartedRun(entry.id, null);
  }

  /**
   * Returns a thread of low priority. It is a hint, where the system heeds it: decisions should not
   * wait for a dry run.
   */
  @SuppressWarnings("ThreadPriorityCheck")
  private static Thread thread(Runnable task) {
    Thread thread = DaemonThreads.create("weir-dry-run", task);
    thread.setPriority(Thread.MIN_PRIORITY);
    return thread;
  }

  private String id() {
    byte[] bytes = new byte[ID_BYTES];
    random.nextBytes(bytes);
    StringBuilder id = new StringBuilder(2 * ID_BYTES);
    for (byte b : bytes) {
      id.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
    }
    return id.toString();
  }

  private void run(Entry entry, DryRun.Change change, RecordedRequests requests) {
    try {
      DryRun.Done done =
          DryRun.run(
              change,
              requests,
              limits,
              masking,
              replayed -> entry.replayed = replayed,
              () -> entry.cancelled);
      if (done == null) {
        entry.end(State.CANCELLED, null, "");
      } else {
        entry.end(State.DONE, done, "");
      }
    } catch (RuntimeException | OutOfMemoryError | StackOverflowError e) {
      LOG.log(System.Logger.Level.ERROR, "dry run " + entry.id + " failed", e);
      entry.end(State.FAILED, null, String.valueOf(e.getMessage()));
    }
  }

  /** Returns a dry run, unless it is unknown or dropped. */
  public synchronized Optional<Status> find(String id) {
    return entry(id).map(Entry::status);
  }

  private Optional<Entry> entry(String id) {
    return entries.stream().filter(each -> each.id.equals(id)).findFirst();
  }

  /**
   * Cancels a dry run that is running, and drops one that is not.
   *
   * @return true if there was one
   */
  public synchronized boolean cancel(String id) {
    Optional<Entry> found = entry(id);
    if (found.isEmpty()) {
      return false;
    }
    Entry entry = found.get();
    if (entry.status().state() == State.RUNNING) {
      entry.cancelled = true;
    } else {
      entries.remove(entry);
    }
    return true;
  }

  /** Cancels the running dry run; no more is started. */
  @Override
  public synchronized void close() {
    closed = true;
    entries.forEach(each -> each.cancelled = true);
    Thread running = thread;
    if (running != null) {
      running.interrupt();
    }
  }
}
