package dev.weir.protocol.http;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A reader of the body of {@code /v1/settle}. */
public final class SettleReader {
  private SettleReader() {}

  /**
   * The settlement that a body asks for.
   *
   * @param hold the text of the hold
   * @param permits what the request did cost: one number, or one for each descriptor
   */
  public record SettleCall(String hold, List<Long> permits) {}

  /**
   * Returns the settlement that a body holds.
   *
   * @param body UTF-8 JSON of one object with {@code hold}, and {@code permits}, which is a number,
   *     0..2^53-1, or a list of them
   * @throws BadRequest if it is no such object; the message names line, column and path
   */
  public static SettleCall read(byte[] body) throws BadRequest {
    try (JsonCursor json = new JsonCursor(body)) {
      json.begin();
      return read(json);
    } catch (IOException e) {
      throw JsonSyntax.error(e);
    }
  }

  private static SettleCall read(JsonCursor json) throws IOException, BadRequest {
    json.beginObject("a JSON object");
    String hold = null;
    List<Long> permits = null;
    for (String field = json.nextField(); field != null; field = json.nextField()) {
      switch (field) {
        case "hold" -> hold = json.text();
        case "permits" -> permits = permits(json);
        default -> throw json.unknown("hold, permits");
      }
    }
    json.end();
    return new SettleCall(
        present(hold, json, "hold", "the text of a granted hold"),
        present(permits, json, "permits", "a number, or one for each descriptor"));
  }

  private static <T> T present(@Nullable T value, JsonCursor json, String field, String expected)
      throws BadRequest {
    if (value == null) {
      throw json.missing(field, expected);
    }
    return value;
  }

  private static List<Long> permits(JsonCursor json) throws IOException, BadRequest {
    List<Long> permits = new ArrayList<>();
    if (json.isInteger()) {
      permits.add(json.permits());
      return permits;
    }
    json.beginList();
    while (json.nextElement()) {
      permits.add(json.permits());
    }
    return permits;
  }
}
