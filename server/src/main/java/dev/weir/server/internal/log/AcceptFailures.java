package dev.weir.server.internal.log;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.weir.Ticker;
import dev.weir.server.internal.settings.Settings;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Filter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * The log, in few lines, of connections that cannot be accepted because the process has used up its
 * file descriptors. Safe for use by many threads.
 *
 * <p>All protocols use Netty, which then accepts no connections for a second and logs a warning.
 * The server does not show Netty's warnings, because clients could cause thousands of them, so this
 * filter watches for that one. Only one of the three protocols would see the failure in its own
 * code.
 */
public final class AcceptFailures implements Filter {
  /**
   * The loggers as strong references: otherwise they would be collected with their filter. The
   * second is gRPC's shaded copy.
   */
  private static final List<Logger> LOGGERS =
      List.of(
          Logger.getLogger("io.netty.channel.DefaultChannelPipeline"),
          Logger.getLogger("io.grpc.netty.shaded.io.netty.channel.DefaultChannelPipeline"));

  private static final String NO_DESCRIPTOR = "Too many open files";

  private static final AtomicLong COUNT = new AtomicLong();

  private final FewLines lines;
  private final Level others;
  private final String line;

  /**
   * Makes a filter that watches for accepts that fail.
   *
   * @param others the level from which other events are logged
   */
  private AcceptFailures(Level others, Ticker ticker) {
    this.lines = new FewLines(ticker);
    this.others = others;
    this.line =
        "connections cannot be accepted: too many open files (expected: fewer than "
            + (ManagementFactory.getOperatingSystemMXBean()
                    instanceof UnixOperatingSystemMXBean unix
                ? Long.toString(unix.getMaxFileDescriptorCount())
                : "there are")
            + ", the limit of this process; raise it with 'ulimit -n', or lower "
            + Settings.MAX_CONNECTIONS.flag()
            + ", which applies to each port)";
    // Loading a class may need a descriptor, so the classes that log a line are loaded now.
    boolean unused = new FewLines(ticker).write(Level.FINEST, line);
  }

  /**
   * Installs the filter.
   *
   * @param others the level from which other events are logged
   */
  public static void listen(Level others, Ticker ticker) {
    AcceptFailures filter = new AcceptFailures(others, ticker);
    for (Logger logger : LOGGERS) {
      logger.setLevel(others.intValue() < Level.WARNING.intValue() ? others : Level.WARNING);
      logger.setFilter(filter);
    }
  }

  /** Returns the number of connections that could not be accepted, in this process. */
  public static long count() {
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
