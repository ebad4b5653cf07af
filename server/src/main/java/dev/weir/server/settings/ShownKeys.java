package dev.weir.server.settings;

/** How values of descriptors are written into the log. */
public enum ShownKeys {
  /** Recognizable and not readable: {@code al…e·3f9c}. */
  MASKED,
  /** As the request has them. */
  PLAIN
}
