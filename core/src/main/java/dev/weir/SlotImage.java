package dev.weir;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.zip.CRC32C;

/** The states of some keys of a {@link MemoryStore}, in transit to another one. */
final class SlotImage {
  /*
   * How do keys change from one clock to another without being admitted more than their bound?
   *
   * At an instant `then` of one clock the keys are lifted, and no longer decided; at `now` of the
   * other they are laid, and decided again. Neither clock is fast, and `now` is really later than
   * `then`. So a state whose instants are all moved by now - then counts everything at least as
   * long as it has to, and the time of a key never runs fast: the logs' and the buckets' bounds
   * hold. If a log has granules, it is moved by whole ones, rounded up.
   *
   * Windows that begin at multiples of their length are another matter: they follow the calendar of
   * their store, and `then` and `now` are its instants here. The window that holds `then` becomes
   * the one that holds `now` (Meter.shift), so that a limit a day stays one a day. If `now` is
   * further into its window than `then`, that window is cut short, by
   *
   *     cut = now mod W - then mod W
   *
   * A sliding counter makes up for it: the hits of the previous window keep their weight. A fixed
   * window promises that no time of W touches more than two windows; with a window between them
   * that is too short it may touch three. So the next one begins late, by the cut: a Pause, in
   * which nothing is admitted. It applies to all keys, including those without a state, since they
   * may have used the previous window and been forgotten. A pause that is not over moves along.
   * Pauses may add up to more than a window; a request that has to wait still waits by the old
   * calendar, so its charge counts in the window in which its wait ends.
   *
   * bytes    magic, version, first and last fingerprint, then, then by the calendar (in version 2
   *          only, which is written where that is another instant), names, END, number of keys (long),
   *          CRC32C of all that (long)
   * name     NAME, name, number of tables, tables
   * table    last policy, widest policy, number of pauses, pauses, keys, 0
   * pause    the first instant of it, the first after it, by the calendar
   * key      fingerprint, never 0; the state's words, after their number where it varies; where
   *          windows are aligned its instants are the calendar's
   *
   * All numbers are big-endian. Names and keys are in order, and states compact, so that stores
   * which have decided the same write the same. A release that changes what a state means changes
   * the version.
   */
  private static final int MAGIC = 0x57454953; // WEIS
  private static final int VERSION = 1;
  private static final int VERSION_WITH_CALENDAR = 2;
  private static final int NAME = 1;
  private static final int END = 0;

  private final long first;
  private final long last;
  private final long thenNanos;
  private final long thenShownNanos;
  private final List<Name> names = new ArrayList<>();

  private record Name(String name, List<LiftedState> tables) {}

  private record LiftedState(Policy last, Policy widest, List<Pause> pauses, List<Key> keys) {}

  private static final class Key {
    final long fingerprint;
    final long[] state;

    Key(long fingerprint, long[] state) {
      this.fingerprint = fingerprint;
      this.state = state;
    }
  }

  /**
   * Creates an image without keys.
   *
   * @param thenShownNanos the instant of the calendar at {@code thenNanos}
   */
  private SlotImage(long first, long last, long thenNanos, long thenShownNanos) {
    if (Long.compareUnsigned(first, last) > 0) {
      throw new IllegalArgumentException(
          "first: " + Long.toHexString(first) + " (expected: at most " + Long.toHexString(last));
    }
    this.first = first;
    this.last = last;
    this.thenNanos = thenNanos;
    this.thenShownNanos = thenShownNanos;
  }

  // Lifting.

  static SlotImage of(
      Iterable<PolicyHistory> histories, Calendar calendar, long first, long last, long nowNanos) {
    SlotImage image = new SlotImage(first, last, nowNanos, calendar.of(nowNanos));
    TreeMap<String, PolicyHistory> sorted = new TreeMap<>();
    histories.forEach(each -> sorted.put(each.name(), each));
    for (PolicyHistory each : sorted.values()) {
      List<LiftedState> tables = new ArrayList<>();
      for (ShapeTable table : each.tables()) {
        LiftedState lifted = image.lifted(table, calendar);
        if (!lifted.keys.isEmpty() || isPaused(table.table())) {
          tables.add(lifted);
        }
      }
      if (!tables.isEmpty()) {
        image.names.add(new Name(each.name(), tables));
      }
    }
    return image;
  }

