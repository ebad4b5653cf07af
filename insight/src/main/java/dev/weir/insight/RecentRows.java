package dev.weir.insight;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The last rows of one second, in memory, packed. Safe for use by many threads. */
final class RecentRows {
  private static final class PackedRows {
    private final long time;
    private final List<String> rules;
    private final byte[] bytes;

    PackedRows(long time, List<String> rules, byte[] bytes) {
      this.time = time;
      this.rules = rules;
      this.bytes = bytes;
    }

    Row row() {
      return RowCodec.decode(bytes, 0, bytes.length, rules::get);
    }
  }

  private final @Nullable PackedRows[] ring;
  private long added;

  RecentRows(int rows) {
    ring = new PackedRows[rows];
  }

  synchronized void add(Row row) {
    List<String> rules = List.copyOf(row.rules());
    byte[] bytes = RowCodec.encode(row, rules::indexOf);
    ring[(int) (added++ % ring.length)] = new PackedRows(row.time(), rules, bytes);
  }

  /** Passes on the rows that begin in a span, the oldest first. */
  void read(long from, long to, Consumer<Row> sink) {
    for (PackedRows each : all()) {
      if (each != null && each.time >= from && each.time < to) {
        sink.accept(each.row());
      }
    }
  }

  /** Returns the beginning of the oldest row, or null if there is none. */
  @Nullable Long since() {
    Long oldest = null;
    for (PackedRows each : all()) {
      if (each != null && (oldest == null || each.time < oldest)) {
        oldest = each.time;
      }
    }
    return oldest;
  }

  private synchronized @Nullable PackedRows[] all() {
    @Nullable PackedRows[] all = new PackedRows[ring.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = ring[(int) ((added + i) % ring.length)];
    }
    return all;
  }

  /** Returns the bytes that the rows take, without the names of rules. */
  synchronized long bytes() {
    long bytes = 0;
    for (PackedRows each : ring) {
      bytes += each == null ? 4 : 64 + each.bytes.length + 4L * each.rules.size();
    }
    return bytes;
  }
}
