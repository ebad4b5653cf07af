package dev.weir.config.rocksdb;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** A file that records how far a database has come. Used by one thread at a time. */
final class Anchor implements AutoCloseable {
  /*
   * Why a second record, when the database has its own? If its log or its list of files is cut
   * short, RocksDB opens it without a warning and without the rows behind the cut. The anchor
   * records how far both had come at the last acknowledged write, so that a database older than
   * that is recognized.
   *
   * It is written after the database's own fsync and before the write is acknowledged, without an
   * fsync of its own: after a loss of power it may be older than the database, which is safe. Two
   * places are written in turn, so that a write that is broken off leaves the other one whole.
   */
  private static final int SLOT_BYTES = 64;
  private static final int CHECKED_BYTES = 4 * Long.BYTES;
  private static final long MAGIC = 0x5765_6972_416e_6331L;

  /**
   * The progress of a database.
   *
   * @param sequence RocksDB's number of the last row that was written
   * @param manifest the number of the list of files
   * @param manifestBytes the length of that list; it only grows
   */
  record Mark(long sequence, long manifest, long manifestBytes) {
    static final Mark NONE = new Mark(0, 0, 0);
  }

  private final FileChannel file;
  private final ByteBuffer slot = ByteBuffer.allocate(SLOT_BYTES);
  private long writes;

  private Anchor(FileChannel file) {
    this.file = file;
  }

  static Anchor open(Path path) throws IOException {
    return new Anchor(
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE));
  }

  /** Returns the last mark written, NONE in a new file, or null if no mark can be read. */
  @Nullable Mark read() throws IOException {
    Mark found = file.size() == 0 ? Mark.NONE : null;
    for (int place = 0; place < 2; place++) {
      slot.clear();
      if (file.read(slot, (long) place * SLOT_BYTES) == SLOT_BYTES) {
        slot.flip();
        long magic = slot.getLong();
        Mark mark = new Mark(slot.getLong(), slot.getLong(), slot.getLong());
        boolean sound = magic == MAGIC && slot.getLong() == crc();
        if (sound && (found == null || mark.sequence() >= found.sequence())) {
          found = mark;
        }
      }
    }
    return found;
  }

  void write(Mark mark) throws IOException {
    slot.clear();
    slot.putLong(MAGIC)
        .putLong(mark.sequence())
        .putLong(mark.manifest())
        .putLong(mark.manifestBytes())
        .putLong(crc())
        .position(SLOT_BYTES)
        .flip();
    long place = writes++ % 2 * SLOT_BYTES;
    while (slot.hasRemaining()) {
      file.write(slot, place + slot.position());
    }
  }

  private long crc() {
    CRC32C crc = new CRC32C();
    crc.update(slot.array(), 0, CHECKED_BYTES);
    return crc.getValue();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
