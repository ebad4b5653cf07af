package dev.weir.server.internal.rules;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ForwardingConfigStore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A configuration store that may not be available yet. The first call that needs it opens it. Until
 * that succeeds every call fails with the failure of the opening. Safe for use by many threads.
 */
final class LateConfigStore extends ForwardingConfigStore {
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
    ConfigStore unused = delegate();
  }

  @Override
  protected ConfigStore delegate() {
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
