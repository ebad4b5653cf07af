package dev.weir.siege.soak;

import dev.weir.siege.Target;
import dev.weir.siege.guests.Attack;
import dev.weir.wire.testkit.Http2Client;
import dev.weir.wire.testkit.Http2Frames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The attacks by gRPC calls that no ordinary client makes. */
public enum Calls implements Attack {
  /** Messages of which the second half never comes. */
  HALF_SENT("50 half-sent messages", 1, 50, Calls.DECIDE, false) {
    @Override
    byte[] bytes() {
      return Http2Frames.message(new byte[500_000], 1_000_000);
    }
  },

  /** Almost whole messages to health, the service that needs no token. */
  ALMOST_SENT_HEALTH("220 almost sent messages to health", 1, 220, Calls.CHECK, false) {
    @Override
    byte[] bytes() {
      return Http2Frames.message(new byte[1_000_000], 1_000_010);
    }
  },

  /** Watches of health under names that are as long as a message may be. */
  LONG_HEALTH_NAMES("800 long health names", 2, 400, Calls.WATCH, true) {
    @Override
    byte[] bytes() {
      byte[] name = "n".repeat(1_000_000).getBytes(StandardCharsets.US_ASCII);
      byte[] message =
          ByteBuffer.allocate(4 + name.length)
              .put((byte) 0x0A) // Field 1 has a length, here of three times seven bits.
              .put((byte) (name.length | 0x80))
              .put((byte) (name.length >>> 7 | 0x80))
              .put((byte) (name.length >>> 14))
              .put(name)
              .array();
      return Http2Frames.message(message, message.length);
    }
  },

  /** Messages that cannot be parsed. */
  MALFORMED("150 malformed messages", 1, 150, Calls.CHECK, true) {
    @Override
    byte[] bytes() {
      return Http2Frames.message(new byte[] {-1, -1}, 2);
    }
  };

  private static final String DECIDE =
      "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
  private static final String CHECK = "/grpc.health.v1.Health/Check";
  private static final String WATCH = "/grpc.health.v1.Health/Watch";

  private final String label;
  private final int connections;
  private final int calls;
  private final String path;
  private final boolean whole;

  Calls(String label, int connections, int calls, String path, boolean whole) {
    this.label = label;
    this.connections = connections;
    this.calls = calls;
    this.path = path;
    this.whole = whole;
  }

  /** Returns the bytes that one call sends. */
  abstract byte[] bytes();

  @Override
  public Outcome run(Target target, Duration atMost) throws IOException {
    byte[] bytes = bytes();
    boolean stranger = !path.equals(DECIDE);
    List<String> fields =
        stranger || target.token() == null
            ? List.of()
            : List.of("authorization", "Bearer " + target.token());
    List<Http2Client> all = new ArrayList<>();
    List<String> heard = new ArrayList<>();
    int left = 0;
    int tried = 0;
    long sentBytes = 0;
    try {
      for (int i = 0; i < connections; i++) {
        Http2Client client = Http2Client.open(target.grpc());
        client.atMost(atMost);
        all.add(client);
      }
      for (int i = 0; i < calls; i++) {
        for (Http2Client client : all) {
          client.call(path, fields, bytes, whole);
        }
      }
      for (Http2Client client : all) {
        left += client.awaitEnd();
        tried += client.opened();
        sentBytes += client.sentBytes();
        String goAway = client.goAway();
        if (goAway != null) {
          heard.add(goAway);
        }
      }
    } finally {
      for (Http2Client client : all) {
        client.close();
      }
    }
    return new Outcome(tried, left, sentBytes, heard);
  }

  @Override
  public String toString() {
    return label;
  }
}
