package dev.weir.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A disk of a few megabytes, on Linux. It is mounted for one process alone, which waits for its
 * end; others reach it by that process's root, and nothing is left of it afterwards.
 */
public final class SmallDisk implements AutoCloseable {
  private static final String MOUNT =
      "mount -t tmpfs -o size=\"$0\" weir \"$1\" && echo ready && exec cat";

  private final Process holder;
  private final Path path;

  private SmallDisk(Process holder, Path path) {
    this.holder = holder;
    this.path = path;
  }

  /** Makes one; returns null where neither root nor the system lets this process mount. */
  public static @Nullable SmallDisk of(int megabytes, Path place) throws IOException {
    for (String how : List.of("-m", "-rm")) {
      Process holder =
          new ProcessBuilder("unshare", how, "sh", "-c", MOUNT, megabytes + "m", place.toString())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      BufferedReader said =
          new BufferedReader(
              new InputStreamReader(holder.getInputStream(), StandardCharsets.UTF_8));
      if ("ready".equals(said.readLine())) {
        Path root = Path.of("/proc/" + holder.pid() + "/root");
        return new SmallDisk(holder, root.resolve(Path.of("/").relativize(place)));
      }
      holder.destroyForcibly();
    }
    System.getLogger("dev.weir.testkit")
        .log(System.Logger.Level.WARNING, "no disk can be mounted here: a full one is not tried");
    return null;
  }

  /** Returns its folder, as this process reaches it. */
  public Path path() {
    return path;
  }

  /** Makes or grows a file of others until only so many bytes are free. */
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

  /** Deletes the file of others. */
  public void empty() throws IOException {
    Files.delete(filler());
  }

  private Path filler() {
    return path.resolve("others");
  }

  @Override
  public void close() throws IOException {
    holder.getOutputStream().close(); // It ends, and the disk with it.
    try {
      if (!holder.waitFor(60, TimeUnit.SECONDS)) {
        throw new IOException("disk: still mounted (expected: gone with its process)");
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}
