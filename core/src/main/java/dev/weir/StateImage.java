package dev.weir;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;
import org.jspecify.annotations.Nullable;

/** The states of a {@link MemoryStore} as a sequence of bytes. */
final class StateImage {
  /*
   * image    magic, version, seed (2 longs), calendar, unknownBefore, histories, END, number of keys (long),
   *          CRC32C of all that (long)
   * calendar number of steps, for each the first instant and the offset; in versions 4 and 6 only,
   *          which are written where the calendar was ever stepped
   * history  NAME, name, maxKeys, number of tables, tables
   * table    last policy, widest policy, widestLeft, retired, cellBits, sketching, unknownBefore,
   *          unknownFor, unknown, floor, latest, number of pauses (int), pauses, keys, 0, bars, 0
   * pause    first and last fingerprint, the first instant of it, the first after it
   * key      fingerprint, never 0; the state's words, after their number where it varies
   * bar      fingerprint, never 0; the instant until which it counts
   *
   * All numbers are big-endian. A reader checks the sum only at the end, so what it has read until
   * then may be anything: it trusts no length, and returns nothing before it has read to the end. A
   * release that changes what a state means changes the version.
   */
  private static final int MAGIC = 0x57454952; // WEIR
  private static final int VERSION = 3;
  private static final int VERSION_WITH_CALENDAR = 4;

  /** The addition to the version of an image in which any table is a compact log. */
  private static final int COMPACT = 2;

  private static final int UNSTEPPED_WORDS = new Calendar().write().length;
  private static final int NAME = 1;
  private static final int END = 0;
  private static final int BUFFER_BYTES = 1 << 16;

  private StateImage() {}

  static long write(Image from, OutputStream image, TableImage.InterimTask between)
      throws IOException {
    CheckedOutputStream summed = new CheckedOutputStream(image, new CRC32C());
    DataOutputStream out = new DataOutputStream(new BufferedOutputStream(summed, BUFFER_BYTES));
    out.writeInt(MAGIC);
    boolean stepped = from.calendar().length > UNSTEPPED_WORDS;
    out.writeInt((stepped ? VERSION_WITH_CALENDAR : VERSION) + (isCompact(from) ? COMPACT : 0));
    for (long half : from.fingerprint().seed()) {
      out.writeLong(half);
    }
    if (stepped) {
      for (long word : from.calendar()) {
        out.writeLong(word);
      }
    }
    out.writeLong(from.unknownBeforeNanos());
    long[] keys = {0};
    for (Image.Name each : from.names()) {
      out.writeByte(NAME);
      out.writeUTF(each.name());
      out.writeLong(each.maxKeys());
      out.writeByte(each.tables().size());
      for (TableImage table : each.tables()) {
        writeTable(table, from.number(), out, keys, between);
      }
    }
    out.writeByte(END);
    out.writeLong(keys[0]);
    out.flush();
    out.writeLong(summed.getChecksum().getValue());
    out.flush();
    return keys[0];
  }

  private static boolean isCompact(Image image) {
    return image.names().stream()
        .flatMap(name -> name.tables().stream())
        .anyMatch(each -> each.of().table().shape.algorithm() == Algorithm.SLIDING_WINDOW);
  }

  private static void writeTable(
      TableImage each,
      int number,
      DataOutputStream out,
      long[] keys,
      TableImage.InterimTask between)
      throws IOException {
    ShapeTable of = each.of();
    Table table = of.table();
    writePolicy(of.last(), out);
    writePolicy(of.widest(), out);
    out.writeLong(of.widestLeftNanos());
    out.writeLong(of.retiredNanos());
    out.writeByte(table.cellBits());
    out.writeBoolean(each.sketching());
    out.writeLong(each.unknownBeforeNanos());
    out.writeLong(each.unknownForNanos());
    out.writeBoolean(each.unknown());
    out.writeLong(each.floorNanos());
    out.writeLong(each.latestNanos());
    out.writeInt(each.pauses().size());
    for (Pause pause : each.pauses()) {
      out.writeLong(pause.first());
      out.writeLong(pause.last());
      out.writeLong(pause.fromNanos());
      out.writeLong(pause.untilNanos());
    }
    boolean varies = table.meter.words() == 0;
    List<Bars> bars =
        each.forEach(
            number,
            (fingerprint, state) -> {
              out.writeLong(fingerprint);
              if (varies) {
                out.writeInt(state.length);
              }
              for (long word : state) {
                out.writeLong(word);
              }
              keys[0]++;
            },
            between);
    out.writeLong(0);
    for (Bars some : bars) {
      some.forEach(
          (fingerprint, until) -> {
            out.writeLong(fingerprint);
            out.writeLong(until);
          });
    }
    out.writeLong(0);
  }

