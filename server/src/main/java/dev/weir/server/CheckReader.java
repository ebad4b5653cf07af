package dev.weir.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of {@code /v1/check}. Token by token: nothing is built that is not wanted, and an
 * error knows its line and column.
 */
final class CheckReader implements AutoCloseable {
  /** The shape of a request is four levels deep. */
  private static final int MAX_DEPTH = 16;

  private static final int MAX_SHOWN = 40;
  private static final long MAX_UINT32 = (1L << 32) - 1;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
          .build();

  private final JsonParser json;

  private CheckReader(JsonParser json) {
    this.json = json;
  }

  /** Returns the request that a body holds. */
  static Request read(byte[] body) throws BadRequest {
    try (CheckReader reader = new CheckReader(JSON.createParser(body))) {
      return reader.request();
    } catch (JsonProcessingException e) {
      throw syntax(e);
    } catch (IOException e) {
      throw new BadRequest("body: " + e.getMessage() + " (expected: JSON in UTF-8)");
    }
  }

  /** Makes sure that a body is one JSON document, not too deep, no field of an object twice. */
  static void checkSyntax(byte[] body) throws BadRequest {
    try (JsonParser json = JSON.createParser(body)) {
      if (json.nextToken() == null) {
        throw new BadRequest("body: empty (expected: JSON)");
      }
      json.skipChildren();
      if (json.nextToken() != null) {
        throw new BadRequest(at(json.currentTokenLocation()) + "more text (expected: the end)");
      }
    } catch (JsonProcessingException e) {
      throw syntax(e);
    } catch (IOException e) {
      throw new BadRequest("body: " + e.getMessage() + " (expected: JSON in UTF-8)");
    }
  }

  private static BadRequest syntax(JsonProcessingException e) {
    String message = Objects.requireNonNullElse(e.getOriginalMessage(), "unreadable");
    int end = message.indexOf('\n');
    return new BadRequest(at(e.getLocation()) + (end < 0 ? message : message.substring(0, end)));
  }

  private static String at(@Nullable JsonLocation location) {
    return location == null
        ? ""
        : "line " + location.getLineNr() + ", column " + location.getColumnNr() + ": ";
  }

