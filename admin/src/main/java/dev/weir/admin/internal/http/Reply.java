package dev.weir.admin.internal.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.admin.AdminResponse;
import dev.weir.config.Json;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** The factory of answers. */
public final class Reply {
  public static final String TYPE = "Content-Type";
  static final String ETAG = "ETag";

  private static final Map<Integer, String> TITLES =
      Map.ofEntries(
          Map.entry(400, "Bad request"),
          Map.entry(401, "Not authenticated"),
          Map.entry(403, "Forbidden"),
          Map.entry(404, "Not found"),
          Map.entry(405, "Method not allowed"),
          Map.entry(409, "Conflict"),
          Map.entry(412, "Precondition failed"),
          Map.entry(413, "Content too large"),
          Map.entry(415, "Unsupported media type"),
          Map.entry(421, "Misdirected request"),
          Map.entry(422, "Unprocessable content"),
          Map.entry(428, "Precondition required"),
          Map.entry(429, "Too many requests"),
          Map.entry(500, "Internal error"),
          Map.entry(503, "Service unavailable"),
          Map.entry(504, "Gateway timeout"),
          Map.entry(507, "Insufficient storage"));

  private Reply() {}

  public static AdminResponse json(int status, Map<String, ?> object) {
    return bytes(status, "application/json", (Json.writeAsIs(object) + "\n").getBytes(UTF_8));
  }

  public static AdminResponse bytes(int status, String type, byte[] body) {
    return AdminResponse.of(status, Map.of(TYPE, type), body);
  }

  public static AdminResponse stream(String type, Iterator<byte[]> body) {
    return new AdminResponse(200, Map.of(TYPE, type), body);
  }

  public static AdminResponse nothing() {
    return new AdminResponse(204, Map.of(), java.util.Collections.emptyIterator());
  }

  /** Returns the answer with one more header field. */
  public static AdminResponse with(AdminResponse answer, String name, String value) {
    Map<String, String> fields = new LinkedHashMap<>(answer.fields());
    fields.put(name, value);
    return new AdminResponse(answer.status(), fields, answer.body(), answer.events());
  }

  public static AdminResponse etag(AdminResponse answer, String tag) {
    return with(answer, ETAG, '"' + tag + '"');
  }

  static String title(int status) {
    return TITLES.getOrDefault(status, "Error");
  }

  static AdminResponse problem(
      int status, String detail, Map<String, String> fields, Map<String, Object> members) {
    Map<String, Object> problem = new LinkedHashMap<>();
    problem.put("type", "about:blank");
    problem.put("title", title(status));
    problem.put("status", status);
    problem.put("detail", detail);
    problem.putAll(members);
    AdminResponse answer =
        bytes(status, "application/problem+json", (Json.writeAsIs(problem) + "\n").getBytes(UTF_8));
    for (Map.Entry<String, String> field : fields.entrySet()) {
      answer = with(answer, field.getKey(), field.getValue());
    }
    return answer;
  }
}
