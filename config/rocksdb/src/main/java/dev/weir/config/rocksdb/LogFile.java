package dev.weir.config.rocksdb;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * A reader that checks a log of RocksDB's, or its list of files, which has the same form, before
 * RocksDB reads it.
 */
final class LogFile implements AutoCloseable {
  /*
   * Why read what RocksDB reads itself? Its reader (log_reader.cc in 11.8.1, since its change
   * 12643) never returns from one damage: a header whose type is one of those for files that are
   * used again, in a file that does not begin with such a type. The header counts as a bad record,
   * but the reader stays before it and reads it again, for ever. Six of the 256 types have this
   * effect, so one flipped bit is enough, and random bytes behind the end have it in one of 43
   * cases. And if a header is zero, the reader goes on with the next block without a warning.
   *
   * A file is a row of blocks. A record is in one or more parts, none of which crosses the end of a
   * block: a checksum, a length of two bytes, a type and the content. The rest of a block, if it is
   * less than a header, is unused. A process that dies leaves at most an incomplete record at the
   * end and a machine that loses power may leave zeros there; everything else is damage.
   *
   * This reader follows the path of RocksDB's reader, which continues after damage with the next
   * block. So it finds every header that RocksDB would misread, and can replace its type by one
   * that RocksDB refuses.
   */
  private static final int BLOCK_BYTES = 32 << 10;
  private static final int HEADER_BYTES = 7;
  private static final int LENGTH_AT = 4;
  private static final int TYPE_AT = 6;

  /** A type that RocksDB does not use; it refuses a record of this type for its checksum. */
  private static final byte REFUSED_TYPE = 0x7f;

  private static final int CRC_ROTATION = 15;
  private static final int CRC_ADDEND = 0xa282ead8;

  /**
   * The part of a file that is as it was written.
   *
   * @param bytes the length of the whole records at its beginning
   * @param damaged whether what follows cannot be the end of a write that was broken off
   */
  record Sound(long bytes, boolean damaged) {}

  private final FileChannel file;
  private final boolean disarm;
  private final CRC32C crc = new CRC32C();
  private final ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);

  /** The offset in the file of the block that is read. */
  private long start;

  /** The offset in the file of the first part that is not whole, or -1. */
  private long sound = -1;

  private boolean soundBeforeZeros;
  private boolean damaged;

  private LogFile(FileChannel file, boolean disarm) {
    this.file = file;
    this.disarm = disarm;
  }

  static Sound read(Path path) throws IOException {
    try (LogFile log = new LogFile(FileChannel.open(path, StandardOpenOption.READ), false)) {
      return log.read();
    }
  }

  /**
   * Reads a file like {@link #read(Path)}, and replaces the types of headers that RocksDB would
   * misread, so that it finds the damage.
   */
  static Sound disarm(Path path) throws IOException {
    FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try (LogFile log = new LogFile(file, true)) {
      return log.read();
    }
  }

  private Sound read() throws IOException {
    while (readBlock()) {
      int at = 0;
      while (at >= 0 && block.limit() - at >= HEADER_BYTES) {
        at = next(at);
      }
      if (at >= 0 && at < block.limit() && block.limit() < BLOCK_BYTES) {
        stop(at, false); // A part of a header.
      }
      start += BLOCK_BYTES;
    }
    if (disarm && damaged && soundBeforeZeros) {
      replaceType(sound + TYPE_AT);
    }
    return new Sound(sound < 0 ? file.size() : sound, damaged);
  }

  private boolean readBlock() throws IOException {
    block.clear();
    while (block.hasRemaining() && file.read(block, start + block.position()) > 0) {
      // A read may return fewer bytes than requested.
    }
    block.flip();
    return block.hasRemaining();
  }

  /** Returns the offset of the next part, or -1 if the rest of the block is to be skipped. */
  private int next(int at) throws IOException {
    int type = Byte.toUnsignedInt(block.get(at + TYPE_AT));
    int end = at + HEADER_BYTES + Short.toUnsignedInt(block.getShort(at + LENGTH_AT));
    if (type == 0 && end == at + HEADER_BYTES) {
      soundBeforeZeros |= sound < 0;
      return stop(at, !zerosFollow(at));
    }
    damaged |= sound >= 0; // There is data behind what should be the end.
    if (isOfFileUsedAgain(type)) {
      if (disarm) {
        replaceType(start + at + TYPE_AT);
      }
      return stop(at, true);
    }
    if (end > block.limit()) {
      return stop(at, end > BLOCK_BYTES);
    }
    return block.getInt(at) == crc(at + TYPE_AT, end) ? end : stop(at, true);
  }

  private int stop(int at, boolean damage) {
    sound = sound < 0 ? start + at : sound;
    damaged |= damage;
    return -1;
  }

  private static boolean isOfFileUsedAgain(int type) {
    return (type >= 5 && type <= 8) || type == 11 || type == 131;
  }

  private void replaceType(long at) throws IOException {
    ByteBuffer type = ByteBuffer.wrap(new byte[] {REFUSED_TYPE});
    while (type.hasRemaining()) {
      file.write(type, at);
    }
  }

  private boolean zerosFollow(int from) {
    for (int at = from; at < block.limit(); at++) {
      if (block.get(at) != 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns the checksum in RocksDB's form: rotated and shifted, since records may hold checksums.
   */
  private int crc(int from, int to) {
    crc.reset();
    crc.update(block.array(), from, to - from);
    return Integer.rotateRight((int) crc.getValue(), CRC_ROTATION) + CRC_ADDEND;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
