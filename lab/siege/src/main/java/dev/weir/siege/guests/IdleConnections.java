package dev.weir.siege.guests;

import static dev.weir.wire.testkit.Http2Frames.PREFACE;
import static dev.weir.wire.testkit.Http2Frames.SETTINGS;
import static dev.weir.wire.testkit.Http2Frames.frame;

import dev.weir.internal.Choice;
import dev.weir.siege.Target;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The attacks by connections that are opened and then send only what they must. */
public enum IdleConnections implements Attack {
  HTTP,
  GRPC,
  RESP;

  private static final int CONNECTIONS = 300;

  @Override
  public Outcome run(Target target, Duration atMost) throws IOException {
    String hello = this == GRPC ? text(PREFACE) + text(frame(SETTINGS, 0, 0, new byte[0])) : "";
    try (Horde horde = new Horde("", hello)) {
      horde.open(port(target), CONNECTIONS);
      horde.press(atMost);
      return horde.outcome();
    }
  }

  private int port(Target target) {
    return switch (this) {
      case HTTP -> target.http();
      case GRPC -> target.grpc();
      case RESP -> target.resp();
    };
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  @Override
  public String toString() {
    return CONNECTIONS + " idle connections, " + Choice.text(this);
  }
}
