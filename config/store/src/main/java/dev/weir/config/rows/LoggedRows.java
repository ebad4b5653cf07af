package dev.weir.config.rows;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.internal.follow.Patience;
import dev.weir.config.internal.follow.RowFormat;
import dev.weir.config.internal.follow.UpdateLog;
import dev.weir.config.internal.rows.Keys;
import dev.weir.config.internal.rows.WriteSet;
import dev.weir.config.rows.Items.Item;
import dev.weir.config.rows.Items.State;
import dev.weir.config.rows.Items.Write;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Rows with atomic updates of any size, on a database of {@link Items}. */
public final class LoggedRows implements Rows {
  /*
   * How is LoggedRows designed, and why? It is a redo log of one entry. One item, the state, counts
   * updates and names the batch of the last one while that is not yet in its rows.
   *
   * An update reads a settled state of version v, and rows; it writes its batch down; then it
   * compares and sets the state from "v" to "v + 1, pending: this batch". At that moment the update
   * takes effect: before, it does not exist, and afterwards every process that reads the state can
   * and must finish it. It is finished by writing the rows, each stamped with v + 1, and by setting
   * the state to "v + 1". If a database can write everything and set the state in one transaction,
   * that is done.
   *
   * Updates are in one order, since each compares the state that it has read. All rows that an
   * update has read are those of version v: none has a higher stamp, and every earlier update is in
   * its rows before the state is settled. An update that finds a higher stamp, or whose comparison
   * fails, runs again.
   *
   * A process that froze while it wrote rows, and continues when the update is long finished, must
   * not replace new values by old ones. Either its transaction compares the state, which is another
   * by then, or the row itself refuses a write with a lower stamp than its own. For that purpose a
   * deleted row leaves a mark with a stamp, which the database removes after a day.
   *
   * A reader has a version up to which all updates are in their rows ("whole"). If no row that it
   * has read, including marks, has a higher stamp, then the rows are those of one moment, and the
   * newest: an acknowledged update is in all its rows, so its stamp would have been seen. Otherwise
   * the reader reads the state, finishes the pending update, and reads again. So it makes no
   * difference whether the database reads several items at one moment, and most reads need not read
   * the state, which one machine serves to all servers. The state is read at least once a minute,
   * so that an update whose process has died is finished before its marks are removed after a day.
   *
   * A batch has the version that it makes. Batches of versions up to a settled one are garbage,
   * whatever became of their processes, so nothing depends on clocks.
   *
   * LoggedRowsTest stops one, two and three processes before and after each of their steps.
   */

  /**
   * The pause before the state is read again: a batch that is seen twice has an author that is
   * slow, or gone.
   */
  private static final long LOOK_AGAIN_NANOS = 5_000_000;

  private static final long MAX_UNSEEN_NANOS = 60_000_000_000L;

  /**
   * The number of updates between two sweeps: garbage is rare, and a search for it costs a call.
   */
  private static final long SWEEP_EVERY = 64;

  /** The smallest page, so that many marks of deleted rows cost few calls. */
  private static final int LEAST_PAGE = 100;

  private static final System.Logger LOG = System.getLogger("dev.weir.config");

  private final Items items;
  private final Ticker ticker;
  private final UpdateLog log;

  /** Every update up to this version is in its rows. Only grows. */
  private final AtomicLong whole = new AtomicLong();

  private volatile long seenAtNanos;
  private volatile boolean swept;

  /** A lock for the updates of one process, since all but one of them would fail to commit. */
  private final ReentrantLock updating = new ReentrantLock(true);

  /**
   * Creates rows on a database, which is closed with them.
   *
   * @param ticker for pauses between tries, which are bounded by 10 seconds in all
   */
  public LoggedRows(Items items, Ticker ticker) {
    this.items = items;
    this.ticker = ticker;
    log = new UpdateLog(items);
    seenAtNanos = ticker.nanos();
  }

  @Override
  public List<byte @Nullable []> get(Table table, List<byte[]> keys) {
    if (keys.isEmpty()) {
      return List.of();
    }
    Patience patience = new Patience(items, ticker);
    return values(whole(patience, () -> items.get(WriteSet.name(table), keys)));
  }

