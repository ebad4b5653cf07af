package dev.weir.server.internal.http;

import com.fasterxml.jackson.core.JsonGenerator;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.protocol.envoy.HeaderValue;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.JsonBytes;
import dev.weir.protocol.http.JsonSyntax;
import dev.weir.protocol.http.RlsJsonReader;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.RlsMessages;
import dev.weir.server.internal.deciding.WindowUnits;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rate limit service's messages as proto3 JSON. Protobuf's own {@link JsonFormat} is correct by
 * definition, but uses reflection; so the usual forms are read and written here, with the same
 * result, and all others by {@link JsonFormat}. Safe for use by many threads.
 */
final class RlsJson {
  private static final JsonFormat.Parser PARSER = JsonFormat.parser();
  private static final JsonFormat.Printer PRINTER =
      JsonFormat.printer().omittingInsignificantWhitespace();

  /** Longer durations have no JSON form. */
  private static final long MAX_DURATION_SECONDS = 315_576_000_000L;

  private static final long UINT32 = (1L << 32) - 1;

  private final RlsMessages messages;

  RlsJson(RlsMessages messages) {
    this.messages = messages;
  }

  Request read(byte[] body) throws BadRequest {
    Request request = RlsJsonReader.read(body);
    return request == null ? slowly(body) : request;
  }

  /** Reads with protobuf's own reader, which accepts every form. */
  Request slowly(byte[] body) throws BadRequest {
    JsonSyntax.check(body);
    RateLimitRequest.Builder message = RateLimitRequest.newBuilder();
    try {
      PARSER.merge(new String(body, StandardCharsets.UTF_8), message);
    } catch (InvalidProtocolBufferException e) {
      throw new BadRequest(String.valueOf(e.getMessage()));
    }
    Request request = messages.request(message.build());
    requireUnicode("domain", request.domain());
    for (int i = 0; i < request.descriptors().size(); i++) {
      List<Entry> entries = request.descriptors().get(i).entries();
      for (int j = 0; j < entries.size(); j++) {
        String path = "descriptors[" + i + "].entries[" + j + "]";
        requireUnicode(path + ".key", entries.get(j).key());
        requireUnicode(path + ".value", entries.get(j).value());
      }
    }
    return request;
  }

  private static void requireUnicode(String path, String text) throws BadRequest {
    if (!JsonSyntax.wellFormed(text)) {
      throw new BadRequest(path + ": not Unicode (expected: " + JsonSyntax.UNICODE + ")");
    }
  }

  Buffer write(Request request, Answer answer) {
    if (!messages.haveMetadata()) {
      return write(answer);
    }
    return Buffer.buffer(print(messages.response(request, answer)));
  }

  Buffer write(Answer answer) {
    Buffer text = quickly(answer);
    return text == null ? Buffer.buffer(slowly(answer)) : text;
  }

  /** Writes with protobuf's own writer. */
  String slowly(Answer answer) {
    return print(messages.response(answer));
  }

  private static String print(RateLimitResponse message) {
    try {
      return PRINTER.print(message);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(e); // Only a message with an Any of unknown type has no JSON.
    }
  }

  /** Returns the same text, or null if a part of it needs protobuf's writer. */
  @Nullable Buffer quickly(Answer answer) {
    List<HeaderValue> headers = messages.headers(answer);
    return plain(answer, headers)
        ? Buffer.buffer(JsonBytes.of(json -> write(answer, headers, json)))
        : null;
  }

  private static boolean plain(Answer answer, List<HeaderValue> headers) {
    for (Status status : answer.statuses()) {
      CurrentLimit limit = status.currentLimit();
      if (limit != null
          && (!plain(limit.name()) || status.durationUntilResetSeconds() > MAX_DURATION_SECONDS)) {
        return false;
      }
    }
    for (HeaderValue header : headers) {
      if (!plain(header.getKey())) {
        return false;
      }
    }
    return true;
  }

  private static void write(Answer answer, List<HeaderValue> headers, JsonGenerator json)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("overallCode", answer.allowed() ? "OK" : "OVER_LIMIT");
    if (!answer.statuses().isEmpty()) {
      json.writeArrayFieldStart("statuses");
      for (Status status : answer.statuses()) {
        status(json, status);
      }
      json.writeEndArray();
    }
    if (!headers.isEmpty()) {
      json.writeArrayFieldStart("responseHeadersToAdd");
      for (HeaderValue header : headers) {
        json.writeStartObject();
        json.writeStringField("key", header.getKey());
        json.writeStringField("value", header.getValue());
        json.writeEndObject();
      }
      json.writeEndArray();
    }
    json.writeEndObject();
  }

  /** Writes a status without the fields that are 0 or empty. */
  private static void status(JsonGenerator json, Status status) throws IOException {
    json.writeStartObject();
    json.writeStringField("code", status.allowed() ? "OK" : "OVER_LIMIT");
    CurrentLimit limit = status.currentLimit();
    if (limit != null) {
      json.writeFieldName("currentLimit");
      write(limit, json);
    }
    number(json, "limitRemaining", status.limitRemaining());
    if (limit != null) {
      json.writeStringField("durationUntilReset", status.durationUntilResetSeconds() + "s");
    }
    json.writeEndObject();
  }

  private static void write(CurrentLimit limit, JsonGenerator json) throws IOException {
    json.writeStartObject();
    number(json, "requestsPerUnit", limit.requestsPerUnit());
    WindowUnits window = WindowUnits.of(limit.policy().quota().windowNanos());
    json.writeStringField("unit", window.unit().name());
    if (!limit.name().isEmpty()) {
      json.writeStringField("name", limit.name());
    }
    if (window.count() > 1) {
      json.writeNumberField("unitMultiplier", window.count());
    }
    json.writeEndObject();
  }

  /** Returns the part of answers that describes a limit whose name is {@link #plain}. */
  static byte[] limit(CurrentLimit limit) {
    return JsonBytes.of(json -> write(limit, json));
  }

  /** Returns a number in the form of the messages. */
  static long uint32(long value) {
    return value & UINT32;
  }

  private static void number(JsonGenerator json, String name, long value) throws IOException {
    if (uint32(value) != 0) {
      json.writeNumberField(name, uint32(value));
    }
  }

  /** Returns whether a text needs no escape, not even those that make JSON safe in HTML. */
  static boolean plain(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < ' ' || c > '~' || "\"\\<>&='".indexOf(c) >= 0) {
        return false;
      }
    }
    return true;
  }
}
