package dev.weir.server.internal.log;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/**
 * A line of the server's log with the values in it by name, which are fields in a JSON line. To be
 * made and written by one thread.
 */
public final class LogEvent extends LogRecord {
  private static final long serialVersionUID = 1;

  private final transient Map<String, Object> fields = new LinkedHashMap<>();

  private LogEvent(Level level, String message) {
    super(level, message);
    setLoggerName(Logs.LOG.getName());
  }

  /** Makes a line that belongs to no kind of event. */
  static LogEvent of(Level level, String message) {
    return new LogEvent(level, message);
  }

  /**
   * Makes a line.
   *
   * @param event the kind of event, the same in every version, as in {@code rules_in_force}
   * @param message the line for readers
   */
  public static LogEvent of(Level level, String event, String message) {
    return new LogEvent(level, message).with("event", event);
  }

  /**
   * Adds a value.
   *
   * @param name in small letters, words joined by underscores, with the unit last; not one of
   *     {@code time}, {@code level}, {@code logger}, {@code message} and {@code exception}
   * @param value a text, a number, a boolean, or a list or a map by text of such values
   */
  public LogEvent with(String name, Object value) {
    fields.put(name, value);
    return this;
  }

  /** Writes the line. */
  public void log() {
    Logs.LOG.log(this);
  }

  /** Returns the values in the order in which they were added. */
  Map<String, Object> fields() {
    return Collections.unmodifiableMap(fields);
  }
}
