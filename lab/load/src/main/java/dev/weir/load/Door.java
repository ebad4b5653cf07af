package dev.weir.load;

import dev.weir.internal.Choice;

/** A protocol of a server under load. */
public enum Door {
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

  /** Returns the port that such a server listens on by default. */
  public int defaultPort() {
    return defaultPort;
  }

  /** Returns the requests that a connection has in flight: as many as such clients usually have. */
  public int defaultInFlight() {
    return defaultInFlight;
  }

  @Override
  public String toString() {
    return Choice.text(this);
  }
}
