package dev.weir;

import dev.weir.Journal.Ref;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The repetition of what a {@link Journal} has, in a store that was read from its image. */
final class JournalReplay {
  private final StoreFiles own;
  private final MemoryStore store;
  private final int image;
  private final List<Ref> refs;
  private final StateReading reading;

  /** The policies under which the keys of each table were charged, with the table's own shape. */
  private final Map<TableKey, List<Policy>> policies = new HashMap<>();

  private final Map<TableKey, Table> tables = new HashMap<>();
  private long nextSequence;
  private long records;
  private long latestNanos;
  private @Nullable String damage;

  /**
   * The damage that does not end a replay.
   *
   * @param any whether to pass over whatever is damaged, and report it
   * @param unfinished whether to pass over records that are not whole: they were being written when
   *     the machine ended, and nothing was answered that depends on them
   */
  record Tolerance(boolean any, boolean unfinished) {}

  /** A table by its name and shape. */
  private record TableKey(String name, Shape shape) {
    static TableKey of(Ref ref) {
      return new TableKey(ref.name(), ref.shape());
    }
  }

  /**
   * Prepares a replay.
   *
   * @param image the number of the image that the store was read from
   * @param latestNanos an instant that the store's clock had reached when the image was begun
   * @param reading the progress
   */
  JournalReplay(
      StoreFiles own,
      MemoryStore store,
      int image,
      List<Ref> refs,
      long latestNanos,
      StateReading reading) {
    this.own = own;
    this.store = store;
    this.image = image;
    this.refs = refs;
    this.latestNanos = latestNanos;
    this.reading = reading;
  }

  /** Returns a number for the next file. */
  long nextSequence() {
    return nextSequence;
  }

  /** Returns how many records were repeated. */
  long records() {
    return records;
  }

  /** Returns the latest instant of all records. */
  long latestNanos() {
    return latestNanos;
  }

  /** Returns the first damage that was found and passed over, or null. */
  @Nullable String damage() {
    return damage;
  }

  /**
   * Repeats all records that are not in the image.
   *
   * @throws IOException if a file is damaged or cannot be read
   */
  void run(Tolerance tolerance) throws IOException {
    List<JournalFile> files = new ArrayList<>();
    for (Path each : own.files()) {
      nextSequence = Math.max(nextSequence, 1 + number(each));
      JournalFile file = opened(each, tolerance);
      if (file != null) {
        nextSequence = Math.max(nextSequence, 1 + file.sequence());
        files.add(file);
      }
    }
    for (Ref each : refs) {
      Policy own = each.shaped();
      if (own != null) {
        policies.computeIfAbsent(TableKey.of(each), key -> new ArrayList<>()).add(own);
      }
    }
    for (TableKey each : policies.keySet()) {
      if (store.hasTable(each.name(), each.shape())) {
        var unused = table(each);
      }
    }
    files.sort(
        Comparator.comparingLong(JournalFile::sequence)); // So those of each lane are in order.
    try {
      for (JournalFile each : files) {
        reading.advance(each.length());
        repeat(each, tolerance);
      }
    } catch (RuntimeException e) { // Thrown for numbers that no charge can have.
      throw new IOException("damaged: " + e, e);
    } catch (InternalError e) { // Thrown where a mapped file cannot be read.
      throw new IOException("cannot be read: " + e.getMessage(), e);
    }
  }

  private @Nullable JournalFile opened(Path file, Tolerance tolerance) throws IOException {
    try {
      return JournalFile.open(file);
    } catch (IOException e) {
      if (tolerance.any) {
        found(e.getMessage());
        return null;
      }
      throw e;
    }
  }

  private void found(@Nullable String what) {
    damage = damage == null ? what : damage;
  }

