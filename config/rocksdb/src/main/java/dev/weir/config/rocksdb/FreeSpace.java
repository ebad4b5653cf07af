package dev.weir.config.rocksdb;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import java.io.File;
import java.nio.file.Path;

/**
 * A check that refuses writes before a disk is full: after RocksDB has met a full disk, its
 * database may be impossible to open.
 */
final class FreeSpace {
  private static final long MIB = 1L << 20;
  private static final long DEFAULT_BYTES = 256 * MIB;
  private static final int DEFAULT_PERCENT = 5;

  private final Path path;
  private final long bytes;
  private final int percent;

  private FreeSpace(Path path, long bytes, int percent) {
    this.path = path;
    this.bytes = bytes;
    this.percent = percent;
  }

  /** Returns the usual bound: 256 MiB, and 5 % of the disk. */
  static FreeSpace usual(Path path) {
    return new FreeSpace(path, DEFAULT_BYTES, DEFAULT_PERCENT);
  }

  static FreeSpace atLeast(Path path, long bytes) {
    return new FreeSpace(path, bytes, 0);
  }

  /**
   * Requires that much free space.
   *
   * @throws ConfigException of kind FULL if there is less, or UNAVAILABLE if the free space cannot
   *     be determined
   */
  void require() {
    // FileStore is not used: it is not found for every mount of a container.
    File disk = path.toFile();
    long total = disk.getTotalSpace();
    if (total == 0) {
      throw new ConfigException(
          Kind.UNAVAILABLE, path + ": free space unknown (expected: a folder on a disk)");
    }
    require(disk.getUsableSpace(), total);
  }

  void require(long usable, long total) {
    long needed = Math.max(bytes, total / 100 * percent);
    if (usable < needed) {
      throw new ConfigException(
          Kind.FULL,
          "%s: %d MiB free of %d (expected: at least %d; nothing was written, reads go on)"
              .formatted(path, usable / MIB, total / MIB, needed / MIB));
    }
  }
}
