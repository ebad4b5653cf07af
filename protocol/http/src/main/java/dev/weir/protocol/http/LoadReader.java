package dev.weir.protocol.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/** A reader of the body of {@code /v1/load}: {@code {"load": 0.4}}. */
public final class LoadReader {
  private static final String EXPECTED =
      " (expected: {\"load\": N}, N from 0, where 1 is full load)";

  private LoadReader() {}

  /**
   * Returns the load that a body holds.
   *
   * @return at least 0, where 1 is full load; finite
   * @throws BadRequest if the body is anything else
   */
  public static double read(byte[] body) throws BadRequest {
    try (JsonParser json = JsonSyntax.parser(body)) {
      boolean named =
          json.nextToken() == JsonToken.START_OBJECT && "load".equals(json.nextFieldName());
      JsonToken value = named ? json.nextToken() : null;
      if (value == null || !value.isNumeric()) {
        throw new BadRequest("body: no load" + EXPECTED);
      }
      double load = json.getDoubleValue();
      if (!(load >= 0) || load > Double.MAX_VALUE) {
        throw new BadRequest("load: " + json.getText() + EXPECTED);
      }
      if (json.nextToken() != JsonToken.END_OBJECT || json.nextToken() != null) {
        throw new BadRequest("body: more than a load" + EXPECTED);
      }
      return load;
    } catch (IOException e) {
      throw JsonSyntax.error(e);
    }
  }
}
