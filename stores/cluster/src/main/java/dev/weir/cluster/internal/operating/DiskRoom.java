package dev.weir.cluster.internal.operating;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.stream.Stream;

/**
 * The free space on the disk of a member's folder. Safe for use by many threads.
 *
 * <p>A member whose disk is full closes its log, and takes no part until it is started again. So
 * while there is still room for entries in progress, it hands over the groups that it leads: then
 * none of them stops when its disk is full.
 */
public final class DiskRoom {
  /**
   * The space below which a warning is logged; much more than a log takes between two snapshots.
   */
  private static final long WANTED_BYTES = 4L << 30;

  /** The space for a group: a file of the log, and the first bytes of the next. */
  private static final long GROUP_BYTES = 34L << 20;

  /** The factor between "room again" and "no room"; without it, leaders would come and go. */
  private static final int AGAIN = 2;

  private static final long MIB = 1L << 20;

  private final Source disk;
  private final Path folder;
  private final IntSupplier groups;
  private final Consumer<? super String> log;
  private volatile boolean low;

  /** A source of the number of bytes that may still be written. */
  @FunctionalInterface
  interface Source {
    long bytes() throws IOException;
  }

  /**
   * Creates the check of a folder.
   *
   * @param groups returns the number of logs that are in the folder, or will be
   */
  public DiskRoom(Path folder, IntSupplier groups, Consumer<? super String> log) {
    this(() -> folder.toFile().getUsableSpace(), folder, groups, log); // Needs no list of mounts.
  }

  DiskRoom(Source disk, Path folder, IntSupplier groups, Consumer<? super String> log) {
    this.disk = disk;
    this.folder = folder;
    this.groups = groups;
    this.log = log;
  }

  private long leastBytes() {
    return Math.max(1, groups.getAsInt()) * GROUP_BYTES;
  }

  /**
   * Checks the space at the start of a member.
   *
   * @throws IOException if a file of each log and another snapshot as large as the largest would
   *     not fit
   */
  public void begin() throws IOException {
    long wanted = leastBytes() + largestSnapshot();
    long bytes = disk.bytes();
    if (bytes < wanted) {
      throw new IOException(
          text(bytes)
              + " (expected: at least "
              + wanted / MIB
              + " MiB, for a file of each group's log and a snapshot)");
    }
    if (bytes < WANTED_BYTES) {
      log.accept("cluster: " + text(bytes) + "; " + (WANTED_BYTES >> 30) + " GiB are advised");
    }
  }

  private String text(long bytes) {
    return folder + " has room for " + bytes / MIB + " MiB";
  }

  private long largestSnapshot() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("snapshot."))
          .mapToLong(file -> file.toFile().length())
          .max()
          .orElse(0);
    }
  }

  /** Checks the space again; to be called about once a second. */
  public void check() {
    long bytes;
    try {
      bytes = disk.bytes();
    } catch (IOException e) {
      log.accept("cluster: " + folder + ": " + e.getMessage());
      return;
    }
    long leastBytes = leastBytes();
    boolean now = bytes < (low ? AGAIN * leastBytes : leastBytes);
    if (now != low) {
      low = now;
      log.accept(
          "cluster: "
              + text(bytes)
              + (now
                  ? ": this member hands over what it leads, and leads nothing that another can"
                      + " lead, until there are "
                      + AGAIN * leastBytes / MIB
                      + " MiB"
                  : ": this member may lead again"));
    }
  }

  /** Returns whether there is too little room to lead. */
  public boolean low() {
    return low;
  }
}
