package dev.weir.protocol.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import dev.weir.rules.ShownText;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A position in a JSON text that is read token by token. Only the values that are needed are built,
 * and an error names its line, column and path. Not safe for use by several threads.
 */
final class JsonCursor implements AutoCloseable {
  private static final long MAX_PERMITS = (1L << 53) - 1;
  private static final int PERMIT_DIGITS = 16;

  private final JsonParser json;

  JsonCursor(byte[] body) throws IOException {
    json = JsonSyntax.parser(body);
  }

  /** Goes to the value that is the whole text. */
  void begin() throws IOException, BadRequest {
    if (json.nextToken() == null) {
      throw new BadRequest("body: empty (expected: a JSON object)");
    }
  }

  /** Checks that nothing follows the object that has just ended, if it is the whole text. */
  void end() throws IOException, BadRequest {
    if (json.getParsingContext().inRoot() && json.nextToken() != null) {
      throw wrong("nothing after the object");
    }
  }

  void beginObject(String expected) throws IOException, BadRequest {
    expect(JsonToken.START_OBJECT, expected);
  }

  void beginList() throws IOException, BadRequest {
    expect(JsonToken.START_ARRAY, "a list");
  }

  /** Goes to the value of the object's next field; returns the field, or null after the last. */
  @Nullable String nextField() throws IOException {
    if (json.nextToken() != JsonToken.FIELD_NAME) {
      return null;
    }
    String field = json.currentName();
    json.nextToken();
    return field;
  }

  /** Goes to the next element of a list; returns false after the last. */
  boolean nextElement() throws IOException {
    return json.nextToken() != JsonToken.END_ARRAY;
  }

  /** Returns the list or object at the cursor. */
  JsonStreamContext inside() {
    return json.getParsingContext();
  }

  /** Goes to the end of everything that is open inside that list or object. */
  void leaveTo(JsonStreamContext outer) throws IOException {
    while (json.getParsingContext() != outer) {
      json.nextToken();
    }
  }

  boolean isString() {
    return json.currentToken() == JsonToken.VALUE_STRING;
  }

  boolean isInteger() {
    return json.currentToken() == JsonToken.VALUE_NUMBER_INT;
  }

  /** Returns whether the value is true. */
  boolean truth() throws IOException, BadRequest {
    JsonToken token = json.currentToken();
    if (token != JsonToken.VALUE_TRUE && token != JsonToken.VALUE_FALSE) {
      throw wrong("true or false");
    }
    return token == JsonToken.VALUE_TRUE;
  }

  /** Returns the value as written; for a string, its content. */
  String raw() throws IOException {
    return json.getText();
  }

  /** Returns an {@link #isInteger() integer}, or -1 if it has more than that many characters. */
  long integer(int mostCharacters) throws IOException {
    return json.getTextLength() > mostCharacters ? -1 : json.getLongValue();
  }

  /**
   * Returns a number of permits, from 0 to the largest integer that every JSON reader holds
   * exactly, which is more than any limit.
   */
  long permits() throws IOException, BadRequest {
    long permits = isInteger() ? integer(PERMIT_DIGITS) : -1;
    if (permits < 0 || permits > MAX_PERMITS) {
      throw wrong("a whole number, 0.." + MAX_PERMITS);
    }
    return permits;
  }

  String text() throws IOException, BadRequest {
    expect(JsonToken.VALUE_STRING, "a string");
    String text = json.getText();
    if (!JsonSyntax.wellFormed(text)) {
      throw wrong(JsonSyntax.UNICODE);
    }
    return text;
  }

  private void expect(JsonToken token, String expected) throws IOException, BadRequest {
    if (json.currentToken() != token) {
      throw wrong(expected);
    }
  }

  /** Returns an error: the value is not the expected one. */
  BadRequest wrong(String expected) throws IOException {
    JsonToken token = json.currentToken();
    String value =
        token == JsonToken.START_OBJECT
            ? "an object"
            : token == JsonToken.START_ARRAY
                ? "a list"
                : ShownText.brief(String.valueOf(json.getText()));
    String path = path();
    return wrong(path.isEmpty() ? "body" : path, value, expected);
  }

  /** Returns an error: the field's name is not valid text. */
  BadRequest wrongName() {
    return wrong(path(), "this key", JsonSyntax.UNICODE);
  }

  /** Returns an error: there is no field of that name. */
  BadRequest unknown(String expected) {
    return wrong(path(), "unknown", "one of " + expected);
  }

  /** Returns an error: the object that has just ended lacks that field. */
  BadRequest missing(String field, String expected) {
    return wrong(path(field), "missing", expected);
  }

  private BadRequest wrong(String path, String value, String expected) {
    return new BadRequest(
        JsonSyntax.at(json.currentTokenLocation())
            + path
            + ": "
            + value
            + " (expected: "
            + expected
            + ")");
  }

  /** Returns the path of a field of the object that has just ended. */
  String path(String field) {
    String path = path();
    return path.isEmpty() ? field : path + "." + field;
  }

  /** Returns the path of the value that was read last, such as {@code descriptors[0].limit}. */
  String path() {
    JsonToken token = json.currentToken();
    JsonStreamContext inside = json.getParsingContext();
    StringBuilder path = new StringBuilder();
    path(token != null && token.isStructStart() ? inside.getParent() : inside, path);
    return path.toString();
  }

  private static void path(@Nullable JsonStreamContext inside, StringBuilder path) {
    if (inside == null || inside.inRoot()) {
      return;
    }
    path(inside.getParent(), path);
    if (inside.inArray()) {
      path.append('[').append(inside.getCurrentIndex()).append(']');
    } else {
      path.append(path.isEmpty() ? "" : ".").append(ShownText.brief(inside.getCurrentName()));
    }
  }

  @Override
  public void close() throws IOException {
    json.close();
  }
}
