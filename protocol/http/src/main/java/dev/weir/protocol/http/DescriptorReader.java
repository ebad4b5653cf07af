package dev.weir.protocol.http;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A reader of one request in either of two dialects, from the cursor's value on. */
final class DescriptorReader {
  /** The two forms in which clients write the same request. */
  enum Dialect {
    /** The form of {@code /v1/check}: fields are required, and numbers are numbers. */
    CHECK,

    /**
     * The proto3 JSON of Envoy's rate limit service, as clients usually write it: fields have
     * defaults and two names each, and a number may be a string.
     */
    ENVOY;

    /** Returns the reader's name of a field, or an empty text for a field of the other dialect. */
    private String meaning(String field) {
      if (this == CHECK) {
        return field;
      }
      return switch (field) {
        case "hitsAddend", "hits_addend" -> "permits";
        case "requestsPerUnit" -> "requests_per_unit";
        case "permits", "descriptor", "charge" -> "";
        default -> field;
      };
    }
  }

  private static final long MAX_UINT32 = (1L << 32) - 1;

  /** The most digits of a number that certainly fits into a signed 64-bit integer. */
  private static final int MAX_DIGITS = 18;

  private final JsonCursor json;
  private final Dialect dialect;

  DescriptorReader(JsonCursor json, Dialect dialect) {
    this.json = json;
    this.dialect = dialect;
  }

  private @Nullable String nextField() throws IOException {
    String field = json.nextField();
    return field == null ? null : dialect.meaning(field);
  }

  Request request() throws IOException, BadRequest {
    json.beginObject("a JSON object");
    String domain = null;
    List<Descriptor> descriptors = null;
    Long permits = null;
    boolean charge = false;
    for (String field = nextField(); field != null; field = nextField()) {
      switch (field) {
        case "domain" -> domain = json.text();
        case "permits" -> permits = once(permits, number(MAX_UINT32));
        case "descriptors" -> descriptors = either(descriptors, descriptors());
        case "descriptor" -> descriptors = either(descriptors, List.of(shortForm()));
        case "charge" -> charge = json.truth();
        default -> throw json.unknown("domain, descriptors, descriptor, permits, charge");
      }
    }
    json.end();
    if (dialect == Dialect.ENVOY) {
      return new Request(
          domain == null ? "" : domain,
          descriptors == null ? List.of() : descriptors,
          permits == null ? 0 : permits);
    }
    if (domain == null) {
      throw new BadRequest(json.path("domain") + ": missing (expected: a string)");
    }
    if (descriptors == null) {
      throw new BadRequest(
          json.path("descriptors") + ": missing (expected: a list, or one descriptor)");
    }
    return CheckReader.request(domain, descriptors, permits == null ? 1 : permits, charge);
  }

  private List<Descriptor> either(@Nullable List<Descriptor> before, List<Descriptor> now)
      throws BadRequest {
    if (before != null) {
      throw new BadRequest(json.path() + ": again (expected: either descriptors or descriptor)");
    }
    return now;
  }

  private List<Descriptor> descriptors() throws IOException, BadRequest {
    json.beginList();
    List<Descriptor> descriptors = new ArrayList<>();
    while (json.nextElement()) {
      descriptors.add(descriptor());
    }
    return descriptors;
  }

  private Descriptor descriptor() throws IOException, BadRequest {
    json.beginObject("an object");
    List<Entry> entries = null;
    LimitOverride limit = null;
    Long permits = null;
    long maxPermits = dialect == Dialect.CHECK ? MAX_UINT32 : Long.MAX_VALUE;
    for (String field = nextField(); field != null; field = nextField()) {
      switch (field) {
        case "entries" -> entries = entries();
        case "limit" -> limit = limit();
        case "permits" -> permits = once(permits, number(maxPermits));
        default -> throw json.unknown("entries, limit, permits");
      }
    }
    if (entries == null) {
      entries = absent("entries", List.of(), "a list of {\"key\": ..., \"value\": ...}");
    }
    return new Descriptor(entries, limit, permits);
  }