  /**
   * Writes the properties of a policy that counting needs; the rest comes with the policy that is
   * bound.
   */
  static void writePolicy(Policy policy, DataOutputStream out) throws IOException {
    out.writeUTF(policy.name());
    out.writeUTF(policy.algorithm().name());
    out.writeLong(policy.quota().permits());
    out.writeLong(policy.quota().windowNanos());
    out.writeLong(policy.burst());
    out.writeLong(policy.granularityNanos());
    out.writeLong(policy.lateNanos);
  }

  /** A reader of an image. Used by one thread, once. */
  static final class Reader {
    private final SummedInput summed;
    private final DataInputStream in;
    private final long known;
    private final long now;
    private final boolean exactly;
    private final Fingerprint fingerprint;
    private final UnaryOperator<Policy> counted;
    private final Calendar imaged;
    private final Calendar calendar;
    private final long unknownBefore;
    private long keys;

    /** Reads a store that continues by another clock, or by this one later. */
    Reader(InputStream image, long known, long now) throws IOException {
      this(image, known, now, false);
    }

    /** Reads a store that continues at the instant of the image, as if nothing had happened. */
    static Reader exactly(InputStream image) throws IOException {
      return new Reader(image, 0, 0, true);
    }

    private Reader(InputStream image, long known, long now, boolean exactly) throws IOException {
      this.summed = new SummedInput(image);
      this.in = new DataInputStream(summed);
      this.known = known;
      this.now = now;
      this.exactly = exactly;
      try {
        if (in.readInt() != MAGIC) {
          throw new IOException("no image of a store (expected: one, which begins with WEIR)");
        }
        int version = in.readInt();
        int most = VERSION_WITH_CALENDAR + COMPACT;
        if (version < VERSION || version > most) {
          throw new IOException(
              "format " + version + " (expected: " + VERSION + " to " + most + ")");
        }
        // A version before this one had no compact logs: what is one now was an exact log there.
        boolean compact = version >= VERSION + COMPACT;
        counted = compact ? policy -> policy : Policy::countedExactly;
        boolean stepped = version - (compact ? COMPACT : 0) == VERSION_WITH_CALENDAR;
        fingerprint = Fingerprint.seeded(in.readLong(), in.readLong());
        imaged = stepped ? readCalendar(in) : new Calendar();
        calendar = exactly ? imaged : new Calendar();
        unknownBefore = shifted(in.readLong());
      } catch (EOFException e) {
        throw cut(e);
      }
    }

    private static Calendar readCalendar(DataInputStream in) throws IOException {
      long steps = in.readLong();
      if (steps < 1 || steps > Calendar.MOST_STEPS) {
        throw new IOException("damaged: a calendar of " + steps + " steps");
      }
      long[] words = new long[2 * (int) steps];
      for (int i = 0; i < words.length; i++) {
        words[i] = in.readLong();
      }
      try {
        return Calendar.read(words);
      } catch (IllegalArgumentException e) {
        throw new IOException("damaged: " + e.getMessage(), e);
      }
    }

    Fingerprint fingerprint() {
      return fingerprint;
    }

    /**
     * Returns the calendar with which the store continues: the image's, if the store continues
     * exactly.
     */
    Calendar calendar() {
      return calendar;
    }

    long unknownBeforeNanos() {
      return unknownBefore;
    }

    /**
     * Returns the next name's history; null at the end, if the sum is right.
     *
     * @throws IOException if the image is damaged
     */
    @Nullable PolicyHistory next(Budget budget) throws IOException {
      try {
        int mark = in.readByte();
        if (mark == END) {
          end();
          return null;
        }
        if (mark != NAME) {
          throw new IOException("damaged: mark " + mark);
        }
        PolicyHistory history = new PolicyHistory(in.readUTF(), budget, calendar, unknownBefore);
        long maxKeys = in.readLong();
        List<ShapeTable> tables = new ArrayList<>();
        int count = in.readByte();
        for (int i = 0; i < count; i++) {
          tables.add(table(history.budget()));
        }
        if (exactly) {
          history.resume(tables, maxKeys);
        } else {
          history.restore(tables, now);
        }
        return history;
      } catch (EOFException e) {
        throw cut(e);
      } catch (RuntimeException e) { // Thrown for numbers that no policy and no state can have.
        throw new IOException("damaged: " + e.getMessage(), e);
      }
    }

