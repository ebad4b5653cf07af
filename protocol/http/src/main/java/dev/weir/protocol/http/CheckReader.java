package dev.weir.protocol.http;

import com.fasterxml.jackson.core.JsonStreamContext;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import java.io.IOException;
import java.util.List;

/** A reader of the bodies of {@code /v1/check} and {@code /v1/check/batch}. */
public final class CheckReader {
  private CheckReader() {}

  /**
   * Returns the request that a body holds.
   *
   * @param body UTF-8 JSON of one object with {@code domain}, {@code descriptors} or {@code
   *     descriptor}, and {@code permits}, 0..2^32-1
   * @throws BadRequest if it is no such object; the message names line, column and path
   */
  public static Request read(byte[] body) throws BadRequest {
    try (JsonCursor json = new JsonCursor(body)) {
      json.begin();
      return new DescriptorReader(json, DescriptorReader.Dialect.CHECK).request();
    } catch (IOException e) {
      throw JsonSyntax.error(e);
    }
  }

  /**
   * Returns the checks that a body holds; malformed ones become errors.
   *
   * @param body UTF-8 JSON: {@code {"checks": [...]}}
   * @throws BadRequest if the list itself is wrong, or there are too many checks or descriptors
   */
  public static CheckBatch readBatch(byte[] body) throws BadRequest {
    try (JsonCursor json = new JsonCursor(body)) {
      json.begin();
      return batch(json);
    } catch (IOException e) {
      throw JsonSyntax.error(e);
    }
  }

  private static CheckBatch batch(JsonCursor json) throws IOException, BadRequest {
    json.beginObject("a JSON object");
    CheckBatch batch = null;
    for (String field = json.nextField(); field != null; field = json.nextField()) {
      if (!field.equals("checks")) {
        throw json.unknown("checks");
      }
      batch = checks(json);
    }
    json.end();
    if (batch == null) {
      throw json.missing("checks", "a list");
    }
    return batch;
  }

  private static CheckBatch checks(JsonCursor json) throws IOException, BadRequest {
    json.beginList();
    CheckBatch batch = new CheckBatch();
    DescriptorReader reader = new DescriptorReader(json, DescriptorReader.Dialect.CHECK);
    JsonStreamContext list = json.inside();
    while (json.nextElement()) {
      Request request = null;
      String error = "";
      try {
        request = reader.request();
      } catch (BadRequest e) {
        error = String.valueOf(e.getMessage());
        json.leaveTo(list); // Skips the rest of this check.
      }
      if (request == null) {
        batch.addInvalid(error);
      } else {
        batch.add(request);
      }
    }
    return batch;
  }

  /**
   * Returns a request; 0 permits peek without charging.
   *
   * @param permits permits of each descriptor that has no number of its own; Envoy's protocol reads
   *     0 as 1, Weir's own protocol takes it as 0
   * @param charge whether the permits are counted whatever is left
   */
  public static Request request(
      String domain, List<Descriptor> descriptors, long permits, boolean charge) {
    List<Descriptor> charged =
        permits == 0 ? descriptors.stream().map(CheckReader::peek).toList() : descriptors;
    return new Request(domain, charged, permits, charge);
  }

  private static Descriptor peek(Descriptor descriptor) {
    Long permits = descriptor.permits();
    return new Descriptor(
        descriptor.entries(), descriptor.limitOverride(), permits == null ? 0L : permits);
  }
}
