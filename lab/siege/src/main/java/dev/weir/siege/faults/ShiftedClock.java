package dev.weir.siege.faults;

import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A wall clock of one process, which another process sets. The process is started with {@link
 * #environment}. Its monotonic clock is the machine's.
 */
public final class ShiftedClock {
  private final Path library;
  private final Path file;

  private ShiftedClock(Path library, Path file) throws IOException {
    this.library = library;
    this.file = file;
    shift(Duration.ZERO);
  }

  /** Makes a clock; returns null if there is no C compiler to build the library. */
  public static @Nullable ShiftedClock in(Path folder) throws IOException {
    Path library = folder.resolve("shifted-clock.so");
    if (!Files.exists(library) && !build(folder, library)) {
      System.getLogger("dev.weir.siege")
          .log(System.Logger.Level.WARNING, "no gcc here: steps of a wall clock are not tried");
      return null;
    }
    return new ShiftedClock(library, Files.createTempFile(folder, "clock", ""));
  }

  private static boolean build(Path folder, Path library) throws IOException {
    Path source = folder.resolve("shifted-clock.c");
    try (InputStream text =
        ShiftedClock.class.getResourceAsStream("/dev/weir/siege/shifted-clock.c")) {
      if (text == null) {
        throw new IOException("shifted-clock.c: missing (expected: among the resources)");
      }
      Files.write(source, text.readAllBytes());
    }
    try {
      ChildProcess.of("gcc", "-shared", "-fPIC", "-O1", "-o", library + "", source + "", "-ldl")
          .run();
      return true;
    } catch (IOException none) {
      return false;
    }
  }

  /** Returns the environment variables with which a process gets this clock. */
  public Map<String, String> environment() {
    return Map.of("LD_PRELOAD", library.toString(), "SHIFTED_CLOCK", file.toString());
  }

  /** Steps the clock: from now on it is ahead of the machine's clock by this time. */
  public void shift(Duration by) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    bytes.putLong(by.toNanos()).flip();
    // The file is written in place, because the process has it mapped.
    try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE)) {
      int unused = out.write(bytes, 0);
    }
  }

  /** Prints the wall clock of this process, in milliseconds. */
  public static void main(String[] arguments) {
    System.out.println(System.currentTimeMillis());
  }
}
