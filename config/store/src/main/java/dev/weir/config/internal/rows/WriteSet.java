package dev.weir.config.internal.rows;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.internal.follow.RowFormat;
import dev.weir.config.rows.Items;
import dev.weir.config.rows.Items.Write;
import dev.weir.config.rows.Rows.Batch;
import dev.weir.config.rows.Rows.Table;
import dev.weir.internal.Choice;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The writes of an update: one for each key, in an order that is always the same. */
public final class WriteSet implements Batch {
  /** The format; raised when older versions of Weir must not finish an update of a newer one. */
  private static final int FORMAT = 1;

  private final Map<String, Map<byte[], Write>> tables = new TreeMap<>();

  public static String name(Table table) {
    return Choice.name(table);
  }

  @Override
  public void put(Table table, byte[] key, byte[] value) {
    add(new Write(name(table), key.clone(), value.clone()));
  }

  @Override
  public void delete(Table table, byte[] key) {
    add(new Write(name(table), key.clone(), null));
  }

  private void add(Write write) {
    tables
        .computeIfAbsent(write.table(), each -> new TreeMap<>(Arrays::compareUnsigned))
        .put(write.key(), write);
  }

  public List<Write> writes() {
    return tables.values().stream().flatMap(each -> each.values().stream()).toList();
  }

  /** Cuts writes into groups that are within the limits; each has at least one write. */
  public static List<List<Write>> groups(List<Write> writes, Items.Limits limits) {
    List<List<Write>> groups = new ArrayList<>();
    List<Write> group = new ArrayList<>();
    long bytes = 0;
    for (Write write : writes) {
      boolean full = group.size() == limits.writes() || bytes + write.bytes() > limits.bytes();
      if (full && !group.isEmpty()) {
        groups.add(group);
        group = new ArrayList<>();
        bytes = 0;
      }
      group.add(write);
      bytes += write.bytes();
    }
    groups.add(group);
    return groups;
  }

  public static byte[] toBytes(List<Write> writes) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream to = new DataOutputStream(bytes)) {
      to.writeByte(FORMAT);
      to.writeInt(writes.size());
      for (Write write : writes) {
        to.writeUTF(write.table());
        to.writeInt(write.key().length);
        to.write(write.key());
        byte[] value = write.value();
        to.writeInt(value == null ? -1 : value.length);
        if (value != null) {
          to.write(value);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Cannot happen: it writes to memory.
    }
    return bytes.toByteArray();
  }

  public static List<Write> read(byte[] bytes) {
    try (DataInputStream from = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int format = from.readByte();
      if (format != FORMAT) {
        throw new ConfigException(
            Kind.DAMAGED,
            "batch: format %d (expected: %d; a newer version of Weir made it)"
                .formatted(format, FORMAT));
      }
      int count = from.readInt();
      List<Write> writes = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String table = from.readUTF();
        byte[] key = exactly(from, from.readInt());
        int length = from.readInt();
        writes.add(new Write(table, key, length < 0 ? null : exactly(from, length)));
      }
      if (from.read() >= 0) {
        throw new IOException("more behind the last write");
      }
      return writes;
    } catch (IOException e) {
      throw RowFormat.damaged("batch", "unreadable, " + e.getMessage(), e);
    }
  }

  private static byte[] exactly(DataInputStream from, int length) throws IOException {
    if (length < 0 || length > from.available()) {
      throw new IOException("cut off");
    }
    return from.readNBytes(length);
  }
}