  private Request request() throws IOException, BadRequest {
    if (json.nextToken() == null) {
      throw new BadRequest("body: empty (expected: a JSON object)");
    }
    expect(JsonToken.START_OBJECT, "body", "a JSON object");
    String domain = null;
    List<Descriptor> descriptors = null;
    long permits = 1;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "domain" -> domain = text("domain");
        case "permits" -> permits = number("permits", 0);
        case "descriptors" -> descriptors = once(field, descriptors, descriptors());
        case "descriptor" -> descriptors = once(field, descriptors, List.of(shortForm()));
        default -> throw unknown(field, "domain, descriptors, descriptor, permits");
      }
    }
    if (json.nextToken() != null) {
      throw wrong("body", "nothing after the object");
    }
    if (domain == null) {
      throw new BadRequest("domain: missing (expected: a string)");
    }
    if (descriptors == null) {
      throw new BadRequest("descriptors: missing (expected: a list, or one descriptor)");
    }
    if (permits == 0) {
      descriptors = descriptors.stream().map(CheckReader::peek).toList();
    }
    return new Request(domain, descriptors, permits);
  }

  /** Zero permits of a request mean 1 on Envoy's wire, but here what they say: only look. */
  private static Descriptor peek(Descriptor descriptor) {
    Long permits = descriptor.permits();
    return new Descriptor(
        descriptor.entries(), descriptor.limitOverride(), permits == null ? 0L : permits);
  }

  private List<Descriptor> once(
      String field, @Nullable List<Descriptor> before, List<Descriptor> now) throws BadRequest {
    if (before != null) {
      throw new BadRequest(field + ": again (expected: either descriptors or descriptor)");
    }
    return now;
  }

  private List<Descriptor> descriptors() throws IOException, BadRequest {
    expect(JsonToken.START_ARRAY, "descriptors", "a list");
    List<Descriptor> descriptors = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      descriptors.add(descriptor("descriptors[" + descriptors.size() + "]"));
    }
    return descriptors;
  }

  private Descriptor descriptor(String path) throws IOException, BadRequest {
    expect(JsonToken.START_OBJECT, path, "an object");
    List<Entry> entries = null;
    LimitOverride limit = null;
    Long permits = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "entries" -> entries = entries(path + ".entries");
        case "limit" -> limit = limit(path + ".limit");
        case "permits" -> permits = number(path + ".permits", 0);
        default -> throw unknown(path + "." + field, "entries, limit, permits");
      }
    }
    if (entries == null) {
      throw wrong(path + ".entries", "a list of {\"key\": ..., \"value\": ...}", "missing");
    }
    return new Descriptor(entries, limit, permits);
  }

  private List<Entry> entries(String path) throws IOException, BadRequest {
    expect(JsonToken.START_ARRAY, path, "a list");
    List<Entry> entries = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      entries.add(entry(path + "[" + entries.size() + "]"));
    }
    return entries;
  }

  private Entry entry(String path) throws IOException, BadRequest {
    expect(JsonToken.START_OBJECT, path, "an object");
    String key = null;
    String value = "";
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "key" -> key = text(path + ".key");
        case "value" -> value = text(path + ".value");
        default -> throw unknown(path + "." + field, "key, value");
      }
    }
    if (key == null) {
      throw wrong(path + ".key", "a string", "missing");
    }
    return new Entry(key, value);
  }

  private LimitOverride limit(String path) throws IOException, BadRequest {
    expect(JsonToken.START_OBJECT, path, "an object");
    Long requests = null;
    RateLimitUnit unit = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "requests_per_unit" -> requests = number(path + ".requests_per_unit", 0);
        case "unit" -> {
          String name = text(path + ".unit");
          unit = RateLimitUnit.of(name);
          if (unit == null) {
            throw wrong(path + ".unit", "second, minute, hour, day, week, month or year");
          }
        }
        default -> throw unknown(path + "." + field, "requests_per_unit, unit");
      }
    }
    if (requests == null || unit == null) {
      String absent = requests == null ? ".requests_per_unit" : ".unit";
      throw wrong(path + absent, "both requests_per_unit and unit", "missing");
    }
    return new LimitOverride(requests, unit);
  }

  /** Reads {@code {"key": "value", ...}}; the entries are in the order of the text. */
  private Descriptor shortForm() throws IOException, BadRequest {
    expect(JsonToken.START_OBJECT, "descriptor", "an object of keys and values");
    List<Entry> entries = new ArrayList<>();
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String key = json.currentName();
      json.nextToken();
      entries.add(new Entry(key, text("descriptor." + shown(key))));
    }
    return new Descriptor(entries, null, null);
  }

  private String text(String path) throws IOException, BadRequest {
    expect(JsonToken.VALUE_STRING, path, "a string");
    return json.getText();
  }

  private long number(String path, long min) throws IOException, BadRequest {
    String expected = "a whole number, " + min + ".." + MAX_UINT32;
    expect(JsonToken.VALUE_NUMBER_INT, path, expected);
    if (json.getTextLength() > 10) {
      throw wrong(path, expected);
    }
    long value = json.getLongValue();
    if (value < min || value > MAX_UINT32) {
      throw wrong(path, expected);
    }
    return value;
  }

  private void expect(JsonToken token, String path, String expected)
      throws IOException, BadRequest {
    if (json.currentToken() != token) {
      throw wrong(path, expected);
    }
  }

  private BadRequest unknown(String path, String expected) {
    return wrong(shown(path), "one of " + expected, "unknown");
  }

  private BadRequest wrong(String path, String expected) throws IOException {
    JsonToken token = json.currentToken();
    String value =
        token == JsonToken.START_OBJECT
            ? "an object"
            : token == JsonToken.START_ARRAY ? "a list" : shown(String.valueOf(json.getText()));
    return wrong(path, expected, value);
  }

  private BadRequest wrong(String path, String expected, String value) {
    return new BadRequest(
        at(json.currentTokenLocation()) + path + ": " + value + " (expected: " + expected + ")");
  }

  private static String shown(String text) {
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
  }

  @Override
  public void close() throws IOException {
    json.close();
  }
}
