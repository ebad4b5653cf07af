package dev.weir.cluster.internal.log;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.zip.CRC32C;

/**
 * A machine that keeps all applied entries: {long stamp, long id, anything}. Safe for use by many
 * threads.
 */
public final class HashMachine implements Ledger.Machine {
  /** An applied entry. */
  public record Applied(long index, long term, long stamp, long id) {}

  // Guarded by this.
  private List<Applied> applied = new ArrayList<>();
  private long hash;
  private long leads = -1;
  private long stamp;
  private final Set<Long> stamped = new HashSet<>();
  private int restores;
  private int images;

  public static byte[] entry(long id, int bytes) {
    return ByteBuffer.allocate(Math.max(bytes, 16)).putLong(Long.BYTES, id).array();
  }

  public synchronized List<Applied> applied() {
    return List.copyOf(applied);
  }

  /** Returns whether the log of this member has appended an entry as the leader. */
  synchronized boolean appended(long id) {
    return stamped.contains(id);
  }

  public synchronized long hash() {
    return hash;
  }

  synchronized int restores() {
    return restores;
  }

  synchronized int images() {
    return images;
  }

  @Override
  public synchronized void stamp(long term, byte[] entry) {
    if (leads != term) {
      leads = term;
      stamp = applied.isEmpty() ? 0 : applied.get(applied.size() - 1).stamp();
    }
    ByteBuffer bytes = ByteBuffer.wrap(entry).putLong(++stamp);
    stamped.add(bytes.getLong());
  }

  @Override
  public synchronized byte[] apply(long index, long term, byte[] entry) {
    ByteBuffer in = ByteBuffer.wrap(entry);
    Applied one = new Applied(index, term, in.getLong(), in.getLong());
    applied.add(one);
    CRC32C crc = new CRC32C();
    crc.update(entry);
    hash = (hash ^ crc.getValue() ^ index << 32) * 0x9e3779b97f4a7c15L;
    return ByteBuffer.allocate(16).putLong(index).putLong(one.id()).array();
  }

  @Override
  public CompletionStage<?> image(Path file) {
    byte[] bytes = bytes();
    return CompletableFuture.runAsync(
        () -> {
          try {
            Files.write(file, bytes);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  private synchronized byte[] bytes() {
    images++;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeLong(hash);
      out.writeInt(applied.size());
      for (Applied one : applied) {
        out.writeLong(one.index());
        out.writeLong(one.term());
        out.writeLong(one.stamp());
        out.writeLong(one.id());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  @Override
  public synchronized void restore(Path file) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(Files.readAllBytes(file)));
    long read = in.readLong();
    List<Applied> all = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      all.add(new Applied(in.readLong(), in.readLong(), in.readLong(), in.readLong()));
    }
    hash = read;
    applied = all;
    restores++;
  }
}
