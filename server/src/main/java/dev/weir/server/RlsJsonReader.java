package dev.weir.server;

import com.fasterxml.jackson.core.JsonParser;
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
 * Reads the proto3 JSON of a rate limit request as clients write it, and gives up on all else:
 * {@link RlsJson} then asks protobuf's own reader, which knows the odd forms and words the errors.
 * What is read here must be what that one reads.
 */
final class RlsJsonReader implements AutoCloseable {
  /** Any number of so many digits is an unsigned 64-bit one. */
  private static final int MAX_DIGITS = 18;

  private static final long MAX_UINT32 = (1L << 32) - 1;

  /** The reader has met something that it leaves to the other. */
  private static final class Unusual extends Exception {
    private static final long serialVersionUID = 1L;

    Unusual() {
      super(null, null, false, false);
    }
  }

  private final JsonParser json;

  private RlsJsonReader(JsonParser json) {
    this.json = json;
  }

  /** Returns the request that a body holds, or null if it is unusual or wrong. */
  static @Nullable Request read(byte[] body) {
    for (byte each : body) {
      if (each <= 0) {
        return null; // Readers differ in what they make of bytes that are no ASCII.
      }
    }
    try (RlsJsonReader reader = new RlsJsonReader(JsonSyntax.parser(body))) {
      reader.json.nextToken();
      Request request = reader.request();
      return reader.json.nextToken() == null ? request : null;
    } catch (IOException | Unusual e) {
      return null;
    }
  }

  private Request request() throws IOException, Unusual {
    expect(JsonToken.START_OBJECT);
    String domain = "";
    List<Descriptor> descriptors = List.of();
    Long permits = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "domain" -> domain = text();
        case "descriptors" -> descriptors = descriptors();
        case "hitsAddend", "hits_addend" -> permits = once(permits, number(MAX_UINT32));
        default -> throw new Unusual();
      }
    }
    return new Request(domain, descriptors, permits == null ? 0 : permits);
  }

  private List<Descriptor> descriptors() throws IOException, Unusual {
    expect(JsonToken.START_ARRAY);
    List<Descriptor> descriptors = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      descriptors.add(descriptor());
    }
    return descriptors;
  }

  private Descriptor descriptor() throws IOException, Unusual {
    expect(JsonToken.START_OBJECT);
    List<Entry> entries = List.of();
    LimitOverride limit = null;
    Long permits = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "entries" -> entries = entries();
        case "limit" -> limit = limit();
        case "hitsAddend", "hits_addend" -> permits = once(permits, number(Long.MAX_VALUE));
        default -> throw new Unusual();
      }
    }
    return new Descriptor(entries, limit, permits);
  }

  private List<Entry> entries() throws IOException, Unusual {
    expect(JsonToken.START_ARRAY);
    List<Entry> entries = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      entries.add(entry());
    }
    return entries;
  }

  private Entry entry() throws IOException, Unusual {
    expect(JsonToken.START_OBJECT);
    String key = "";
    String value = "";
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "key" -> key = text();
        case "value" -> value = text();
        default -> throw new Unusual();
      }
    }
    return new Entry(key, value);
  }

  private LimitOverride limit() throws IOException, Unusual {
    expect(JsonToken.START_OBJECT);
    Long requests = null;
    RateLimitUnit unit = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "requestsPerUnit", "requests_per_unit" ->
            requests = once(requests, number(MAX_UINT32));
        case "unit" -> unit = unit();
        default -> throw new Unusual();
      }
    }
    if (unit == null) {
      throw new Unusual();
    }
    return new LimitOverride(requests == null ? 0 : requests, unit);
  }

  /** Reads a unit by its name or number on the wire, where there is no week. */
  private RateLimitUnit unit() throws IOException, Unusual {
    return switch (json.getText()) {
      case "SECOND", "1" -> RateLimitUnit.SECOND;
      case "MINUTE", "2" -> RateLimitUnit.MINUTE;
      case "HOUR", "3" -> RateLimitUnit.HOUR;
      case "DAY", "4" -> RateLimitUnit.DAY;
      case "MONTH", "5" -> RateLimitUnit.MONTH;
      case "YEAR", "6" -> RateLimitUnit.YEAR;
      default -> throw new Unusual();
    };
  }

  private String text() throws IOException, Unusual {
    expect(JsonToken.VALUE_STRING);
    String text = json.getText();
    if (!JsonSyntax.wellFormed(text)) {
      throw new Unusual();
    }
    return text;
  }

  /** Reads a number as such or as a string of plain digits. */
  private long number(long max) throws IOException, Unusual {
    JsonToken token = json.currentToken();
    int length = json.getTextLength();
    if ((token != JsonToken.VALUE_NUMBER_INT && token != JsonToken.VALUE_STRING)
        || length == 0
        || length > MAX_DIGITS) {
      throw new Unusual();
    }
    String text = json.getText();
    long number = 0;
    for (int i = 0; i < length; i++) {
      char digit = text.charAt(i);
      if (digit < '0' || digit > '9' || (digit == '0' && i == 0 && length > 1)) {
        throw new Unusual();
      }
      number = 10 * number + (digit - '0');
    }
    if (number > max) {
      throw new Unusual();
    }
    return number;
  }

  /** A field may come under either of its names, but not under both. */
  private static long once(@Nullable Long before, long now) throws Unusual {
    if (before != null) {
      throw new Unusual();
    }
    return now;
  }

  private void expect(JsonToken token) throws Unusual {
    if (json.currentToken() != token) {
      throw new Unusual();
    }
  }

  @Override
  public void close() throws IOException {
    json.close();
  }
}
