package dev.weir.server.internal.settings;

/** The form in which values of descriptors are written into the log. */
public enum ShownKeys {
  /** Recognizable but not readable: {@code al…e·3f9c}. */
  MASKED,
  /** Unchanged. */
  PLAIN
}
