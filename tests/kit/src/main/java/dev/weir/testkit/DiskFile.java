package dev.weir.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A file with the content of a disk, on Linux. While it is mounted, the file has what is on the
 * disk, and the system's memory has the rest: a copy of the file is the disk after the loss of
 * power.
 */
public final class DiskFile {
  private static final String MOUNT = "mount -o loop \"$0\" \"$1\"";
  private static final int MOST_COPIES = 100;

  private final Path file;

  private DiskFile(Path file) {
    this.file = file;
  }

  /**
   * Makes an empty disk; returns null if this machine cannot mount one.
   *
   * @param place an empty folder on which it is mounted to try
   */
  public static @Nullable DiskFile make(Path file, int megabytes, Path place) throws IOException {
    DiskFile disk = new DiskFile(file);
    try {
      String unused =
          ChildProcess.of("mkfs.ext4", "-q", "-F", "-J", "size=4", file.toString(), megabytes + "m")
              .run();
      disk.mount(place).close();
      return disk;
    } catch (IOException refused) {
      System.getLogger("dev.weir.testkit")
          .log(
              System.Logger.Level.WARNING,
              "no disk can be mounted here: the loss of power is not tried: "
                  + refused.getMessage());
      return null;
    }
  }

  /**
   * Returns the words before a command that runs it while the disk is mounted, for it alone.
   *
   * @param bootId a file with another id of the machine's boot, for the command; null for none
   */
  public List<String> within(Path place, @Nullable Path bootId) {
    String other = bootId == null ? "" : " && mount --bind \"$2\" /proc/sys/kernel/random/boot_id";
    String script = MOUNT + other + " && shift 2 && exec \"$@\"";
    return List.of(
        "unshare",
        "-m",
        "sh",
        "-c",
        script,
        file.toString(),
        place.toString(),
        bootId == null ? "" : bootId.toString());
  }

  /** A mounted disk; it is no longer mounted when this is closed. */
  public static final class MountedDisk implements AutoCloseable {
    private final ChildProcess holder;
    private final Path path;

    private MountedDisk(ChildProcess holder, Path path) {
      this.holder = holder;
      this.path = path;
    }

    /** Returns the folder of the disk, as this process reaches it. */
    public Path path() {
      return path;
    }

    @Override
    public void close() {
      holder.close();
    }
  }

  /** Mounts the disk on an empty folder, for this process. */
  public MountedDisk mount(Path place) throws IOException {
    ChildProcess holder =
        ChildProcess.of(
                "unshare",
                "-m",
                "sh",
                "-c",
                MOUNT + " && echo ready && exec cat",
                file.toString(),
                place.toString())
            .start();
    try {
      Matcher unused = holder.await(Pattern.compile("^ready$"));
    } catch (IOException refused) {
      holder.close();
      throw refused;
    }
    Path root = Path.of("/proc/" + holder.handle().pid() + "/root");
    return new MountedDisk(holder, root.resolve(Path.of("/").relativize(place)));
  }

  /**
   * Copies the disk as it is, when the system is not writing to it; those who use it should be
   * suspended.
   */
  public DiskFile copy(Path to) throws IOException {
    FileTime last = null;
    for (int i = 0; i < MOST_COPIES; i++) {
      FileTime before = Files.getLastModifiedTime(file);
      String unused =
          ChildProcess.of("cp", "--sparse=always", file.toString(), to.toString()).run();
      FileTime after = Files.getLastModifiedTime(file);
      // Twice the same: a write may leave a file's time as it is for some milliseconds.
      if (before.equals(after) && before.equals(last)) {
        return new DiskFile(to);
      }
      last = after;
    }
    throw new IOException(file + ": written all the time (expected: a pause)");
  }
}
