package dev.weir.rules;

import dev.weir.internal.DaemonThreads;
import dev.weir.rules.internal.parse.FolderEvents;
import dev.weir.rules.internal.parse.Links;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A watcher of rule files that reports their contents whenever they change: after a plain edit, an
 * atomic rename, or the swap of a symbolic link as Kubernetes does it. Safe for use by several
 * threads.
 */
public final class RuleWatcher implements AutoCloseable {
  /*
   * How is RuleWatcher designed, and why? Only the content counts: files are read and hashed, and a
   * change is reported when two readings in a row give the same new hash, so a file that is still
   * being written is left alone. The file system's events only trigger a poll; a slow poll without
   * any event serves file systems that have none, and finds everything that events can miss, such
   * as a link above the rules' folder that now leads elsewhere.
   *
   * The watcher runs as long as the process, whatever fails. An error of one poll is reported and
   * the next poll comes in its time. Events come from a thread of the JDK that cannot be
   * supervised: if it dies, calls that need it never return. So these calls are made on threads of
   * their own, and the wait for them is bounded; a source of events that does not answer is
   * abandoned, and another one is opened at the next poll.
   */

  /** The time for which content must stay the same before it counts. */
  static final long QUIET_MILLIS = 200;

  /** The time between two polls without an event. */
  public static final long RECHECK_MILLIS = 5_000;

  /** The longest wait for a call to the file system, which usually takes microseconds. */
  private static final long MAX_CALL_MILLIS = 1_000;

  private static final long CLOSE_MILLIS = 1_000;
  private static final System.Logger LOG = System.getLogger(RuleWatcher.class.getName());

  private final List<Path> paths;
  private final Consumer<Rules.LoadResult> changed;
  private final RuleDefaults defaults;
  private final Consumer<? super Throwable> failed;
  private final Callable<FolderEvents> opening;
  private final Thread thread;
  private final CountDownLatch closing = new CountDownLatch(1);

  /** The events; null while there are none. Set only by the watcher's thread. */
  private volatile @Nullable FolderEvents events;

  private boolean withoutEvents;

  /** The digest of the content last reported, or of the rules in force. */
  private String reported;

  /** The digest of the content last read, if it differs from the reported one. */
  private @Nullable String pending;

  public RuleWatcher(
      List<Path> paths,
      RuleSet current,
      Consumer<Rules.LoadResult> changed,
      Consumer<? super Throwable> failed,
      Callable<FolderEvents> opening) {
    this.paths = List.copyOf(paths);
    this.changed = changed;
    defaults = current.defaults();
    this.failed = failed;
    this.opening = opening;
    reported = current.digest();
    thread = DaemonThreads.create("weir-rule-watcher", this::run);
  }

  /**
   * Starts a watcher on its own daemon thread.
   *
   * @param paths files or folders, as for {@link Rules#load}; they need not exist yet
   * @param current the rules in force, as they were loaded from these paths; if the files differ
   *     already, that is reported like any change. Its defaults stay in force
   * @param changed is called on the watcher's thread with the new content, good or broken, once for
   *     each change; exceptions that it throws are logged
   */
  public static RuleWatcher start(
      List<Path> paths, RuleSet current, Consumer<Rules.LoadResult> changed) {
    return start(paths, current, changed, RuleWatcher::log);
  }

  /**
   * Starts a watcher like {@link #start(List, RuleSet, Consumer)}, with a receiver of errors.
   *
   * @param failed receives, on the watcher's thread, the exception of a poll or of {@code changed}.
   *     After an exception the same content is not reported again; after an {@link Error}, such as
   *     want of memory, it is, at the next poll some seconds later. The watcher continues in any
   *     case
   */
  public static RuleWatcher start(
      List<Path> paths,
      RuleSet current,
      Consumer<Rules.LoadResult> changed,
      Consumer<? super Throwable> failed) {
    RuleWatcher watcher = new RuleWatcher(paths, current, changed, failed, FolderEvents::open);
    watcher.start();
    return watcher;
  }

