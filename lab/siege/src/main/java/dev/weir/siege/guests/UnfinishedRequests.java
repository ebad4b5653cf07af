package dev.weir.siege.guests;

import dev.weir.internal.Choice;
import dev.weir.siege.Target;
import java.io.IOException;
import java.time.Duration;

/**
 * The attacks by requests on many connections whose end never comes, each as large as allowed:
 * together they are larger than the heap.
 */
public enum UnfinishedRequests implements Attack {
  /** Redis commands without the last bytes of their last argument. */
  COMMANDS(450) {
    @Override
    Horde horde(Target target) throws IOException {
      String token = target.token();
      String auth = token == null ? "" : "AUTH " + token + "\r\n";
      return new Horde(auth, "*2\r\n$4\r\nECHO\r\n$1000000\r\n" + "x".repeat(999_990));
    }

    @Override
    int port(Target target) {
      return target.resp();
    }
  },

  /** Halves of HTTP bodies. */
  BODIES(500) {
    @Override
    Horde horde(Target target) throws IOException {
      String head =
          "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n"
              + authorization(target)
              + "\r\n";
      return new Horde("", head + " ".repeat(500_000));
    }
  },

  /** HTTP heads without an end. */
  HEADS(1_000) {
    @Override
    Horde horde(Target target) throws IOException {
      StringBuilder head = new StringBuilder("POST /v1/check HTTP/1.1\r\nHost: localhost\r\n");
      for (int i = 0; i < 15; i++) {
        head.append("X-").append(i).append(": ").append("x".repeat(1_000)).append("\r\n");
      }
      return new Horde("", head.toString());
    }
  };

  private final int connections;

  UnfinishedRequests(int connections) {
    this.connections = connections;
  }

  private static String authorization(Target target) {
    return target.token() == null ? "" : "Authorization: Bearer " + target.token() + "\r\n";
  }

  abstract Horde horde(Target target) throws IOException;

  int port(Target target) {
    return target.http();
  }

  @Override
  public Outcome run(Target target, Duration atMost) throws IOException {
    try (Horde horde = horde(target)) {
      horde.open(port(target), connections);
      horde.press(atMost);
      return horde.outcome();
    }
  }

  @Override
  public String toString() {
    return connections + " unfinished " + Choice.text(this);
  }
}