  private static boolean isPaused(Table table) {
    return table.shape.algorithm() == Algorithm.FIXED_WINDOW;
  }

  private LiftedState lifted(ShapeTable from, Calendar calendar) {
    Table table = from.table();
    if (table.isUnsure()) {
      throw new IllegalStateException(
          "store: counts keys without a state of their own (expected: room for all keys, and a"
              + " known past)");
    }
    List<Key> keys = new ArrayList<>();
    table.forEach(
        first,
        last,
        (fingerprint, state) -> {
          if (table.meter.resetAtNanos(state, 0) > thenNanos) {
            long[] lifted = table.meter.compact(state);
            table.meter.lift(lifted, 0);
            keys.add(new Key(fingerprint, lifted));
          }
        });
    keys.sort((one, other) -> Long.compareUnsigned(one.fingerprint, other.fingerprint));
    List<Pause> pauses =
        table.pauses().stream()
            .filter(each -> each.isFor(first) && each.untilNanos() > thenNanos)
            .map(each -> each.by(calendar::of))
            .toList();
    return new LiftedState(from.last(), from.widest(thenNanos), pauses, keys);
  }

  byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(MAGIC);
      out.writeInt(thenShownNanos == thenNanos ? VERSION : VERSION_WITH_CALENDAR);
      out.writeLong(first);
      out.writeLong(last);
      out.writeLong(thenNanos);
      if (thenShownNanos != thenNanos) {
        out.writeLong(thenShownNanos);
      }
      long keys = 0;
      for (Name each : names) {
        out.writeByte(NAME);
        out.writeUTF(each.name);
        out.writeByte(each.tables.size());
        for (LiftedState table : each.tables) {
          write(table, out);
          keys += table.keys.size();
        }
      }
      out.writeByte(END);
      out.writeLong(keys);
      out.writeLong(crc(bytes.toByteArray()));
    } catch (IOException e) {
      throw new AssertionError(e); // An array in memory throws none.
    }
    return bytes.toByteArray();
  }

  private static long crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return crc.getValue();
  }

  private static void write(LiftedState table, DataOutputStream out) throws IOException {
    StateImage.writePolicy(table.last, out);
    StateImage.writePolicy(table.widest, out);
    out.writeByte(table.pauses.size());
    for (Pause each : table.pauses) {
      out.writeLong(each.fromNanos());
      out.writeLong(each.untilNanos());
    }
    boolean varies = table.last.shape().meter().words() == 0;
    for (Key each : table.keys) {
      out.writeLong(each.fingerprint);
      if (varies) {
        out.writeInt(each.state.length);
      }
      for (long word : each.state) {
        out.writeLong(word);
      }
    }
    out.writeLong(0);
  }

  // Laying.

  /**
   * Reads the whole image.
   *
   * @throws IOException if the bytes are damaged, or of another format
   */
  static SlotImage read(byte[] bytes) throws IOException {
    int summed = bytes.length - Long.BYTES;
    if (summed < Long.BYTES) {
      throw new IOException("damaged: " + bytes.length + " bytes");
    }
    try (DataInputStream sum = at(bytes, summed)) {
      if (sum.readLong() != crc(Arrays.copyOf(bytes, summed))) {
        throw new IOException("damaged: its sum is wrong");
      }
    }
    try (DataInputStream in = at(bytes, 0)) {
      if (in.readInt() != MAGIC) {
        throw new IOException("no keys of a store (expected: some, which begin with WEIS)");
      }
      int version = in.readInt();
      if (version != VERSION && version != VERSION_WITH_CALENDAR) {
        throw new IOException(
            "format " + version + " (expected: " + VERSION + " or " + VERSION_WITH_CALENDAR + ")");
      }
      long first = in.readLong();
      long last = in.readLong();
      long then = in.readLong();
      long shown = version == VERSION ? then : in.readLong();
      SlotImage image = new SlotImage(first, last, then, shown);
      image.readNames(in);
      return image;
    } catch (EOFException e) {
      throw new IOException("damaged: it ends too early", e);
    } catch (RuntimeException e) { // Thrown for numbers that no policy and no state can have.
      throw new IOException("damaged: " + e.getMessage(), e);
    }
  }

  private static DataInputStream at(byte[] bytes, int from) {
    return new DataInputStream(new ByteArrayInputStream(bytes, from, bytes.length - from));
  }

  private void readNames(DataInputStream in) throws IOException {
    long keys = 0;
    for (int mark = in.readByte(); mark != END; mark = in.readByte()) {
      if (mark != NAME) {
        throw new IOException("damaged: mark " + mark);
      }
      String name = in.readUTF();
      List<LiftedState> tables = new ArrayList<>();
      for (int i = in.readByte(); i > 0; i--) {
        LiftedState table = readTable(in);
        keys += table.keys.size();
        tables.add(table);
      }
      names.add(new Name(name, tables));
    }
    if (in.readLong() != keys) {
      throw new IOException("damaged: another number of keys");
    }
  }

  private LiftedState readTable(DataInputStream in) throws IOException {
    Policy lastPolicy = StateImage.readPolicy(in);
    Policy widest = StateImage.readPolicy(in);
    List<Pause> pauses = new ArrayList<>();
    for (int i = in.readByte(); i > 0; i--) {
      pauses.add(new Pause(first, last, in.readLong(), in.readLong()));
    }
    Meter meter = lastPolicy.shape().meter();
    List<Key> keys = new ArrayList<>();
    for (long key = in.readLong(); key != 0; key = in.readLong()) {
      if (!new Pause(first, last, 0, 0).isFor(key)) {
        throw new IOException("damaged: a key " + Long.toHexString(key));
      }
      keys.add(new Key(key, StateImage.readState(meter, in)));
    }
    return new LiftedState(lastPolicy, widest, pauses, keys);
  }

  /**
   * Lays the keys.
   *
   * @throws IllegalStateException if one of them is in the store; nothing has changed then
   */
  void layInto(
      ConcurrentHashMap<String, PolicyHistory> histories,
      Function<String, PolicyHistory> newHistory,
      Calendar calendar,
      long nowNanos) {
    long shownNanos = calendar.of(nowNanos);
    histories.values().forEach(this::checkEmpty);
    for (Name each : names) {
      PolicyHistory history = histories.computeIfAbsent(each.name, newHistory);
      for (LiftedState from : each.tables) {
        long window = from.last.shape().windowNanos();
        List<Pause> pauses =
            from.last.shape().algorithm() == Algorithm.FIXED_WINDOW
                ? Pause.moved(from.pauses, first, last, window, thenShownNanos, shownNanos).stream()
                    .map(pause -> pause.by(calendar::first))
                    .toList()
                : List.of();
        Table table = history.tableFor(from.last, from.widest, pauses, nowNanos);
        boolean aligned = from.last.shape().algorithm().aligned();
        for (Key key : from.keys) {
          long[] state = key.state.clone();
          if (aligned) {
            table.meter.shift(state, 0, thenShownNanos, nowNanos);
          } else if (nowNanos != thenNanos) {
            table.meter.shift(state, 0, thenNanos, nowNanos);
          }
          if (table.meter.resetAtNanos(state, 0) > nowNanos) {
            table.lay(key.fingerprint, state, nowNanos);
          }
        }
      }
    }
  }

  private void checkEmpty(PolicyHistory history) {
    for (ShapeTable each : history.tables()) {
      each.table()
          .forEach(
              first,
              last,
              (fingerprint, state) -> {
                throw new IllegalStateException(
                    "key " + Long.toHexString(fingerprint) + ": is here (expected: none of them)");
              });
    }
  }
}