  private static List<byte @Nullable []> values(List<@Nullable Item> found) {
    List<byte @Nullable []> values = new ArrayList<>(found.size());
    for (Item item : found) {
      byte[] value = item == null ? null : item.value();
      values.add(value == null ? null : value.clone()); // A key may occur twice.
    }
    return values;
  }

  @Override
  public List<Row> scan(Table table, byte[] from, byte @Nullable [] to, int limit) {
    if (to != null && Arrays.compareUnsigned(from, to) >= 0) {
      return List.of();
    }
    Patience patience = new Patience(items, ticker);
    List<Row> rows = new ArrayList<>();
    for (Item item : whole(patience, () -> scan(patience, WriteSet.name(table), from, to, limit))) {
      byte[] value = item == null ? null : item.value();
      if (item != null && value != null && rows.size() < limit) {
        rows.add(new Row(item.key(), value));
      }
    }
    return rows;
  }

  /** Returns up to so many rows, and the marks between them. */
  private List<@Nullable Item> scan(
      Patience patience, String table, byte[] from, byte @Nullable [] to, int limit) {
    List<@Nullable Item> found = new ArrayList<>();
    byte[] next = from;
    int missing = limit;
    while (true) {
      int wanted = found.isEmpty() ? limit : Math.max(missing, LEAST_PAGE);
      List<Item> page = items.scan(table, next, to, wanted);
      for (Item item : page) {
        missing -= item.value() == null ? 0 : 1;
        found.add(item);
      }
      if (missing <= 0 || page.size() < wanted) {
        return found;
      }
      next = Keys.after(page.get(page.size() - 1).key());
      patience.check();
    }
  }

  /** Reads until everything that was read is of one moment. */
  private List<@Nullable Item> whole(Patience patience, Supplier<List<@Nullable Item>> read) {
    if (ticker.nanos() - seenAtNanos > MAX_UNSEEN_NANOS) {
      State unused = settled(patience);
    }
    while (true) {
      long known = whole.get();
      List<@Nullable Item> found = read.get();
      if (newest(found) <= known) {
        return found;
      }
      State unused = settled(patience);
      patience.check();
    }
  }

  private static long newest(List<@Nullable Item> items) {
    long newest = 0;
    for (Item item : items) {
      newest = item == null ? newest : Math.max(newest, item.version());
    }
    return newest;
  }

  /** Returns the state once nothing is pending; finishes a pending update. */
  private State settled(Patience patience) {
    State seen = null;
    while (true) {
      long known = whole.get();
      State state = items.state();
      if (state.version() < known) {
        throw new ConfigException(
            Kind.UNAVAILABLE,
            "%s: version %d (expected: at least %d; a server is behind, or an older copy was restored: start Weir again then)"
                .formatted(items, state.version(), known));
      }
      if (state.isSettled()) {
        return isWhole(state);
      }
      if (!state.equals(seen)) {
        seen = state;
        pause(LOOK_AGAIN_NANOS);
      } else if (finish(state)) {
        return state.settled();
      } else {
        patience.pause();
      }
      patience.check();
    }
  }

