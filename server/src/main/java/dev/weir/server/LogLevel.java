package dev.weir.server;

import java.util.logging.Level;

/** What is worth a log line: that and everything graver. */
public enum LogLevel {
  TRACE(Level.FINEST),
  DEBUG(Level.FINE),
  INFO(Level.INFO),
  WARN(Level.WARNING),
  WARNING(Level.WARNING),
  ERROR(Level.SEVERE),
  FATAL(Level.SEVERE),
  PANIC(Level.SEVERE);

  private final Level level;

  LogLevel(Level level) {
    this.level = level;
  }

  Level level() {
    return level;
  }
}
