package dev.weir.cli;

import java.util.Locale;

/** A way into a server that {@code weir bench} can take. */
enum Door {
  GRPC(8081, 16),
  HTTP(8080, 1),
  JSON(8080, 1),
  RESP(6380, 16),
  RESP_RULES(6380, 16);

  private final int defaultPort;
  private final int defaultInFlight;

  Door(int defaultPort, int defaultInFlight) {
    this.defaultPort = defaultPort;
    this.defaultInFlight = defaultInFlight;
  }

  int defaultPort() {
    return defaultPort;
  }

  /** Returns how many requests a connection has in flight: as many as such clients usually have. */
  int defaultInFlight() {
    return defaultInFlight;
  }

  /**
   * Returns the door of that name.
   *
   * @throws IllegalArgumentException if there is none
   */
  static Door of(String text) {
    for (Door door : values()) {
      if (door.toString().equals(text)) {
        return door;
      }
    }
    throw new IllegalArgumentException(
        "--door: " + text + " (expected: one of grpc, http, json, resp, resp-rules)");
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
