package dev.weir.insight;

import dev.weir.engine.DecidedDescriptor;
import dev.weir.engine.DecisionObserver;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The records of a server's decisions: its history, busiest keys and last refusals. It is an
 * engine's observer, and {@link #tick} is to be called every second. Safe for use by many threads.
 */
public final class Insight implements DecisionObserver, AutoCloseable {
  private final History history;
  private final Refusals refusals;
  private final @Nullable HotKeys hotKeys;
  private final List<Consumer<@Nullable Second>> listeners = new CopyOnWriteArrayList<>();

  /**
   * @param hotKeys the busiest keys, or null if keys are not counted
   */
  public Insight(History history, Refusals refusals, @Nullable HotKeys hotKeys) {
    this.history = history;
    this.refusals = refusals;
    this.hotKeys = hotKeys;
  }

  @Override
  public void decided(DecidedDescriptor decided) {
    HotKeys keys = hotKeys;
    if (keys != null) {
      keys.decided(decided);
    }
    if (decided.refused()) {
      refusals.refused(decided);
    }
  }

  /** Reads the counters and goes on to the next second; to be called every second. */
  public void tick() {
    if (hotKeys != null) {
      hotKeys.tick();
    }
    refusals.tick();
    Second second = history.tick();
    listeners.forEach(each -> each.accept(second));
  }

  /**
   * Adds a listener that is called at every tick, on the thread of that tick.
   *
   * @param listener receives the second that has ended, or null if none has
   */
  public void listen(Consumer<@Nullable Second> listener) {
    listeners.add(listener);
  }

  public History history() {
    return history;
  }

  public Refusals refusals() {
    return refusals;
  }

  /** Returns the busiest and most refused keys, or null if keys are not counted. */
  public @Nullable HotKeys hotKeys() {
    return hotKeys;
  }

  /** Writes the rows that have begun, and closes the history. */
  @Override
  public void close() {
    history.close();
  }
}
