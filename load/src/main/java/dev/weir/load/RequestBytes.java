package dev.weir.load;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** The bytes of a request, except the digits of its key. Immutable. */
final class RequestBytes {
  /** Marks the place of the key's digits; it cannot occur in a flag's value. */
  private static final String HOLE = "\0".repeat(LoadPlan.KEY_DIGITS);

  /** A limit that one request uses up for a day. */
  private static final LoadPlan.Throttle EXHAUSTED = new LoadPlan.Throttle(0, 1, 86_400);

  private final byte[] bytes;
  private final int hole;

  private RequestBytes(byte[] bytes, int hole) {
    this.bytes = bytes;
    this.hole = hole;
  }

  /** Returns the plan's request, or the one for keys whose limit is to be used up. */
  static RequestBytes of(LoadPlan plan, boolean exhausted) {
    return switch (plan.door()) {
      case HTTP ->
          post(
              plan,
              "/v1/check",
              "{\"domain\":\""
                  + json(plan.domain())
                  + "\",\"descriptor\":{\""
                  + json(plan.descriptor())
                  + "\":\""
                  + HOLE
                  + "\"}}");
      case JSON ->
          post(
              plan,
              "/json",
              "{\"domain\":\""
                  + json(plan.domain())
                  + "\",\"descriptors\":[{\"entries\":[{\"key\":\""
                  + json(plan.descriptor())
                  + "\",\"value\":\""
                  + HOLE
                  + "\"}]}]}");
      case RESP -> {
        LoadPlan.Throttle limit = exhausted ? EXHAUSTED : plan.throttle();
        yield command(
            "CL.THROTTLE",
            plan.domain() + ":" + plan.descriptor() + ":" + HOLE,
            Long.toString(limit.maxBurst()),
            Long.toString(limit.count()),
            Long.toString(limit.periodSeconds()));
      }
      case RESP_RULES -> command("WEIR.CHECK", plan.domain(), "1", plan.descriptor(), HOLE);
      case GRPC -> throw new IllegalArgumentException("grpc has messages of its own");
    };
  }

  /** Returns a Redis command without a key. */
  static byte[] plainCommand(String... words) {
    return commandBytes(words);
  }

  private static RequestBytes post(LoadPlan plan, String path, String body) {
    String authorization =
        plan.token() == null ? "" : "Authorization: Bearer " + plan.token() + "\r\n";
    return of(
        ("POST "
                + path
                + " HTTP/1.1\r\nHost: "
                + plan.target().authority()
                + "\r\nContent-Type: application/json\r\nContent-Length: "
                + body.getBytes(StandardCharsets.UTF_8).length
                + "\r\n"
                + authorization
                + "\r\n"
                + body)
            .getBytes(StandardCharsets.UTF_8));
  }

  private static RequestBytes command(String... words) {
    return of(commandBytes(words));
  }

  private static byte[] commandBytes(String... words) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(("*" + words.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
    for (String word : words) {
      byte[] text = word.getBytes(StandardCharsets.UTF_8);
      out.writeBytes(("$" + text.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
      out.writeBytes(text);
      out.writeBytes(new byte[] {'\r', '\n'});
    }
    return out.toByteArray();
  }

  private static RequestBytes of(byte[] bytes) {
    int hole = 0;
    while (bytes[hole] != 0) {
      hole++;
    }
    return new RequestBytes(bytes, hole);
  }

  private static String json(String text) {
    return new String(JsonStringEncoder.getInstance().quoteAsString(text));
  }

  void writeTo(ByteBuf out, long key) {
    int at = out.writerIndex() + hole;
    out.writeBytes(bytes);
    long rest = key;
    for (int i = LoadPlan.KEY_DIGITS - 1; i >= 0; i--) {
      out.setByte(at + i, '0' + (int) (rest % 10));
      rest /= 10;
    }
  }
}
