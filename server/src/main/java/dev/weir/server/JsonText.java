package dev.weir.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

/** Writes a small JSON text from front to back. Not safe for use by several threads. */
final class JsonText {
  private static final JsonFactory JSON = new JsonFactory();

  private interface Step {
    void write() throws IOException;
  }

  private final StringWriter text = new StringWriter(256);
  private final JsonGenerator json;

  JsonText() {
    try {
      json = JSON.createGenerator(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  JsonText object() {
    return write(json::writeStartObject);
  }

  JsonText array(String field) {
    return write(() -> json.writeArrayFieldStart(field));
  }

  /** Ends the innermost object. */
  JsonText end() {
    return write(json::writeEndObject);
  }

  JsonText endArray() {
    return write(json::writeEndArray);
  }

  JsonText field(String name, String value) {
    return write(() -> json.writeStringField(name, value));
  }

  JsonText field(String name, long value) {
    return write(() -> json.writeNumberField(name, value));
  }

  JsonText field(String name, boolean value) {
    return write(() -> json.writeBooleanField(name, value));
  }

  JsonText value(String value) {
    return write(() -> json.writeString(value));
  }

  private JsonText write(Step step) {
    try {
      step.write();
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e); // A StringWriter has no such trouble.
    }
  }

  @Override
  public String toString() {
    write(json::flush);
    return text.toString();
  }
}