  private void pause(long nanos) {
    try {
      ticker.sleep(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Patience.interrupted(items, e);
    }
  }

  private State isWhole(State state) {
    whole.accumulateAndGet(state.version(), Math::max);
    seenAtNanos = ticker.nanos();
    return state.settled();
  }

  /** Finishes an update that is still pending; returns false if the state must be read again. */
  private boolean finish(State pending) {
    List<Write> writes = log.read(pending);
    if (writes == null) {
      if (items.state().equals(pending)) {
        throw RowFormat.damaged(
            items + ": batch of update " + pending.version(), "a part is missing", null);
      }
      return false;
    }
    if (!apply(pending, writes)) {
      return false;
    }
    remove(pending);
    return true;
  }

  /** Writes the rows and settles the state; returns false if the state must be read again. */
  private boolean apply(State pending, List<Write> writes) {
    Items.Limits limits = items.limits();
    List<List<Write>> groups = WriteSet.groups(writes, limits);
    for (int i = 0; i < groups.size(); i++) {
      boolean settles = limits.withState() && i == groups.size() - 1;
      if (!items.transact(pending, settles ? pending.settled() : pending, groups.get(i))) {
        return false;
      }
    }
    if (!limits.withState() && !items.transact(pending, pending.settled(), List.of())) {
      return false;
    }
    State unused = isWhole(pending);
    return true;
  }

  @Override
  public <T> T update(Update<T> update) {
    Patience patience = new Patience(items, ticker);
    try {
      if (!updating.tryLock(Patience.MAX_NANOS, TimeUnit.NANOSECONDS)) {
        throw new ConfigException(
            Kind.UNAVAILABLE, items + ": no turn within 10 s (expected: fewer updates at once)");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Patience.interrupted(items, e);
    }
    try {
      while (true) {
        State before = settled(patience);
        WriteSet batch = new WriteSet();
        try {
          T result = update.run(reader(before), batch, items.wallNanos());
          List<Write> writes = batch.writes();
          if (writes.isEmpty() || commit(patience, before, writes)) {
            return result;
          }
        } catch (OvertakenException e) {
          // The update has seen rows of several versions, so its exception has no meaning.
        }
        patience.pause();
      }
    } finally {
      updating.unlock();
    }
  }

  /** Thrown if another process has made an update since this one began. */
  private static final class OvertakenException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OvertakenException() {
      super("overtaken", null, false, false);
    }
  }

  private Reader reader(State before) {
    return (table, keys) -> {
      if (keys.isEmpty()) {
        return List.of();
      }
      List<@Nullable Item> found = items.get(WriteSet.name(table), keys);
      if (newest(found) > before.version()) {
        throw new OvertakenException();
      }
      return values(found);
    };
  }

  /**
   * Commits an update; returns false if another one was made before, so that this must run again.
   */
  private boolean commit(Patience patience, State before, List<Write> writes) {
    long version = before.version() + 1;
    Items.Limits limits = items.limits();
    if (limits.withState() && WriteSet.groups(writes, limits).size() == 1) {
      State made = new State(version, "");
      if (!items.transact(before, made, writes)) {
        return false;
      }
      State unused = isWhole(made);
    } else {
      State pending = log.write(version, writes);
      if (!items.transact(before, pending, List.of())) {
        remove(pending);
        return false;
      }
      finishOwn(patience, pending, writes);
    }
    sweep(version);
    return true;
  }

  /**
   * Finishes the update of this process. It has taken effect, so a failure must not be reported.
   */
  private void finishOwn(Patience patience, State pending, List<Write> writes) {
    try {
      if (!apply(pending, writes)) {
        State unused = settled(patience);
      }
    } catch (ConfigException e) {
      throw new ConfigException(Kind.UNAVAILABLE, String.valueOf(e.getMessage()), e);
    }
    remove(pending);
  }

  private void remove(State pending) {
    quietly(() -> log.remove(pending));
  }

  private void sweep(long version) {
    if (!swept || version % SWEEP_EVERY == 0) {
      swept = true;
      quietly(() -> log.sweep(version));
    }
  }

  /** Runs a cleaning; if that fails, the next sweep removes the rest. */
  private void quietly(Runnable cleaning) {
    try {
      cleaning.run();
    } catch (ConfigException e) {
      LOG.log(Level.DEBUG, items + ": batches that nobody needs were left", e);
    }
  }

  /**
   * Writes or deletes one row, as {@link Rows#put} describes; no update may write a row of the same
   * key.
   */
  @Override
  public void put(Table table, byte[] key, byte @Nullable [] value) {
    if (value == null) {
      items.delete(WriteSet.name(table), key);
    } else {
      items.put(WriteSet.name(table), key, value, whole.get());
    }
  }

  @Override
  public long wallNanos() {
    return items.wallNanos();
  }

  @Override
  public void close() {
    items.close();
  }
}
