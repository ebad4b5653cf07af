package dev.weir.server;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the bodies of {@code /v1/check} and {@code /v1/check/batch}. Token by token: nothing is
 * built that is not wanted, and an error knows its line, column and path.
 */
final class CheckReader implements AutoCloseable {
  private static final int MAX_SHOWN = 40;
  private static final long MAX_UINT32 = (1L << 32) - 1;
  private static final String PERMITS = "a whole number, 0.." + MAX_UINT32;

  private final JsonParser json;

  private CheckReader(JsonParser json) {
    this.json = json;
  }

  private interface Body<T> {
    T read(CheckReader reader) throws IOException, BadRequest;
  }

  /** Returns the request that a body holds. */
  static Request read(byte[] body) throws BadRequest {
    return read(body, CheckReader::request);
  }

  /** Returns the checks that a body holds, those that make no sense as errors. */
  static CheckBatch readBatch(byte[] body) throws BadRequest {
    return read(body, CheckReader::batch);
  }

  private static <T> T read(byte[] body, Body<T> content) throws BadRequest {
    try (CheckReader reader = new CheckReader(JsonSyntax.parser(body))) {
      if (reader.json.nextToken() == null) {
        throw new BadRequest("body: empty (expected: a JSON object)");
      }
      return content.read(reader);
    } catch (IOException e) {
      throw JsonSyntax.error(e);
    }
  }

  /** Makes sure that an object that has just ended, if it is the whole body, is all there is. */
  private void end() throws IOException, BadRequest {
    if (json.getParsingContext().inRoot() && json.nextToken() != null) {
      throw wrong("nothing after the object");
    }
  }

