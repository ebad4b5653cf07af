package dev.weir.insight;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * A file of rows, to which rows are added at its end. It has eight bytes that identify its format,
 * then records of a length, a CRC-32C of the bytes that follow, and either the name of a rule or a
 * row. A row names its rules by the places of their names in the file. For one thread.
 */
final class Segment implements AutoCloseable {
  private static final byte[] MAGIC = "WEIRHIS1".getBytes(US_ASCII);
  private static final int HEAD_BYTES = 8;
  private static final int NAME = 1;
  private static final int ROW = 2;

  /** The most bytes of a record: more than 200 rules whose numbers have 64 bits. */
  private static final int MAX_RECORD_BYTES = 64 << 10;

  /** A failure because a file is not as it was written. */
  static final class DamagedException extends IOException {
    private static final long serialVersionUID = 1;

    DamagedException(Path file, long at, String what) {
      super(file + ": damaged at byte " + at + ": " + what);
    }
  }

  /**
   * The contents of a file.
   *
   * @param end the place behind the last whole record: a crash may leave a part of another one
   */
  record Contents(List<String> names, long end) {}

  private final FileChannel channel;
  private final Map<String, Integer> names = new HashMap<>();
  private long size;

  private Segment(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Opens a file to add rows to it, and makes it if it does not exist.
   *
   * @throws DamagedException if it is not as it was written
   */
  static Segment open(Path file) throws IOException {
    boolean there = Files.exists(file) && Files.size(file) > 0;
    Contents contents = there ? read(file, row -> {}) : new Contents(List.of(), 0);
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    Segment segment = new Segment(channel);
    try {
      channel.truncate(contents.end());
      channel.position(contents.end());
      segment.size = contents.end();
      for (String name : contents.names()) {
        segment.names.put(name, segment.names.size());
      }
      if (segment.size == 0) {
        segment.write(ByteBuffer.wrap(MAGIC));
      }
      return segment;
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /** Adds a row. If that fails, the file must be opened anew. */
  void add(Row row) throws IOException {
    List<byte[]> records = new ArrayList<>();
    byte[] bytes =
        RowCodec.encode(
            row,
            rule -> {
              Integer known = names.get(rule);
              if (known == null) {
                known = names.size();
                names.put(rule, known);
                records.add(record(NAME, rule.getBytes(UTF_8)));
              }
              return known;
            });
    records.add(record(ROW, bytes));
    int length = records.stream().mapToInt(each -> each.length).sum();
    ByteBuffer all = ByteBuffer.allocate(length);
    records.forEach(all::put);
    write(all.flip());
  }

  private static byte[] record(int kind, byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(kind);
    crc.update(bytes);
    return ByteBuffer.allocate(HEAD_BYTES + 1 + bytes.length)
        .putInt(1 + bytes.length)
        .putInt((int) crc.getValue())
        .put((byte) kind)
        .put(bytes)
        .array();
  }

  private void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      size += channel.write(bytes);
    }
  }

  long size() {
    return size;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  /**
   * Passes on the rows of a file, in the order in which they were added. An incomplete record ends
   * it: it is being written, or was when the process ended.
   *
   * @throws DamagedException if it is not as it was written
   */
  static Contents read(Path file, Consumer<Row> sink) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    for (int i = 0; i < MAGIC.length; i++) {
      if (i == bytes.length) {
        return new Contents(List.of(), 0); // Not even its beginning was written.
      }
      if (bytes[i] != MAGIC[i]) {
        throw new DamagedException(file, i, "another beginning (expected: WEIRHIS1)");
      }
    }
    List<String> names = new ArrayList<>();
    ByteBuffer head = ByteBuffer.wrap(bytes);
    int at = MAGIC.length;
    while (bytes.length - at >= HEAD_BYTES) {
      int length = head.getInt(at);
      if (length < 1 || length > MAX_RECORD_BYTES) {
        throw new DamagedException(
            file, at, "a record of " + length + " bytes (expected: 1..65536)");
      }
      int from = at + HEAD_BYTES;
      if (bytes.length - from < length) {
        break;
      }
      CRC32C crc = new CRC32C();
      crc.update(bytes, from, length);
      if ((int) crc.getValue() != head.getInt(at + 4)) {
        throw new DamagedException(file, at, "a record with another checksum");
      }
      take(file, bytes, from, length, names, sink);
      at = from + length;
    }
    return new Contents(names, at);
  }

  private static void take(
      Path file, byte[] bytes, int from, int length, List<String> names, Consumer<Row> sink)
      throws DamagedException {
    if (bytes[from] == NAME) {
      names.add(new String(bytes, from + 1, length - 1, UTF_8));
      return;
    }
    Row row;
    try {
      row = RowCodec.decode(bytes, from + 1, from + length, names::get);
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new DamagedException(file, from, String.valueOf(e.getMessage()));
    }
    sink.accept(row);
  }
}
