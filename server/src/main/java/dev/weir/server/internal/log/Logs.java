package dev.weir.server.internal.log;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.Ticker;
import dev.weir.protocol.http.JsonBytes;
import dev.weir.server.internal.settings.LogFormat;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.logging.ConsoleHandler;
import java.util.logging.Filter;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The server's log: one line per event, to standard error. */
public final class Logs {
  /**
   * The logger of the server's own events. It is not registered with the log manager, which on a
   * signal removes the handlers of all registered loggers, while a draining server still logs.
   */
  public static final Logger LOG = new Logger("dev.weir", null) {};

  /**
   * Loggers of which only errors are shown, as strong references: otherwise they would be
   * collected. Transports log a warning for each mistake of a client and each attempt to reach a
   * store, which could fill the log.
   */
  private static final List<Logger> QUIET =
      Stream.of("io.grpc", "io.netty", "io.vertx", "io.lettuce", "reactor")
          .map(Logger::getLogger)
          .toList();

  /** The writer of all lines to standard error. */
  private static final LineWriter LINES =
      new LineWriter("weir-log", Duration.ofMillis(250)).start();

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private Logs() {}

  /**
   * Configures the log of the whole process by the settings.
   *
   * @param ticker the clock by which repeated lines are left out
   */
  public static void install(ServerSettings settings, Ticker ticker) {
    Level level = settings.value(Settings.LOG_LEVEL).level();
    Formatter formatter = formatter(settings.value(Settings.LOG_FORMAT));
    Logger root = Logger.getLogger("");
    boolean debug = level.intValue() < Level.INFO.intValue();
    Level heard = debug ? level : Level.SEVERE;
    // Clients may cause errors in libraries again and again, each with a stack trace.
    Filter few = debug ? null : FewLines.ofOthers(ticker);
    toStandardError(root, formatter, level, few);
    toStandardError(LOG, formatter, level, null);
    for (Logger quiet : QUIET) {
      quiet.setLevel(heard);
    }
    AcceptFailures.listen(heard, ticker);
  }

  /** Replaces the handlers that wrote to standard error. */
  private static void toStandardError(
      Logger logger, Formatter formatter, Level level, @Nullable Filter filter) {
    for (Handler handler : logger.getHandlers()) {
      if (handler instanceof ConsoleHandler || LINES.owns(handler)) {
        logger.removeHandler(handler);
      }
    }
    Handler handler = LINES.handler(formatter, standardError());
    handler.setLevel(Level.ALL);
    handler.setFilter(filter);
    logger.addHandler(handler);
    logger.setLevel(level);
  }

  /** Returns standard error as it is now. */
  private static Consumer<String> standardError() {
    ConsoleHandler console = new ConsoleHandler();
    console.setLevel(Level.ALL);
    console.setFilter(null);
    console.setFormatter(
        new Formatter() {
          @Override
          public String format(LogRecord line) {
            return line.getMessage();
          }
        });
    return line -> console.publish(new LogRecord(Level.SEVERE, line));
  }

  public static Formatter formatter(LogFormat format) {
    return new Formatter() {
      @Override
      public String format(LogRecord event) {
        String message = String.valueOf(formatMessage(event));
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
    byte[] bytes =
        JsonBytes.of(
            json -> {
              json.writeStartObject();
              json.writeStringField("time", TIME.format(event.getInstant()));
              json.writeStringField(
                  "level", level(event.getLevel()).strip().toLowerCase(Locale.ROOT));
              json.writeStringField("logger", String.valueOf(event.getLoggerName()));
              json.writeStringField("message", message);
              if (event instanceof LogEvent own) {
                for (Map.Entry<String, Object> field : own.fields().entrySet()) {
                  json.writeFieldName(field.getKey());
                  write(json, field.getValue());
                }
              }
              if (event.getThrown() != null) {
                json.writeStringField("exception", stackTrace(event.getThrown()));
              }
              json.writeEndObject();
            });
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static void write(JsonGenerator json, Object value) throws IOException {
    if (value instanceof Collection<?> values) {
      json.writeStartArray();
      for (Object each : values) {
        write(json, each);
      }
      json.writeEndArray();
    } else if (value instanceof Map<?, ?> values) {
      json.writeStartObject();
      for (Map.Entry<?, ?> each : values.entrySet()) {
        json.writeFieldName(String.valueOf(each.getKey()));
        write(json, each.getValue());
      }
      json.writeEndObject();
    } else if (value instanceof Number || value instanceof Boolean) {
      json.writePOJO(value);
    } else {
      json.writeString(String.valueOf(value));
    }
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

  /**
   * Returns a message without line breaks: a line break must not start a line that looks like
   * another event.
   */
  private static String oneLine(String message) {
    return message.replace("\r", "").replace("\n", "\n    ");
  }

  private static String stackTrace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}
