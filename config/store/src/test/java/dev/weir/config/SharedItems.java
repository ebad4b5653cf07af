package dev.weir.config;

import dev.weir.Ticker;
import dev.weir.config.internal.rows.Keys;
import dev.weir.config.rows.Items;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Items in memory, used by several processes of a test. Only what {@link Items} requires is atomic:
 * several keys are read one after the other, and a page is read item by item.
 */
public final class SharedItems {
  /** Limits that allow a small update in one transaction, and two writes at once otherwise. */
  public static final Items.Limits TRANSACTIONS = new Items.Limits(100, 100_000, 64, true);

  public static final Items.Limits SMALL_TRANSACTIONS = new Items.Limits(2, 100_000, 64, true);
  public static final Items.Limits SINGLE_ITEMS = new Items.Limits(3, 100_000, 64, false);
  public static final List<Items.Limits> ALL_LIMITS =
      List.of(TRANSACTIONS, SMALL_TRANSACTIONS, SINGLE_ITEMS);

  /** Actions before and after each step of a process. */
  public interface Steps {
    void before();

    /**
     * Returns true if another writer is in the way of this step, so that it has no effect if it is
     * a transaction.
     */
    boolean isInTheWay();

    void after();
  }

  /** Steps without any disturbance. */
  public static final Steps UNDISTURBED =
      new Steps() {
        @Override
        public void before() {}

        @Override
        public boolean isInTheWay() {
          return false;
        }

        @Override
        public void after() {}
      };

  private final Items.Limits limits;
  private final Ticker wall;
  private final Map<String, SortedMap<byte[], Items.Item>> tables = new HashMap<>();
  private Items.State state = Items.State.NONE;

  public SharedItems(Items.Limits limits, Ticker wall) {
    this.limits = limits;
    this.wall = wall;
  }

  private SortedMap<byte[], Items.Item> table(String name) {
    return tables.computeIfAbsent(name, each -> new TreeMap<>(Arrays::compareUnsigned));
  }

  /** Returns the number of items in a table. */
  public synchronized int size(String table) {
    return table(table).size();
  }

  public synchronized Items.State state() {
    return state;
  }

  /** Removes marks, as a database does after a day. */
  public synchronized void removeMarks() {
    tables.values().forEach(each -> each.values().removeIf(item -> item.value() == null));
  }

  private synchronized Optional<Items.Item> get(String table, byte[] key) {
    return Optional.ofNullable(table(table).get(key));
  }

  private synchronized Optional<Items.Item> next(String table, byte[] from, byte @Nullable [] to) {
    SortedMap<byte[], Items.Item> rest = table(table).tailMap(from);
    if (rest.isEmpty() || (to != null && Arrays.compareUnsigned(rest.firstKey(), to) >= 0)) {
      return Optional.empty();
    }
    return Optional.of(rest.values().iterator().next());
  }

  private synchronized boolean compareAndSet(
      Items.State expected, Items.State next, List<Items.Write> writes) {
    if (!state.equals(expected)) {
      return false;
    }
    state = next;
    writes.forEach(each -> write(each, next.version()));
    return true;
  }

  private synchronized void writeUnlessNewer(Items.Write write, long version) {
    Items.Item stored = table(write.table()).get(write.key());
    if (stored == null || stored.version() < version) {
      write(write, version);
    }
  }

  private void write(Items.Write write, long version) {
    byte[] value = write.value();
    byte[] copy = value == null ? null : value.clone();
    table(write.table()).put(write.key(), new Items.Item(write.key(), copy, version));
  }

  private synchronized void put(String table, byte[] key, byte[] value, long version) {
    write(new Items.Write(table, key.clone(), value), version);
  }

  private synchronized void delete(String table, byte[] key) {
    table(table).remove(key);
  }

  /** Returns the items as one process sees them. */
  public Items process(Steps steps) {
    return new View(steps);
  }

  private interface Step<T> {
    T run();
  }

  private final class View implements Items {
    private final Steps steps;

    View(Steps steps) {
      this.steps = steps;
    }

    private <T> T step(Step<T> step) {
      steps.before();
      T result = step.run();
      steps.after();
      return result;
    }

    @Override
    public Limits limits() {
      return limits;
    }

    @Override
    public State state() {
      return step(SharedItems.this::state);
    }

    @Override
    public boolean transact(State expected, State next, List<Write> writes) {
      if (limits.withState() || writes.isEmpty()) {
        return step(() -> !steps.isInTheWay() && compareAndSet(expected, next, writes));
      }
      if (!expected.equals(next)) {
        throw new IllegalArgumentException("state and writes at once (expected: one of them)");
      }
      for (Write write : writes) {
        boolean unused =
            step(
                () -> {
                  writeUnlessNewer(write, next.version());
                  return true;
                });
      }
      return true;
    }

    @Override
    public List<@Nullable Item> get(String table, List<byte[]> keys) {
      List<@Nullable Item> found = new ArrayList<>();
      for (byte[] key : keys) {
        found.add(step(() -> SharedItems.this.get(table, key)).orElse(null));
      }
      return found;
    }

    @Override
    public List<Item> scan(String table, byte[] from, byte @Nullable [] to, int limit) {
      List<Item> found = new ArrayList<>();
      byte[] next = from;
      while (found.size() < limit) {
        byte[] start = next;
        Optional<Item> item = step(() -> SharedItems.this.next(table, start, to));
        if (item.isEmpty()) {
          break;
        }
        found.add(item.get());
        next = Keys.after(item.get().key());
      }
      return found;
    }

    @Override
    public void put(String table, byte[] key, byte[] value, long version) {
      boolean unused =
          step(
              () -> {
                SharedItems.this.put(table, key, value, version);
                return true;
              });
    }

    @Override
    public void delete(String table, byte[] key) {
      boolean unused =
          step(
              () -> {
                SharedItems.this.delete(table, key);
                return true;
              });
    }

    @Override
    public long wallNanos() {
      return wall.nanos();
    }

    @Override
    public void close() {}

    @Override
    public String toString() {
      return "memory";
    }
  }
}
