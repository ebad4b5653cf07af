package dev.weir.server.internal.settings;

import java.util.logging.Level;

/** The least severe level that is logged. */
public enum LogLevel {
  TRACE,
  DEBUG,
  INFO,
  WARN,
  WARNING,
  ERROR,
  FATAL,
  PANIC;

  public Level level() {
    return switch (this) {
      case TRACE -> Level.FINEST;
      case DEBUG -> Level.FINE;
      case INFO -> Level.INFO;
      case WARN, WARNING -> Level.WARNING;
      case ERROR, FATAL, PANIC -> Level.SEVERE;
    };
  }
}
