package dev.weir.server;

import java.util.logging.Level;

/** What is worth a log line: that and everything graver. */
public enum LogLevel {
  TRACE,
  DEBUG,
  INFO,
  WARN,
  WARNING,
  ERROR,
  FATAL,
  PANIC;

  Level level() {
    return switch (this) {
      case TRACE -> Level.FINEST;
      case DEBUG -> Level.FINE;
      case INFO -> Level.INFO;
      case WARN, WARNING -> Level.WARNING;
      case ERROR, FATAL, PANIC -> Level.SEVERE;
    };
  }
}
