package dev.weir.siege.guests;

import dev.weir.siege.Target;
import java.io.IOException;

/** The protocols of ordinary clients. */
public enum Protocol {
  HTTP("HTTP"),
  GRPC("gRPC"),
  CHECK("WEIR.CHECK"),
  THROTTLE("CL.THROTTLE");

  private final String label;

  Protocol(String label) {
    this.label = label;
  }

  /** Opens a connection. */
  public Guest connect(Target target) throws IOException {
    return switch (this) {
      case HTTP -> new HttpGuest(target);
      case GRPC -> new GrpcGuest(target);
      case CHECK -> new RespGuest(target, false);
      case THROTTLE -> new RespGuest(target, true);
    };
  }

  @Override
  public String toString() {
    return label;
  }
}
