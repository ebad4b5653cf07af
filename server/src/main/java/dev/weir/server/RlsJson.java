package dev.weir.server;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.server.proto.HeaderValue;
import dev.weir.server.proto.RateLimitRequest;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rate limit service's messages as proto3 JSON. What protobuf's own {@link JsonFormat} reads
 * and writes is right by definition, but it works by reflection; so what is usual is read and
 * written here, to the same result, and the rest is left to it. Safe for use by many threads.
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

  /** Reads by protobuf's own reader, which takes any form that there is. */
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

  Buffer write(Answer answer) {
    Buffer text = quickly(answer);
    return text == null ? Buffer.buffer(slowly(answer)) : text;
  }

  /** Writes by protobuf's own writer. */
  String slowly(Answer answer) {
    try {
      return PRINTER.print(messages.response(answer));
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(e); // Only a message with an Any of unknown type.
    }
  }

  /** Returns the same text, or null if something in it is not plain. */
  @Nullable Buffer quickly(Answer answer) {
    JsonText json = new JsonText().object().field("overallCode", answer.code().name());
    if (!answer.statuses().isEmpty()) {
      json.array("statuses");
      for (Status status : answer.statuses()) {
        if (!status(json, status)) {
          return null;
        }
      }
      json.endArray();
    }
    List<HeaderValue> headers = messages.headers(answer);
    if (!headers.isEmpty()) {
      json.array("responseHeadersToAdd");
      for (HeaderValue header : headers) {
        if (!plain(header.getKey())) {
          return null;
        }
        json.object().field("key", header.getKey()).field("value", header.getValue()).end();
      }
      json.endArray();
    }
    return json.end().buffer();
  }

  /** Writes a status without the fields that are 0 or empty; returns false if it is not plain. */
  private static boolean status(JsonText json, Status status) {
    json.object().field("code", status.code().name());
    CurrentLimit limit = status.currentLimit();
    if (limit != null) {
      if (!plain(limit.name()) || status.durationUntilResetSeconds() > MAX_DURATION_SECONDS) {
        return false;
      }
      json.object("currentLimit");
      number(json, "requestsPerUnit", limit.requestsPerUnit());
      json.field("unit", RlsMessages.nearestUnit(limit.policy().quota().windowNanos()).name());
      if (!limit.name().isEmpty()) {
        json.field("name", limit.name());
      }
      json.end();
    }
    number(json, "limitRemaining", status.limitRemaining());
    if (limit != null) {
      json.field("durationUntilReset", status.durationUntilResetSeconds() + "s");
    }
    json.end();
    return true;
  }

  private static void number(JsonText json, String name, long value) {
    if ((value & UINT32) != 0) {
      json.field(name, value & UINT32);
    }
  }

  /** Returns whether a text needs no escape, also not one of those that make JSON safe in HTML. */
  private static boolean plain(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < ' ' || c > '~' || "\"\\<>&='".indexOf(c) >= 0) {
        return false;
      }
    }
    return true;
  }
}