  private List<Entry> entries() throws IOException, BadRequest {
    json.beginList();
    List<Entry> entries = new ArrayList<>();
    while (json.nextElement()) {
      entries.add(entry());
    }
    return entries;
  }

  private Entry entry() throws IOException, BadRequest {
    json.beginObject("an object");
    String key = null;
    String value = "";
    for (String field = nextField(); field != null; field = nextField()) {
      switch (field) {
        case "key" -> key = json.text();
        case "value" -> value = json.text();
        default -> throw json.unknown("key, value");
      }
    }
    return new Entry(key == null ? absent("key", "", "a string") : key, value);
  }

  private LimitOverride limit() throws IOException, BadRequest {
    json.beginObject("an object");
    Long requests = null;
    RateLimitUnit unit = null;
    for (String field = nextField(); field != null; field = nextField()) {
      switch (field) {
        case "requests_per_unit" -> requests = once(requests, number(MAX_UINT32));
        case "unit" -> unit = unit();
        default -> throw json.unknown("requests_per_unit, unit");
      }
    }
    String both = "both requests_per_unit and unit";
    if (requests == null) {
      requests = absent("requests_per_unit", 0L, both);
    }
    if (unit == null) {
      throw json.missing("unit", both);
    }
    return new LimitOverride(requests, unit);
  }

  private RateLimitUnit unit() throws IOException, BadRequest {
    RateLimitUnit unit =
        dialect == Dialect.CHECK ? RateLimitUnit.of(json.text()) : protoUnit(json.raw());
    if (unit == null) {
      throw json.wrong("second, minute, hour, day, week, month or year");
    }
    return unit;
  }

  /** Returns a unit by its name or number in the protocol, which has no week. */
  private static @Nullable RateLimitUnit protoUnit(String text) {
    return switch (text) {
      case "SECOND", "1" -> RateLimitUnit.SECOND;
      case "MINUTE", "2" -> RateLimitUnit.MINUTE;
      case "HOUR", "3" -> RateLimitUnit.HOUR;
      case "DAY", "4" -> RateLimitUnit.DAY;
      case "MONTH", "5" -> RateLimitUnit.MONTH;
      case "YEAR", "6" -> RateLimitUnit.YEAR;
      default -> null;
    };
  }

  /** Reads {@code {"key": "value", ...}}; the entries are in the order of the text. */
  private Descriptor shortForm() throws IOException, BadRequest {
    json.beginObject("an object of keys and values");
    List<Entry> entries = new ArrayList<>();
    for (String key = json.nextField(); key != null; key = json.nextField()) {
      if (!JsonSyntax.wellFormed(key)) {
        throw json.wrongName();
      }
      entries.add(new Entry(key, json.text()));
    }
    return new Descriptor(entries, null, null);
  }

  private long number(long max) throws IOException, BadRequest {
    long value = -1;
    if (json.isInteger()) {
      value = json.integer(MAX_DIGITS);
    } else if (dialect == Dialect.ENVOY && json.isString()) {
      value = digits(json.raw());
    }
    if (value < 0 || value > max) {
      throw json.wrong("a whole number, 0.." + max);
    }
    return value;
  }

  /** Returns the number that a string of digits stands for, or -1. */
  private static long digits(String text) {
    int length = text.length();
    if (length == 0 || length > MAX_DIGITS || (length > 1 && text.charAt(0) == '0')) {
      return -1;
    }
    long number = 0;
    for (int i = 0; i < length; i++) {
      char digit = text.charAt(i);
      if (digit < '0' || digit > '9') {
        return -1;
      }
      number = 10 * number + (digit - '0');
    }
    return number;
  }

  /**
   * Returns a field's value. A field may come under either of its two names, but not under both.
   */
  private Long once(@Nullable Long before, long now) throws IOException, BadRequest {
    if (before != null) {
      throw json.wrong("one of the two names of the field");
    }
    return now;
  }

  /** Returns the value of an absent field. */
  private <T> T absent(String field, T otherwise, String expected) throws BadRequest {
    if (dialect == Dialect.CHECK) {
      throw json.missing(field, expected);
    }
    return otherwise;
  }
}
