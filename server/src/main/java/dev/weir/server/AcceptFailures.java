package dev.weir.server;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.weir.Ticker;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Filter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Tells the log, seldom, that connections cannot be taken because the process has all the file
 * descriptors that it may have. Safe for use by many threads.
 *
 * <p>All doors stand on Netty, which stops taking connections for a second then and says so in a
 * warning that nobody hears, as clients could cause it by the thousand. That warning is listened to
 * here; of the doors' own code, only one of three sees the failure.
 */
final class AcceptFailures implements Filter {
  /** Kept here, or they would be forgotten. The second is the copy that the gRPC library brings. */
  private static final List<Logger> LOGGERS =
      List.of(
          Logger.getLogger("io.netty.channel.DefaultChannelPipeline"),
          Logger.getLogger("io.grpc.netty.shaded.io.netty.channel.DefaultChannelPipeline"));

  private static final String NO_DESCRIPTOR = "Too many open files";

  private static final AtomicLong COUNT = new AtomicLong();

  private final FewLines lines = new FewLines(Ticker.system());
  private final Level others;
  private final String line;

  /**
   * @param others from which level on other events are heard
   */
  private AcceptFailures(Level others) {
    this.others = others;
    this.line =
        "connections cannot be taken: too many open files (expected: fewer than "
            + (ManagementFactory.getOperatingSystemMXBean()
                    instanceof UnixOperatingSystemMXBean unix
                ? Long.toString(unix.getMaxFileDescriptorCount())
                : "there are")
            + ", the limit of this process; a higher one, as by 'ulimit -n', or a lower "
            + Setting.MAX_CONNECTIONS.flag()
            + ", which each door may reach)";
    // A class may be a file, too: what a line takes is loaded while there are descriptors for it.
    boolean unused = new FewLines(Ticker.system()).write(Level.FINEST, line);
  }

  /**
   * Listens from now on.
   *
   * @param others from which level on other events are heard
   */
  static void listen(Level others) {
    AcceptFailures filter = new AcceptFailures(others);
    for (Logger logger : LOGGERS) {
      logger.setLevel(others.intValue() < Level.WARNING.intValue() ? others : Level.WARNING);
      logger.setFilter(filter);
    }
  }

  /** Returns how often connections could not be taken, in this process. */
  static long count() {
    return COUNT.get();
  }

  @Override
  public boolean isLoggable(LogRecord event) {
    if (event.getThrown() instanceof IOException e
        && String.valueOf(e.getMessage()).contains(NO_DESCRIPTOR)) {
      COUNT.incrementAndGet();
      lines.write(Level.SEVERE, line);
      return false;
    }
    return event.getLevel().intValue() >= others.intValue();
  }
}
