package dev.weir.server.internal.rules;

import dev.weir.Ticker;
import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.Entry;
import dev.weir.config.EntryWrite;
import dev.weir.config.Head;
import dev.weir.config.Node;
import dev.weir.config.RecordPage;
import dev.weir.config.RecordWrite;
import dev.weir.config.Records;
import dev.weir.config.Revision;
import dev.weir.config.Subject;
import dev.weir.config.rows.Tree;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A configuration store that may not be available yet. The first call that needs it opens it. Until
 * that succeeds every call fails with the failure of the opening. Safe for use by many threads.
 */
final class LateConfigStore implements ConfigStore {
  /** The time for which a failed opening is not tried again, however many calls come. */
  private static final long PAUSE_NANOS = 500_000_000L;

  private final Supplier<ConfigStore> opening;
  private final Ticker ticker;

  /**
   * The class loader that finds the store's adapter: that of the thread that needs the store first
   * may not find it.
   */
  private final ClassLoader loader = Thread.currentThread().getContextClassLoader();

  /** Held while the store is being opened. */
  private final ReentrantLock turn = new ReentrantLock();

  private volatile @Nullable ConfigStore opened;
  private volatile ConfigException failure =
      new ConfigException(Kind.UNAVAILABLE, "configuration store: not open yet");

  private boolean tried;
  private long triedAtNanos;
  private boolean closed;

  LateConfigStore(Supplier<ConfigStore> opening, Ticker ticker) {
    this.opening = opening;
    this.ticker = ticker;
  }

  /**
   * Opens the store if it is not open.
   *
   * @throws ConfigException if it cannot be opened now
   * @throws IllegalArgumentException if it can never be opened, because of its address
   */
  void open() {
    ConfigStore unused = store();
  }

  private ConfigStore store() {
    ConfigStore known = opened;
    if (known != null) {
      return known;
    }
    if (!turn.tryLock()) {
      throw again(); // Another thread waits for the store; one is enough.
    }
    try {
      known = opened;
      if (known != null) {
        return known;
      }
      if (closed || (tried && ticker.nanos() - triedAtNanos < PAUSE_NANOS)) {
        throw again();
      }
      ConfigStore found;
      try {
        found = openNow();
      } finally {
        tried = true;
        triedAtNanos = ticker.nanos();
      }
      opened = found;
      return found;
    } catch (ConfigException e) {
      if (e.getCause() != failure) {
        failure = e;
      }
      throw e;
    } finally {
      turn.unlock();
    }
  }

  private ConfigStore openNow() {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try {
      return opening.get();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private ConfigException again() {
    ConfigException last = failure;
    return new ConfigException(last.kind(), String.valueOf(last.getMessage()), last);
  }

  @Override
  public Head head() {
    return store().head();
  }

  @Override
  public Optional<Revision> revision(long number) {
    return store().revision(number);
  }

  @Override
  public Map<String, String> texts(Collection<String> hashes) {
    return store().texts(hashes);
  }

  @Override
  public Revision commit(long expectedRevision, Tree tree, Collection<String> texts, Cause cause) {
    return store().commit(expectedRevision, tree, texts, cause);
  }

  @Override
  public Records records(Collection<Subject> subjects) {
    return store().records(subjects);
  }

  @Override
  public List<Change> write(List<RecordWrite> writes, Cause cause) {
    return store().write(writes, cause);
  }

  @Override
  public Records list(String domain, String key, String prefix, @Nullable String after, int limit) {
    return store().list(domain, key, prefix, after, limit);
  }

  @Override
  public RecordPage all(String domain, @Nullable Subject after, int limit) {
    return store().all(domain, after, limit);
  }

  @Override
  public List<Change> changes(long after, int limit) {
    return store().changes(after, limit);
  }

  @Override
  public List<Entry> entries(String kind) {
    return store().entries(kind);
  }

  @Override
  public Optional<Change> write(EntryWrite write, Cause cause) {
    return store().write(write, cause);
  }

  @Override
  public Change note(String kind, String json, Cause cause) {
    return store().note(kind, json, cause);
  }

  @Override
  public List<Node> nodes() {
    return store().nodes();
  }

  @Override
  public void beat(Node node) {
    store().beat(node);
  }

  /** Closes the store; waits for an opening under way, whose time the adapter bounds. */
  @Override
  public void close() {
    turn.lock();
    try {
      closed = true;
      ConfigStore known = opened;
      if (known != null) {
        known.close();
      }
    } finally {
      turn.unlock();
    }
  }
}