  private CheckBatch batch() throws IOException, BadRequest {
    expect(JsonToken.START_OBJECT, "a JSON object");
    CheckBatch batch = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "checks" -> batch = checks();
        default -> throw unknown("checks");
      }
    }
    end();
    if (batch == null) {
      throw missing("checks", "a list");
    }
    return batch;
  }

  private CheckBatch checks() throws IOException, BadRequest {
    expect(JsonToken.START_ARRAY, "a list");
    CheckBatch batch = new CheckBatch();
    JsonStreamContext list = json.getParsingContext();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      Request request = null;
      String error = "";
      try {
        request = request();
      } catch (BadRequest e) {
        error = String.valueOf(e.getMessage());
        while (json.getParsingContext() != list) {
          json.nextToken(); // What is left of this check.
        }
      }
      if (request == null) {
        batch.addInvalid(error);
      } else {
        batch.add(request);
      }
    }
    return batch;
  }

  private Request request() throws IOException, BadRequest {
    expect(JsonToken.START_OBJECT, "a JSON object");
    String domain = null;
    List<Descriptor> descriptors = null;
    long permits = 1;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "domain" -> domain = text();
        case "permits" -> permits = number();
        case "descriptors" -> descriptors = once(descriptors, descriptors());
        case "descriptor" -> descriptors = once(descriptors, List.of(shortForm()));
        default -> throw unknown("domain, descriptors, descriptor, permits");
      }
    }
    end();
    if (domain == null) {
      throw new BadRequest(path("domain") + ": missing (expected: a string)");
    }
    if (descriptors == null) {
      throw new BadRequest(path("descriptors") + ": missing (expected: a list, or one descriptor)");
    }
    return request(domain, descriptors, permits);
  }

  /** Zero permits of a request mean 1 on Envoy's wire, but here what they say: only look. */
  static Request request(String domain, List<Descriptor> descriptors, long permits) {
    List<Descriptor> charged =
        permits == 0 ? descriptors.stream().map(CheckReader::peek).toList() : descriptors;
    return new Request(domain, charged, permits);
  }

  private static Descriptor peek(Descriptor descriptor) {
    Long permits = descriptor.permits();
    return new Descriptor(
        descriptor.entries(), descriptor.limitOverride(), permits == null ? 0L : permits);
  }

  private List<Descriptor> once(@Nullable List<Descriptor> before, List<Descriptor> now)
      throws BadRequest {
    if (before != null) {
      throw new BadRequest(path() + ": again (expected: either descriptors or descriptor)");
    }
    return now;
  }

  private List<Descriptor> descriptors() throws IOException, BadRequest {
    expect(JsonToken.START_ARRAY, "a list");
    List<Descriptor> descriptors = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      descriptors.add(descriptor());
    }
    return descriptors;
  }

  private Descriptor descriptor() throws IOException, BadRequest {
    expect(JsonToken.START_OBJECT, "an object");
    List<Entry> entries = null;
    LimitOverride limit = null;
    Long permits = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "entries" -> entries = entries();
        case "limit" -> limit = limit();
        case "permits" -> permits = number();
        default -> throw unknown("entries, limit, permits");
      }
    }
    if (entries == null) {
      throw missing("entries", "a list of {\"key\": ..., \"value\": ...}");
    }
    return new Descriptor(entries, limit, permits);
  }

  private List<Entry> entries() throws IOException, BadRequest {
    expect(JsonToken.START_ARRAY, "a list");
    List<Entry> entries = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      entries.add(entry());
    }
    return entries;
  }

  private Entry entry() throws IOException, BadRequest {
    expect(JsonToken.START_OBJECT, "an object");
    String key = null;
    String value = "";
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "key" -> key = text();
        case "value" -> value = text();
        default -> throw unknown("key, value");
      }
    }
    if (key == null) {
      throw missing("key", "a string");
    }
    return new Entry(key, value);
  }

  private LimitOverride limit() throws IOException, BadRequest {
    expect(JsonToken.START_OBJECT, "an object");
    Long requests = null;
    RateLimitUnit unit = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "requests_per_unit" -> requests = number();
        case "unit" -> {
          unit = RateLimitUnit.of(text());
          if (unit == null) {
            throw wrong("second, minute, hour, day, week, month or year");
          }
        }
        default -> throw unknown("requests_per_unit, unit");
      }
    }
    if (requests == null || unit == null) {
      String absent = requests == null ? "requests_per_unit" : "unit";
      throw missing(absent, "both requests_per_unit and unit");
    }
    return new LimitOverride(requests, unit);
  }

  /** Reads {@code {"key": "value", ...}}; the entries are in the order of the text. */
  private Descriptor shortForm() throws IOException, BadRequest {
    expect(JsonToken.START_OBJECT, "an object of keys and values");
    List<Entry> entries = new ArrayList<>();
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String key = json.currentName();
      json.nextToken();
      if (!JsonSyntax.wellFormed(key)) {
        throw wrong(shown(path()), JsonSyntax.UNICODE, "this key");
      }
      entries.add(new Entry(key, text()));
    }
    return new Descriptor(entries, null, null);
  }

  private String text() throws IOException, BadRequest {
    expect(JsonToken.VALUE_STRING, "a string");
    String text = json.getText();
    if (!JsonSyntax.wellFormed(text)) {
      throw wrong(JsonSyntax.UNICODE);
    }
    return text;
  }

  private long number() throws IOException, BadRequest {
    expect(JsonToken.VALUE_NUMBER_INT, PERMITS);
    if (json.getTextLength() > 10) {
      throw wrong(PERMITS);
    }
    long value = json.getLongValue();
    if (value < 0 || value > MAX_UINT32) {
      throw wrong(PERMITS);
    }
    return value;
  }

  private void expect(JsonToken token, String expected) throws IOException, BadRequest {
    if (json.currentToken() != token) {
      throw wrong(expected);
    }
  }

  private BadRequest unknown(String expected) {
    return wrong(shown(path()), "one of " + expected, "unknown");
  }

  private BadRequest missing(String field, String expected) {
    return wrong(path(field), expected, "missing");
  }

  private BadRequest wrong(String expected) throws IOException {
    JsonToken token = json.currentToken();
    String value =
        token == JsonToken.START_OBJECT
            ? "an object"
            : token == JsonToken.START_ARRAY ? "a list" : shown(String.valueOf(json.getText()));
    String path = path();
    return wrong(path.isEmpty() ? "body" : path, expected, value);
  }

  private BadRequest wrong(String path, String expected, String value) {
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
  private String path(String field) {
    String path = path();
    return path.isEmpty() ? field : path + "." + field;
  }

  /** Returns the path of the value that was read last, such as {@code descriptors[0].limit}. */
  private String path() {
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
      path.append(path.isEmpty() ? "" : ".").append(shown(inside.getCurrentName()));
    }
  }

  private static String shown(String text) {
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
  }

  @Override
  public void close() throws IOException {
    json.close();
  }
}
