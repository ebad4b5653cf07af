package dev.weir.server.settings;

/** How a log line is written. */
public enum LogFormat {
  /** Time, level, message. */
  TEXT,
  /** One JSON object. */
  JSON
}