  public void start() {
    thread.start();
  }

  private static void log(Throwable e) {
    LOG.log(System.Logger.Level.ERROR, "rules: a change was not taken over", e);
  }

  /**
   * Reads the files once.
   *
   * @return whether they hold something new that does not count yet, so that the next poll should
   *     come soon
   */
  synchronized boolean poll() {
    RuleFiles files = RuleFiles.read(paths);
    String digest = files.digest();
    if (digest.equals(reported)) {
      pending = null;
      return false;
    }
    if (!digest.equals(pending)) {
      pending = digest;
      return true;
    }
    String before = reported;
    reported = digest;
    pending = null;
    if (!closed()) {
      try {
        changed.accept(files.parse(defaults));
      } catch (Error e) {
        reported = before; // Want of memory may pass; then this content must come into force.
        throw e;
      }
    }
    return false;
  }

  private boolean closed() {
    return closing.getCount() == 0;
  }

  private void run() {
    while (!closed()) {
      try {
        await(pollSafely() ? QUIET_MILLIS : RECHECK_MILLIS);
      } catch (Throwable e) {
        report(e);
      }
    }
  }

  /** Polls, and reports an exception; returns whether the next poll should come soon. */
  private boolean pollSafely() {
    try {
      follow();
      return poll();
    } catch (Throwable e) {
      report(e);
      return false;
    }
  }

  private void report(Throwable e) {
    if (closed()) {
      return; // Closed events throw an exception.
    }
    try {
      failed.accept(e);
    } catch (Throwable second) {
      e.addSuppressed(second); // Nothing is left to report it to.
    }
  }

  /** Waits for an event and then until there are no more, or for the time of the next poll. */
  private void await(long millis) throws InterruptedException {
    FolderEvents current = events;
    if (current != null) {
      try {
        current.await(millis);
        return;
      } catch (RuntimeException e) {
        events = null;
        report(e);
      }
    }
    boolean unused = closing.await(millis, TimeUnit.MILLISECONDS);
  }

  /** Follows the folders that matter now; links may lead elsewhere since. */
  private void follow() throws InterruptedException {
    FolderEvents current = events == null ? open() : events;
    if (current == null) {
      return;
    }
    events = current;
    Set<Path> folders = Links.folders(paths);
    if (!current.follows(folders) && !inTime(() -> current.follow(folders))) {
      events = null;
      LOG.log(
          System.Logger.Level.WARNING,
          "rules: file events do not answer, looking every 5 s until others do");
    }
  }

  private @Nullable FolderEvents open() {
    try {
      FolderEvents opened = opening.call();
      withoutEvents = false;
      return opened;
    } catch (Exception e) {
      if (!withoutEvents) { // Each poll tries again, but only the first logs it.
        LOG.log(System.Logger.Level.WARNING, "rules: no file events, looking every 5 s instead", e);
      }
      withoutEvents = true;
      return null;
    }
  }

  /** Runs a task that may never return; returns whether it did, in time. */
  private static boolean inTime(Runnable task) throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    Thread runner =
        DaemonThreads.create(
            "weir-rule-events",
            () -> {
              try {
                task.run();
              } finally {
                done.countDown();
              }
            });
    runner.start();
    return done.await(MAX_CALL_MILLIS, TimeUnit.MILLISECONDS);
  }

  /**
   * Stops watching, in a bounded time. After it returns, {@code changed} is no longer called,
   * unless a call took longer than that.
   */
  @Override
  public void close() {
    closing.countDown();
    FolderEvents current = events;
    try {
      if (current != null && !inTime(() -> close(current))) {
        LOG.log(System.Logger.Level.WARNING, "rules: file events do not close, left behind");
      }
      if (Thread.currentThread() != thread) {
        thread.join(CLOSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void close(FolderEvents events) {
    try {
      events.close();
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "rules: events not closed", e);
    }
  }
}
