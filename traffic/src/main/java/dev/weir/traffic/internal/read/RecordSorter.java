package dev.weir.traffic.internal.read;

import dev.weir.traffic.TrafficException;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * A sorter of records by time in bounded memory; those of the same time stay in their order.
 * Records that do not fit are written to temporary files, which {@link #close} deletes. Not safe
 * for use by several threads.
 */
public final class RecordSorter implements Closeable {
  /*
   * How does it sort? It is an external merge sort. Records are collected in one array; when that
   * is full, they are sorted and written as a run. At the end all runs and the records left in
   * memory are merged: the earliest record always comes next, of equals that of the earlier run,
   * since runs are in the order of the input. With too many runs for one merge, all are merged into
   * one first. A record is held as the bytes of its wanted columns, not as a request: a request
   * takes several times as much.
   *
   * Files are streams and not channels, which an interrupt would close.
   */

  /** The most runs: so many files can be open at once with a buffer each. */
  static final int MAX_RUNS = 128;

  private static final int READ_BUFFER = 1 << 16;

  /**
   * The bytes of a record before its columns: time, line and input. Each column follows with its
   * length before it.
   */
  private static final int HEADER_BYTES = 8 + 8 + 4;

  /** A receiver of records. */
  public interface Taker {
    /** Receives a record. Returns false to end the sorting. */
    boolean take(int input, long line, long timeNanos, RecordValues values)
        throws IOException, TrafficException;
  }

  /** A run: sorted records, one after the other. */
  private interface Run extends Closeable {
    /** Returns the next record; an empty array at the end. */
    byte[] next() throws IOException;
  }

  private static final byte[] END = {};

  private final int slots;
  private final byte[] arena;
  private int filled;
  private int[] offsets = new int[1024];
  private int count;
  private final List<Path> files = new ArrayList<>();
  private final List<Run> open = new ArrayList<>();

  /**
   * Returns a sorter.
   *
   * @param slots the number of columns of a record
   * @param maxBytes the most bytes held in memory; a record that takes more is held alone
   */
  public RecordSorter(int slots, int maxBytes) {
    this.slots = slots;
    arena = new byte[maxBytes];
  }

  /** Adds a record. */
  public void add(int input, long line, long timeNanos, RecordValues values) throws IOException {
    int size = HEADER_BYTES;
    for (int i = 0; i < slots; i++) {
      size += 4 + values.to(i) - values.from(i);
    }
    if (size + 4 > arena.length) {
      throw new IOException("record of " + size + " bytes (expected: less than memory holds)");
    }
    if (filled + size + 4 > arena.length) {
      spill();
    }
    if (count == offsets.length) {
      offsets = Arrays.copyOf(offsets, 2 * count);
    }
    offsets[count++] = filled;
    ByteBuffer to = ByteBuffer.wrap(arena, filled, size + 4);
    to.putInt(size).putLong(timeNanos).putLong(line).putInt(input);
    for (int i = 0; i < slots; i++) {
      int length = values.to(i) - values.from(i);
      to.putInt(length).put(values.data(i), values.from(i), length);
    }
    filled += size + 4;
  }

  private void spill() throws IOException {
    if (files.size() == MAX_RUNS) {
      List<Path> before = List.copyOf(files);
      files.clear();
      files.add(written(merged(runs(before))));
      for (Path file : before) {
        Files.deleteIfExists(file);
      }
    }
    files.add(written(memory()));
    filled = 0;
    count = 0;
  }

  /** Returns the records in memory, sorted. */
  private Run memory() {
    Integer[] order = new Integer[count];
    for (int i = 0; i < count; i++) {
      order[i] = offsets[i];
    }
    ByteBuffer in = ByteBuffer.wrap(arena);
    Arrays.sort(order, Comparator.comparingLong(offset -> in.getLong(offset + 4))); // Is stable.
    return new Run() {
      private int at;

      @Override
      public byte[] next() {
        if (at == order.length) {
          return END;
        }
        int offset = order[at++];
        return Arrays.copyOfRange(arena, offset + 4, offset + 4 + in.getInt(offset));
      }

      @Override
      public void close() {}
    };
  }

  private static Path written(Run run) throws IOException {
    Path file = Files.createTempFile("weir-sort", ".run");
    try (run;
        DataOutputStream out =
            new DataOutputStream(
                new BufferedOutputStream(new FileOutputStream(file.toFile()), READ_BUFFER))) {
      for (byte[] record = run.next(); record.length > 0; record = run.next()) {
        out.writeInt(record.length);
        out.write(record);
      }
      return file;
    } catch (IOException e) {
      Files.deleteIfExists(file);
      throw e;
    }
  }

  private List<Run> runs(List<Path> from) throws IOException {
    List<Run> runs = new ArrayList<>();
    for (Path file : from) {
      DataInputStream in =
          new DataInputStream(
              new BufferedInputStream(new FileInputStream(file.toFile()), READ_BUFFER));
      Run run =
          new Run() {
            @Override
            public byte[] next() throws IOException {
              int length;
              try {
                length = in.readInt();
              } catch (EOFException e) {
                return END;
              }
              byte[] record = new byte[length];
              in.readFully(record);
              return record;
            }

            @Override
            public void close() throws IOException {
              in.close();
            }
          };
      runs.add(run);
      open.add(run);
    }
    return runs;
  }

  /** The first record of a run that is not yet passed on. */
  private static final class Head {
    private final long timeNanos;
    private final int number;
    private final byte[] record;
    private final Run run;

    Head(int number, byte[] record, Run run) {
      timeNanos = ByteBuffer.wrap(record).getLong();
      this.number = number;
      this.record = record;
      this.run = run;
    }

    long timeNanos() {
      return timeNanos;
    }

    int number() {
      return number;
    }
  }

  private static Run merged(List<Run> runs) throws IOException {
    PriorityQueue<Head> heads =
        new PriorityQueue<>(
            Comparator.comparingLong(Head::timeNanos).thenComparingInt(Head::number));
    for (int i = 0; i < runs.size(); i++) {
      push(heads, runs.get(i), i);
    }
    return new Run() {
      @Override
      public byte[] next() throws IOException {
        Head head = heads.poll();
        if (head == null) {
          return END;
        }
        push(heads, head.run, head.number);
        return head.record;
      }

      @Override
      public void close() throws IOException {
        for (Run run : runs) {
          run.close();
        }
      }
    };
  }

  private static void push(PriorityQueue<Head> heads, Run run, int number) throws IOException {
    byte[] record = run.next();
    if (record.length > 0) {
      heads.add(new Head(number, record, run));
    }
  }

  /** Passes all records on, the earliest first. To be called once. */
  public void each(Taker taker) throws IOException, TrafficException {
    List<Run> runs = runs(files);
    runs.add(memory());
    RecordValues values = new RecordValues(slots);
    try (Run all = merged(runs)) {
      for (byte[] record = all.next(); record.length > 0; record = all.next()) {
        ByteBuffer in = ByteBuffer.wrap(record);
        long timeNanos = in.getLong();
        long line = in.getLong();
        int input = in.getInt();
        for (int i = 0; i < slots; i++) {
          int length = in.getInt();
          values.set(i, record, in.position(), in.position() + length);
          in.position(in.position() + length);
        }
        if (!taker.take(input, line, timeNanos, values)) {
          return;
        }
      }
    }
  }

  /** Returns the number of files. */
  int runs() {
    return files.size();
  }

  @Override
  public void close() throws IOException {
    for (Run run : open) {
      run.close();
    }
    for (Path file : files) {
      Files.deleteIfExists(file);
    }
  }
}
