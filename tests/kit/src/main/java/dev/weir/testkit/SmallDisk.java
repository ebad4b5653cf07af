package dev.weir.testkit;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A disk of a few megabytes, on Linux. It is mounted for one process alone, which waits for its
 * end; others reach it by that process's root, and it disappears with that process.
 */
public final class SmallDisk implements AutoCloseable {
  private static final String MOUNT =
      "mount -t tmpfs -o size=\"$0\" weir \"$1\" && echo ready && exec cat";

  private final ChildProcess holder;
  private final Path path;

  private SmallDisk(ChildProcess holder, Path path) {
    this.holder = holder;
    this.path = path;
  }

  /** Creates a disk; returns null if neither root nor the system allows this process to mount. */
  public static @Nullable SmallDisk of(int megabytes, Path place) throws IOException {
    for (String how : List.of("-m", "-rm")) {
      ChildProcess holder =
          ChildProcess.of("unshare", how, "sh", "-c", MOUNT, megabytes + "m", place.toString())
              .start();
      try {
        Matcher unused = holder.await(Pattern.compile("^ready$"));
        Path root = Path.of("/proc/" + holder.handle().pid() + "/root");
        return new SmallDisk(holder, root.resolve(Path.of("/").relativize(place)));
      } catch (IOException refused) {
        holder.close();
      }
    }
    System.getLogger("dev.weir.testkit")
        .log(System.Logger.Level.WARNING, "no disk can be mounted here: a full one is not tried");
    return null;
  }

  /** Returns the folder of the disk, as this process reaches it. */
  public Path path() {
    return path;
  }

  /** Creates or extends a file of another program until only {@code leaveBytes} bytes are free. */
  public void fill(long leaveBytes) throws IOException {
    byte[] zeros = new byte[64 << 10];
    try (OutputStream others =
        Files.newOutputStream(filler(), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      for (long more = free() - leaveBytes; more > 0; more = free() - leaveBytes) {
        others.write(zeros, 0, (int) Math.min(more, zeros.length));
      }
    }
  }

  /** Returns how many bytes are free. */
  public long free() {
    return path.toFile().getUsableSpace();
  }

  /** Deletes the file of the other program. */
  public void empty() throws IOException {
    Files.delete(filler());
  }

  private Path filler() {
    return path.resolve("others");
  }

  /** Ends the process, and with it the disk. */
  @Override
  public void close() {
    holder.close();
  }
}
