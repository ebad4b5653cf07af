package dev.weir.rules;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches rule files and reports what they hold whenever that changes: after a plain edit, an
 * atomic rename, or the swap of a symbolic link as Kubernetes does it. Safe for use by several
 * threads.
 */
public final class RuleWatcher implements AutoCloseable {
  /*
   * How is RuleWatcher designed, and why? What counts is the content alone: files are read and
   * hashed, and a change is reported when two readings in a row give the same new hash, so a file
   * that is still being written is left alone. The file system's events only say when to look; a
   * slow look round without any event serves file systems that have none, and everything that an
   * event can miss, such as a link somewhere up the path that now leads elsewhere.
   */

  /** How long content must stay the same before it is believed. */
  static final long QUIET_MILLIS = 200;

  /** How often to look without being told to. */
  static final long RECHECK_MILLIS = 5_000;

  private static final long CLOSE_MILLIS = 5_000;
  private static final System.Logger LOG = System.getLogger(RuleWatcher.class.getName());

  private final List<Path> paths;
  private final Consumer<Rules.Loaded> changed;
  private final RuleDefaults defaults;
  private final @Nullable WatchService events;
  private final Map<Path, WatchKey> watched = new HashMap<>();
  private final Thread thread;

  /** Of the content last reported, or of the rules in force. */
  private String reported;

  /** Of the content last read, if it differs from the reported one. */
  private @Nullable String pending;

  private final CountDownLatch closing = new CountDownLatch(1);

  RuleWatcher(List<Path> paths, RuleSet current, Consumer<Rules.Loaded> changed) {
    this.paths = List.copyOf(paths);
    this.changed = changed;
    defaults = current.defaults();
    reported = current.digest();
    events = open();
    thread = new Thread(this::run, "weir-rule-watcher");
    thread.setDaemon(true);
  }

  /**
   * Starts a watcher on its own daemon thread.
   *
   * @param paths files or folders, as for {@link Rules#load}; they need not exist yet
   * @param current the rules in force, as they were loaded from these paths; if the files hold
   *     something else already, that is reported like any change. Its defaults stay in force
   * @param changed is called on the watcher's thread with the new content, good or broken, once a
   *     change; what it throws is logged
   */
  public static RuleWatcher start(
      List<Path> paths, RuleSet current, Consumer<Rules.Loaded> changed) {
    RuleWatcher watcher = new RuleWatcher(paths, current, changed);
    watcher.thread.start();
    return watcher;
  }

  /**
   * Reads the files once.
   *
   * @return whether they hold something new that is not believed yet, so that the next look should
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
    reported = digest;
    pending = null;
    if (!closed()) {
      changed.accept(files.parse(defaults));
    }
    return false;
  }

  private boolean closed() {
    return closing.getCount() == 0;
  }

  private void run() {
    boolean soon = false;
    while (!closed()) {
      try {
        watch();
        soon = poll();
      } catch (RuntimeException e) {
        LOG.log(System.Logger.Level.ERROR, "rules: a change was not taken over", e);
      }
      try {
        await(soon);
      } catch (InterruptedException | ClosedWatchServiceException e) {
        return;
      }
    }
  }

  /** Waits for an event and then until it is quiet, or for the time of the next look. */
  private void await(boolean soon) throws InterruptedException {
    if (events == null) {
      boolean unused = closing.await(soon ? QUIET_MILLIS : RECHECK_MILLIS, TimeUnit.MILLISECONDS);
      return;
    }
    WatchKey key = events.poll(soon ? QUIET_MILLIS : RECHECK_MILLIS, TimeUnit.MILLISECONDS);
    while (key != null) {
      key.pollEvents();
      key.reset();
      key = events.poll();
    }
  }

  private static @Nullable WatchService open() {
    try {
      return FileSystems.getDefault().newWatchService();
    } catch (IOException | UnsupportedOperationException e) {
      LOG.log(System.Logger.Level.WARNING, "rules: no file events, looking every 5 s instead", e);
      return null;
    }
  }

  /** Registers the folders that matter now; links may lead elsewhere since the last time. */
  private void watch() {
    if (events == null) {
      return;
    }
    Set<Path> wanted = new HashSet<>();
    for (Path path : paths) {
      addFolder(path, wanted);
      addFolder(path.toAbsolutePath().getParent(), wanted);
      addFolder(target(path).getParent(), wanted);
    }
    watched.keySet().removeIf(folder -> !wanted.contains(folder) && cancel(folder));
    for (Path folder : wanted) {
      try {
        WatchKey key = watched.get(folder);
        if (key == null || !key.isValid()) {
          watched.put(
              folder,
              folder.register(
                  events,
                  StandardWatchEventKinds.ENTRY_CREATE,
                  StandardWatchEventKinds.ENTRY_MODIFY,
                  StandardWatchEventKinds.ENTRY_DELETE));
        }
      } catch (IOException e) {
        // It went away between the two calls, or there are no watches left: the slow look remains.
        LOG.log(System.Logger.Level.DEBUG, "rules: no events from " + folder, e);
      }
    }
  }

  /** Where links lead to, so that an edit of the file behind one is noticed too. */
  private static Path target(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path.toAbsolutePath();
    }
  }

  private boolean cancel(Path folder) {
    WatchKey key = watched.get(folder);
    if (key != null) {
      key.cancel();
    }
    return true;
  }

  private static void addFolder(@Nullable Path path, Set<Path> wanted) {
    try {
      if (path != null && Files.isDirectory(path)) {
        wanted.add(path.toRealPath());
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "rules: no events from " + path, e);
    }
  }

  /** Stops watching. After it returns, {@code changed} is not called any more. */
  @Override
  public void close() {
    closing.countDown();
    if (events != null) {
      try {
        events.close();
      } catch (IOException e) {
        LOG.log(System.Logger.Level.DEBUG, "rules: events not closed", e);
      }
    }
    if (Thread.currentThread() != thread) {
      try {
        thread.join(CLOSE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