  private static long number(Path file) {
    String name = Objects.requireNonNull(file.getFileName()).toString();
    try {
      return Long.parseLong(name.substring(name.lastIndexOf('-') + 1));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private void repeat(JournalFile file, Tolerance tolerance) throws IOException {
    for (int at = JournalFile.FIRST; at <= file.length() - JournalFile.UNIT; ) {
      int unfinished = file.unfinished(at);
      if (unfinished > 0) {
        at += unfinished;
        continue;
      }
      int head = (int) file.head(at);
      int kind = Journal.kind(head);
      int words = kind < 1 || kind >= Journal.WORDS.length ? -1 : Journal.WORDS[kind];
      if (kind == Journal.STATE || kind == Journal.CELL) {
        long length = at + 3 * Long.BYTES <= file.length() ? file.word(at + 2 * Long.BYTES) : -1;
        words = length < 1 || length > SlidingLog.MAX_LONGS ? -1 : 2 + (int) length;
      }
      if (!file.isRecord(at, words) || !refersToNames(file, at, kind, head)) {
        String where = file + ": damaged at byte " + at;
        if (!tolerance.unfinished) {
          if (!tolerance.any) {
            throw new IOException(where);
          }
          found(where);
        }
        at += JournalFile.UNIT; // No other record begins before, and none looks like one by chance.
        continue;
      }
      if (Journal.isAfter(image, head)) {
        repeat(file, at, kind, refs.get(Journal.ref(head)));
        records++;
      }
      at += JournalFile.length(words);
    }
  }

  private boolean refersToNames(JournalFile file, int at, int kind, int head) {
    long admitting = kind == Journal.RECORD ? file.word(at + 40) : 0;
    return Journal.ref(head) < refs.size() && admitting >= 0 && admitting < refs.size();
  }

  /**
   * Returns a table that the image has or a record refers to. The limits of all entries for it
   * count, even if no record refers to them.
   */
  private Table table(TableKey key) throws IOException {
    Table table = tables.get(key);
    if (table != null) {
      return table;
    }
    for (Policy each : policies.getOrDefault(key, List.of())) {
      table = store.tableOf(key.name(), each);
    }
    if (table == null) {
      throw new IOException("damaged: no policy of " + key.name() + ", " + key.shape());
    }
    tables.put(key, table);
    return table;
  }

  private void repeat(JournalFile file, int at, int kind, Ref ref) throws IOException {
    Table table = table(TableKey.of(ref));
    long fingerprint = file.word(at + 8);
    long second = file.word(at + 16);
    long third = file.word(at + 24);
    Policy policy = ref.policy().policy();
    switch (kind) {
      case Journal.CHARGE, Journal.CHARGE_LATER -> {
        long wait = kind == Journal.CHARGE ? 0 : file.word(at + 32);
        reached(second);
        table.charge(fingerprint, second, wait, third, policy);
      }
      case Journal.RECORD -> {
        long permits = file.word(at + 32);
        long admitting = file.word(at + 40);
        reached(second);
        Policy by = refs.get((int) admitting).policy().policy();
        table.record(fingerprint, second, third, permits, policy, by);
      }
      case Journal.REFUND -> {
        reached(second);
        table.refund(fingerprint, second, third, file.word(at + 32), policy);
      }
      case Journal.STATE, Journal.CELL -> {
        long[] state = new long[(int) second];
        for (int i = 0; i < state.length; i++) {
          state[i] = file.word(at + 24 + Long.BYTES * i);
        }
        if (kind == Journal.CELL && table.cellBits() != ref.cellBits()) {
          throw new IOException("counts keys together by other bounds (expected: the same)");
        }
        table.replace(fingerprint, state, kind == Journal.CELL, Meter.LONG_AGO);
      }
      case Journal.BUCKET -> {
        reached(second);
        table.replace(fingerprint, new long[] {third}, false, second);
      }
      case Journal.REMOVE -> table.remove(fingerprint);
      case Journal.BAR -> table.restoreBar(fingerprint, second, third);
      default -> throw new AssertionError(kind);
    }
  }

  private void reached(long nanos) {
    latestNanos = Math.max(latestNanos, nanos);
  }
}
