package dev.weir.config.internal.follow;

import dev.weir.config.internal.rows.Keys;
import dev.weir.config.internal.rows.WriteSet;
import dev.weir.config.rows.Items;
import dev.weir.config.rows.Items.State;
import dev.weir.config.rows.Items.Write;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Batches of writes on their way to their rows, cut into items. Each belongs to the version that it
 * makes: once the state has this version and is settled, the batch is not needed any more.
 */
public final class UpdateLog {
  /** The table of batches; no table of rows has this name. */
  public static final String TABLE = "batch";

  private static final int RANDOM_BYTES = 16;
  private static final Pattern PENDING = Pattern.compile("([0-9a-f]{32})-([1-9][0-9]{0,8})");
  private static final SecureRandom RANDOM = new SecureRandom();

  /** The most batches that one sweep removes. */
  private static final int SWEPT = 100;

  private final Items items;

  public UpdateLog(Items items) {
    this.items = items;
  }

  /** Writes a batch down; returns the state that makes it the next update. */
  public State write(long version, List<Write> writes) {
    byte[] bytes = WriteSet.toBytes(writes);
    int partBytes = items.limits().partBytes();
    int parts = (bytes.length + partBytes - 1) / partBytes;
    byte[] random = new byte[RANDOM_BYTES];
    RANDOM.nextBytes(random);
    for (int part = 0; part < parts; part++) {
      int end = (int) Math.min(bytes.length, (part + 1L) * partBytes);
      byte[] value = Arrays.copyOfRange(bytes, part * partBytes, end);
      items.put(TABLE, key(version, random, part), value, version);
    }
    return new State(version, HexFormat.of().formatHex(random) + "-" + parts);
  }

  private static byte[] key(long version, byte[] random, int part) {
    return ByteBuffer.allocate(Long.BYTES + RANDOM_BYTES + Integer.BYTES)
        .putLong(version)
        .put(random)
        .putInt(part)
        .array();
  }

  private static List<byte[]> keys(State pending) {
    Matcher batch = PENDING.matcher(pending.pending());
    if (!batch.matches()) {
      throw RowFormat.damaged("batch of update " + pending.version(), "a name of no kind", null);
    }
    byte[] random = HexFormat.of().parseHex(batch.group(1));
    List<byte[]> keys = new ArrayList<>();
    for (int part = 0; part < Integer.parseInt(batch.group(2)); part++) {
      keys.add(key(pending.version(), random, part));
    }
    return keys;
  }

  /** Returns a batch, or null if a part is missing, since another process has finished it. */
  @Nullable
  public List<Write> read(State pending) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (byte[] key : keys(pending)) {
      Items.Item part = items.get(TABLE, List.of(key)).get(0);
      byte[] value = part == null ? null : part.value();
      if (value == null) {
        return null;
      }
      bytes.writeBytes(value);
    }
    return WriteSet.read(bytes.toByteArray());
  }

  /** Removes a batch that is finished, or will never be. */
  public void remove(State pending) {
    keys(pending).forEach(key -> items.delete(TABLE, key));
  }

  /** Removes batches of updates that were abandoned, up to a version that is settled. */
  public void sweep(long settledVersion) {
    byte[] end = Keys.number(settledVersion + 1);
    for (Items.Item each : items.scan(TABLE, new byte[0], end, SWEPT)) {
      items.delete(TABLE, each.key());
    }
  }
}
