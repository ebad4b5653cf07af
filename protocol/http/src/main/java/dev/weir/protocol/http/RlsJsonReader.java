package dev.weir.protocol.http;

import dev.weir.rules.Request;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A reader of the usual proto3 JSON of a rate limit request. It leaves all other forms to
 * protobuf's own reader, which handles the rare ones and words the errors. A body that is read here
 * must mean the same there.
 */
public final class RlsJsonReader {
  private RlsJsonReader() {}

  /** Returns the request that a body holds, or null if it is unusual or wrong. */
  public static @Nullable Request read(byte[] body) {
    for (byte each : body) {
      if (each <= 0) {
        return null; // Readers differ in the treatment of bytes that are not ASCII.
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
