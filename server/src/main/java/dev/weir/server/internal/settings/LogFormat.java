package dev.weir.server.internal.settings;

/** The form of a log line. */
public enum LogFormat {
  /** Time, level, message. */
  TEXT,
  /** One JSON object. */
  JSON
}
