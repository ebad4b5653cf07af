package dev.weir.server;

import dev.weir.Ticker;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.logging.ConsoleHandler;
import java.util.logging.Filter;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The server's log: one line an event, to standard error. */
final class Logs {
  /**
   * The server's own events. Not registered with the log manager, which on a signal takes away all
   * handlers of those that are, while a server that drains still has something to say.
   */
  static final Logger LOG = new Logger("dev.weir", null) {};

  /**
   * Transports warn of whatever a client does wrong, or at every attempt to reach a store, so they
   * could fill the log; only their errors are heard. Kept here, or they would be forgotten.
   */
  private static final List<Logger> QUIET =
      Stream.of("io.grpc", "io.netty", "io.vertx", "io.lettuce", "reactor")
          .map(Logger::getLogger)
          .toList();

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private Logs() {}

  /** Has the whole process log as the settings say. */
  static void install(ServerSettings settings) {
    Level level = settings.value(Setting.LOG_LEVEL).level();
    Formatter formatter = formatter(settings.value(Setting.LOG_FORMAT));
    Logger root = Logger.getLogger("");
    boolean debug = level.intValue() < Level.INFO.intValue();
    Level heard = debug ? level : Level.SEVERE;
    // What libraries write may be a client's doing, again and again, with a stack trace each time.
    Filter few = debug ? null : FewLines.ofOthers(Ticker.system());
    toStandardError(root, formatter, level, few);
    toStandardError(LOG, formatter, level, null);
    for (Logger quiet : QUIET) {
      quiet.setLevel(heard);
    }
    AcceptFailures.listen(heard);
  }

  /** Replaces what wrote to standard error before. */
  private static void toStandardError(
      Logger logger, Formatter formatter, Level level, @Nullable Filter filter) {
    for (Handler handler : logger.getHandlers()) {
      if (handler instanceof ConsoleHandler) {
        logger.removeHandler(handler);
      }
    }
    ConsoleHandler handler = new ConsoleHandler();
    handler.setLevel(Level.ALL);
    handler.setFormatter(formatter);
    handler.setFilter(filter);
    logger.addHandler(handler);
    logger.setLevel(level);
  }

  static Formatter formatter(LogFormat format) {
    return new Formatter() {
      @Override
      public String format(LogRecord event) {
        String message = formatMessage(event);
        return (format == LogFormat.JSON ? json(event, message) : text(event, message)) + "\n";
      }
    };
  }

  private static String text(LogRecord event, String message) {
    return TIME.format(event.getInstant())
        + " "
        + level(event.getLevel())
        + " "
        + oneLine(message)
        + (event.getThrown() == null ? "" : "\n" + stackTrace(event.getThrown()).stripTrailing());
  }

  private static String json(LogRecord event, String message) {
    JsonText json =
        new JsonText()
            .object()
            .field("time", TIME.format(event.getInstant()))
            .field("level", level(event.getLevel()).strip().toLowerCase(Locale.ROOT))
            .field("logger", String.valueOf(event.getLoggerName()))
            .field("message", message);
    if (event.getThrown() != null) {
      json.field("exception", stackTrace(event.getThrown()));
    }
    return json.end().toString();
  }

  private static String level(Level level) {
    int value = level.intValue();
    if (value >= Level.SEVERE.intValue()) {
      return "ERROR";
    }
    if (value >= Level.WARNING.intValue()) {
      return "WARN ";
    }
    return value >= Level.INFO.intValue() ? "INFO " : "DEBUG";
  }

  /** A line break in a message must not start a line that looks like another event. */
  private static String oneLine(String message) {
    return message.replace("\r", "").replace("\n", "\n    ");
  }

  private static String stackTrace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}
