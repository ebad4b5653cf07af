package dev.weir.protocol.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.weir.rules.ShownText;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The JSON that a body may hold, and the wording of its errors. */
public final class JsonSyntax {
  /** The deepest nesting that is read; a batch has six levels. */
  private static final int MAX_DEPTH = 16;

  /** The factory of parsers, which do not intern field names from clients. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
          .build();

  /** The constraint that errors name for a text. */
  public static final String UNICODE = "Unicode text, no half of a surrogate pair";

  private JsonSyntax() {}

  static JsonParser parser(byte[] body) throws IOException {
    return JSON.createParser(body);
  }

  /** Checks that a body is one JSON document, not too deep, with no field twice in an object. */
  public static void check(byte[] body) throws BadRequest {
    try (JsonParser json = parser(body)) {
      if (json.nextToken() == null) {
        throw new BadRequest("body: empty (expected: JSON)");
      }
      json.skipChildren();
      if (json.nextToken() != null) {
        throw new BadRequest(at(json.currentTokenLocation()) + "more text (expected: the end)");
      }
    } catch (IOException e) {
      throw error(e);
    }
  }

  /**
   * Returns whether a text can be written as UTF-8. JSON can write half of a surrogate pair, which
   * has no UTF-8: it would be counted under the wrong key.
   */
  public static boolean wellFormed(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        boolean pair =
            Character.isHighSurrogate(c)
                && i + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(i + 1));
        if (!pair) {
          return false;
        }
        i++;
      }
    }
    return true;
  }

  /** Returns a parser's error in the wording of the service. */
  static BadRequest error(IOException e) {
    if (e instanceof JsonProcessingException syntax) {
      return new BadRequest(
          at(syntax.getLocation())
              + ShownText.ofParser(syntax.getOriginalMessage())
              + " (expected: JSON)");
    }
    return new BadRequest("body: " + e.getMessage() + " (expected: JSON in UTF-8)");
  }

  /** Returns a place as it stands at the beginning of an error. */
  static String at(@Nullable JsonLocation location) {
    return location == null
        ? ""
        : "line " + location.getLineNr() + ", column " + location.getColumnNr() + ": ";
  }
}
