package dev.weir.protocol.http;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A reader of the bodies of {@code /v1/renew} and {@code /v1/release}. */
public final class SeatReader {
  /** The most seats of one call. */
  public static final int MOST_SEATS = 1_000;

  private SeatReader() {}

  /**
   * Returns the texts of the seats in a body.
   *
   * @param body UTF-8 JSON of one object with {@code seat}, which is a text or a list of up to
   *     {@value #MOST_SEATS}
   * @throws BadRequest if it is no such object; the message names line, column and path
   */
  public static List<String> read(byte[] body) throws BadRequest {
    try (JsonCursor json = new JsonCursor(body)) {
      json.begin();
      return read(json);
    } catch (IOException e) {
      throw JsonSyntax.error(e);
    }
  }

  private static List<String> read(JsonCursor json) throws IOException, BadRequest {
    json.beginObject("a JSON object");
    List<String> seats = null;
    for (String field = json.nextField(); field != null; field = json.nextField()) {
      if (!field.equals("seat")) {
        throw json.unknown("seat");
      }
      seats = seats(json);
    }
    json.end();
    if (seats == null) {
      throw json.missing("seat", "the text of a granted seat, or a list of them");
    }
    return seats;
  }

  private static List<String> seats(JsonCursor json) throws IOException, BadRequest {
    List<String> seats = new ArrayList<>();
    if (json.isString()) {
      seats.add(json.text());
      return seats;
    }
    json.beginList();
    while (json.nextElement()) {
      if (seats.size() == MOST_SEATS) {
        throw new BadRequest(
            "seat: more than " + MOST_SEATS + " (expected: at most as many in one call)");
      }
      seats.add(json.text());
    }
    return seats;
  }
}
