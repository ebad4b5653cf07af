package dev.weir;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The clocks that measure the time between two processes.
 *
 * @param ticker the clock that decides, anchored to the wall clock when the process began
 * @param monotonic a clock that goes on from process to process while the machine runs
 * @param boot an id of the machine's boot; empty if it is not known
 */
record StateClock(Ticker ticker, LongSupplier monotonic, String boot) {
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  /**
   * Returns the clocks of this machine. Linux has an id for each boot, and its monotonic clock
   * counts from it. Elsewhere every process is taken for the first one after a boot.
   */
  static StateClock system() {
    String boot;
    try {
      boot = Files.readString(BOOT_ID).strip();
    } catch (IOException e) {
      boot = "";
    }
    return new StateClock(Ticker.system(), System::nanoTime, boot);
  }

  boolean sameBoot(Reading then) {
    return !boot.isEmpty() && boot.equals(then.boot) && monotonic.getAsLong() >= then.monotonic;
  }

  /** Returns the least time that the clock of a reading shows now. */
  long known(Reading then) {
    return then.nanos + (sameBoot(then) ? monotonic.getAsLong() - then.monotonic : 0);
  }

  /**
   * Returns the nanoseconds by which the ticker of a reading is ahead of another, on the same boot.
   */
  long apart(Reading then, Ticker other) {
    return then.nanos - then.monotonic - (other.nanos() - monotonic.getAsLong());
  }

  /**
   * Returns the nanoseconds by which the time of the last run in a folder is ahead of this ticker;
   * 0 if there was none on this boot, or the difference is more than {@code most}.
   */
  long ahead(Path folder, long most) {
    Reading last = null;
    try (var images = Files.newDirectoryStream(folder, "*.image")) {
      for (Path each : images) {
        Reading then = read(each);
        last = then == null || (last != null && last.nanos > then.nanos) ? last : then;
      }
    } catch (IOException | DirectoryIteratorException e) {
      return 0; // The restore of the stores reports the problem.
    }
    long ahead = last != null && sameBoot(last) ? apart(last, ticker) : 0;
    return Math.abs(ahead) <= most ? ahead : 0;
  }

  private static @Nullable Reading read(Path image) {
    try (InputStream in = Files.newInputStream(image)) {
      return Reading.read(new DataInputStream(in));
    } catch (IOException e) {
      return null; // The restore of its store reports the problem.
    }
  }

  /** Returns the current reading of the clocks for an image, by the ticker that decides. */
  Reading reading(Ticker deciding, int image) {
    return new Reading(deciding.nanos(), monotonic.getAsLong(), boot, image);
  }

  /**
   * A reading of the clocks.
   *
   * @param nanos the time of the clock that decides
   * @param monotonic the time of the monotonic clock
   * @param boot the id of the boot
   * @param image the number of the image to which the reading belongs, 0 where there is no journal
   */
  record Reading(long nanos, long monotonic, String boot, int image) {
    private static final int MAGIC = 0x57545332; // WTS2

    /** The mark of readings without the number of an image, as version 0.1 wrote them first. */
    private static final int MAGIC_WITHOUT_IMAGE = 0x57545331; // WTS1

    void write(DataOutputStream out) throws IOException {
      out.writeInt(MAGIC);
      out.writeLong(nanos);
      out.writeLong(monotonic);
      out.writeUTF(boot);
      out.writeInt(image);
      out.writeLong(sum());
      out.flush();
    }

    /**
     * Reads a reading that {@link #write} wrote.
     *
     * @throws IOException if it is damaged
     */
    static Reading read(DataInputStream in) throws IOException {
      try {
        int magic = in.readInt();
        if (magic != MAGIC && magic != MAGIC_WITHOUT_IMAGE) {
          throw new IOException("no image of counts (expected: one, which begins with WTS2)");
        }
        Reading reading =
            new Reading(
                in.readLong(), in.readLong(), in.readUTF(), magic == MAGIC ? in.readInt() : 0);
        if (in.readLong() != reading.sum()) {
          throw new IOException("damaged: its time is wrong");
        }
        return reading;
      } catch (EOFException e) {
        throw new IOException("damaged: it ends too early", e);
      }
    }

    private long sum() {
      CRC32C sum = new CRC32C();
      String all = nanos + " " + monotonic + " " + boot + (image == 0 ? "" : " " + image);
      sum.update(all.getBytes(StandardCharsets.UTF_8));
      return sum.getValue();
    }
  }
}