    private static IOException cut(EOFException e) {
      return new IOException("damaged: it ends too early", e);
    }

    private void end() throws IOException {
      long counted = in.readLong();
      long sum = summed.sum();
      if (in.readLong() != sum || counted != keys) {
        throw new IOException("damaged: its sum is wrong");
      }
    }

    private ShapeTable table(Budget budget) throws IOException {
      Policy last = counted.apply(readPolicy(in));
      Policy widest = counted.apply(readPolicy(in));
      long widestLeft = shifted(in.readLong());
      long retired = shifted(in.readLong());
      Table table = Table.alone(last.shape(), budget, calendar);
      boolean sameCells = in.readByte() == table.cellBits();
      boolean sketching = in.readBoolean();
      long unknown = in.readLong();
      long unknownFor = in.readLong();
      boolean isUnknown = in.readBoolean();
      if (exactly) {
        if (sketching && !sameCells) {
          throw new IOException(
              "cells of other bounds (expected: the bounds of the image's store)");
        }
        table.restoreUnknown(unknown, unknownFor, isUnknown);
      } else if (sketching && !sameCells) { // Such cells do not count the right keys.
        table.unknownBefore(now, now);
      } else if (unknown != Meter.LONG_AGO) {
        // A window that is not over by one clock must not be over by the other.
        boolean counts = known != now && known - unknown <= last.shape().memoryNanos();
        table.unknownBefore(counts ? now : shifted(unknown), now);
      }
      table.restoreTimes(in.readLong() + now - known, in.readLong() + now - known);
      readPauses(table);
      readKeys(table, sketching);
      for (long key = in.readLong(); key != 0; key = in.readLong()) {
        long until = in.readLong() + now - known;
        if (exactly || until > now) {
          table.restoreBar(key, until, exactly ? Meter.LONG_AGO : now);
        }
      }
      return new ShapeTable(table, last, widest, widestLeft, retired);
    }

    private void readPauses(Table table) throws IOException {
      List<Pause> pauses = new ArrayList<>();
      for (int i = in.readInt(); i > 0; i--) {
        long first = in.readLong();
        long last = in.readLong();
        pauses.add(new Pause(first, last, shifted(in.readLong()), shifted(in.readLong())));
      }
      table.pause(pauses);
    }

    private void readKeys(Table table, boolean sketching) throws IOException {
      Meter before = table.shape.meter(imaged, 0);
      long shown = table.shape.algorithm().aligned() ? imaged.of(known) : known;
      for (long key = summed.nextLong(); key != 0; key = summed.nextLong()) {
        long[] state = readState(table.meter);
        keys++;
        if (exactly) {
          table.restore(key, state, sketching, Meter.LONG_AGO);
          continue;
        }
        before.lift(state, 0);
        table.meter.shift(state, 0, shown, now);
        if (table.meter.resetAtNanos(state, 0) > now) {
          table.restore(key, state, sketching, now);
        }
      }
    }

    private long[] readState(Meter meter) throws IOException {
      int words = meter.words();
      long[] state = new long[checkedLength(words > 0 ? words : summed.nextInt())];
      for (int i = 0; i < state.length; i++) {
        state[i] = summed.nextLong();
      }
      return state;
    }

    private long shifted(long nanos) {
      return nanos == Long.MAX_VALUE || nanos == Meter.LONG_AGO ? nanos : nanos + now - known;
    }
  }

  static long[] readState(Meter meter, DataInputStream in) throws IOException {
    int words = meter.words();
    long[] state = new long[checkedLength(words > 0 ? words : in.readInt())];
    for (int i = 0; i < state.length; i++) {
      state[i] = in.readLong();
    }
    return state;
  }

  private static int checkedLength(int words) throws IOException {
    if (words < 1 || words > SlidingLog.MAX_LONGS) {
      throw new IOException("damaged: a state of " + words + " words");
    }
    return words;
  }

  static Policy readPolicy(DataInputStream in) throws IOException {
    String name = in.readUTF();
    Algorithm algorithm = Algorithm.valueOf(in.readUTF());
    Quota quota = new Quota(in.readLong(), in.readLong());
    long burst = in.readLong();
    long granularity = in.readLong();
    long late = in.readLong();
    Policy.Builder builder = Policy.builder(quota).name(name).algorithm(algorithm).late(late);
    if (algorithm.bucket()) {
      builder.burst(burst);
    }
    if (algorithm.granular()) {
      builder.granularity(Duration.ofNanos(granularity));
    }
    return builder.build();
  }
}
