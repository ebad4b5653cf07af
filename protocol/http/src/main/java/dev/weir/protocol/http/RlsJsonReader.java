package dev.weir.protocol.http;

import dev.weir.rules.Request;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the proto3 JSON of a rate limit request as clients usually write it, and leaves all else to
 * protobuf's own reader, which knows the rare forms and words the errors. What is read here must be
 * what that one reads.
 */
public final class RlsJsonReader {
  private RlsJsonReader() {}

  /** Returns the request that a body holds, or null if it is unusual or wrong. */
  public static @Nullable Request read(byte[] body) {
    for (byte each : body) {
      if (each <= 0) {
        return null; // Readers differ in what they make of bytes that are no ASCII.
      }
    }
    try (JsonCursor json = new JsonCursor(body)) {
      json.begin();
      return new DescriptorReader(json, DescriptorReader.Dialect.ENVOY).request();
    } catch (IOException | BadRequest e) {
      return null;
    }
  }
}
