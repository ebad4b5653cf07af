package dev.weir.load;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The bytes of a request, except the digits of its key. Immutable. */
final class RequestBytes {
  /** A mark at the place of the key's digits; so many zeros occur nowhere else. */
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
  static RequestBytes of(LoadPlan plan, LoadPlan.Target target, boolean exhausted) {
    LoadPlan.Requests requests = plan.requests();
    String domain = requests.domain();
    String descriptor = requests.descriptor();
    return switch (plan.door()) {
      case GRPC -> of(message(domain, descriptor));
      case HTTP ->
          post(
              plan,
              target,
              "/v1/check",
              "{\"domain\":\""
                  + json(domain)
                  + "\",\"descriptor\":{\""
                  + json(descriptor)
                  + "\":\""
                  + HOLE
                  + "\"}}");
      case JSON ->
          post(
              plan,
              target,
              "/json",
              "{\"domain\":\""
                  + json(domain)
                  + "\",\"descriptors\":[{\"entries\":[{\"key\":\""
                  + json(descriptor)
                  + "\",\"value\":\""
                  + HOLE
                  + "\"}]}]}");
      case RESP -> {
        LoadPlan.Throttle limit = exhausted ? EXHAUSTED : requests.throttle();
        yield command(
            "CL.THROTTLE",
            domain + ":" + descriptor + ":" + HOLE,
            Long.toString(limit.maxBurst()),
            Long.toString(limit.count()),
            Long.toString(limit.periodSeconds()));
      }
      case RESP_RULES -> command("WEIR.CHECK", domain, "1", descriptor, HOLE);
    };
  }

  /** Returns a message of gRPC: not compressed, its length, and the request. */
  private static byte[] message(String domain, String descriptor) {
    byte[] request =
        RateLimitRequest.newBuilder()
            .setDomain(domain)
            .addDescriptors(
                RateLimitDescriptor.newBuilder()
                    .addEntries(
                        RateLimitDescriptor.Entry.newBuilder().setKey(descriptor).setValue(HOLE)))
            .build()
            .toByteArray();
    return ByteBuffer.allocate(5 + request.length)
        .put((byte) 0)
        .putInt(request.length)
        .put(request)
        .array();
  }

  /** Returns a Redis command without a key. */
  static byte[] plainCommand(String... words) {
    return commandBytes(words);
  }

  private static RequestBytes post(
      LoadPlan plan, LoadPlan.Target target, String path, String body) {
    String token = plan.access().token();
    String authorization = token == null ? "" : "Authorization: Bearer " + token + "\r\n";
    return of(
        ("POST "
                + path
                + " HTTP/1.1\r\nHost: "
                + target.authority()
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
    int hole = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(HOLE);
    return new RequestBytes(bytes, hole);
  }

  private static String json(String text) {
    return new String(JsonStringEncoder.getInstance().quoteAsString(text));
  }

  int length() {
    return bytes.length;
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
