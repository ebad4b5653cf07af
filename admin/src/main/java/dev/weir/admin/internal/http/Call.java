package dev.weir.admin.internal.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.admin.AdminHandler;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.internal.access.Actor;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.config.Cause;
import dev.weir.config.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A request with its route and its caller. Used by one thread. */
public final class Call {
  /**
   * The largest body of most routes, enough for a record; rule files and an import have bounds of
   * their own.
   */
  public static final int MAX_BODY_BYTES = 1 << 20;

  static final String REASON_FIELD = "weir-reason";

  private static final Set<String> JSON_TYPES =
      Set.of("application/json", "application/merge-patch+json");

  private final AdminRequest request;
  private final Map<String, String> parameters;
  private final Query query;
  private final @Nullable Actor actor;
  private final String id;

  public Call(AdminRequest request, Router.Match match, @Nullable Actor actor, String id) {
    this.request = request;
    this.parameters = match.parameters();
    this.query = new Query(request.query(), match.route().query());
    this.actor = actor;
    this.id = id;
  }

  public String id() {
    return id;
  }

  public AdminRequest request() {
    return request;
  }

  public Query query() {
    return query;
  }

  public String parameter(String name) {
    return parameters.getOrDefault(name, "");
  }

  public Actor actor() {
    if (actor == null) {
      throw new IllegalStateException("actor: none (expected: a route with a role)");
    }
    return actor;
  }

  /**
   * Returns the members of the body; others than these are refused.
   *
   * @throws RequestException with 400, 413 or 415
   */
  public Json.Members body(String... known) {
    return body(MAX_BODY_BYTES, known);
  }

  /** Returns the members of a body that may contain many rule files. */
  public Json.Members files(String... known) {
    return body(AdminHandler.MAX_BODY_BYTES, known);
  }

  private Json.Members body(int most, String... known) {
    Json.Members members = json(text(JSON_TYPES, most));
    List<String> names = List.of(known);
    for (String name : members.names()) {
      if (!names.contains(name)) {
        throw new RequestException(
            400, ShownText.wrong("body", name, "one of " + String.join(", ", names)));
      }
    }
    return members;
  }

  public static Json.Members json(String text) {
    try {
      return Json.readWithNulls(text);
    } catch (IOException e) {
      throw badBody(e);
    }
  }

  static RequestException badBody(IOException e) {
    return new RequestException(400, "body: " + e.getMessage());
  }

  /** A function that reads from a body; the body is malformed if it throws. */
  public interface Reading<T> {
    T read() throws IOException;
  }

  /**
   * Reads from the members of a body.
   *
   * @throws RequestException with 400 if a member is missing or of another type
   */
  public static <T> T reading(Reading<T> reading) {
    try {
      return reading.read();
    } catch (IOException e) {
      throw badBody(e);
    }
  }

  private String text(Set<String> types, int most) {
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes(types, most))).toString();
    } catch (CharacterCodingException e) {
      throw new RequestException(400, "body: not UTF-8 (expected: JSON in UTF-8)");
    }
  }

  /**
   * Returns the body.
   *
   * @throws RequestException with 413 or 415
   */
  public byte[] bytes(Set<String> types, int most) {
    String type = request.field("content-type").split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    if (!types.contains(type)) {
      String expected = String.join(" or ", types.stream().sorted().toList());
      throw new RequestException(
          415, ShownText.wrong("Content-Type", type.isEmpty() ? "none" : type, expected));
    }
    try {
      byte[] bytes = request.body().readNBytes(most + 1);
      if (bytes.length > most) {
        throw new RequestException(
            413, "body: more than " + most + " bytes (expected: at most so many)");
      }
      return bytes;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the cause of a change: the body's {@code reason}.
   *
   * @throws RequestException with 400 if it is missing
   */
  public Cause cause(Json.Members body) {
    return cause(reading(() -> body.text("reason")));
  }

  /** Returns the cause of a change: {@code ?reason=}, or the header field of that name. */
  public Cause causeOfQuery() {
    String reason = query.has("reason") ? query.text("reason") : request.field(REASON_FIELD);
    if (reason.isEmpty()) {
      throw new RequestException(
          400, "reason: missing (expected: ?reason= or the header field Weir-Reason)");
    }
    return cause(reason);
  }

  Cause cause(String reason) {
    try {
      Actor by = actor;
      return new Cause(
          by == null ? "unknown" : by.token().author(),
          by == null ? "" : by.token().role().text(),
          via(),
          request.source().length() <= 100 ? request.source() : "",
          id,
          reason);
    } catch (IllegalArgumentException e) {
      throw new RequestException(422, String.valueOf(e.getMessage()));
    }
  }

  private String via() {
    if (actor != null && !actor.session().isEmpty()) {
      return "dashboard";
    }
    return request.field("user-agent").startsWith("weir-cli/") ? "cli" : "api";
  }

  /** Returns the tags of a header field of conditions, without their quotes. */
  public static List<String> tags(String field) {
    if (field.isEmpty()) {
      return List.of();
    }
    return Arrays.stream(field.split(",", -1))
        .map(String::strip)
        .map(tag -> tag.matches("\"[^\"]*\"") ? tag.substring(1, tag.length() - 1) : tag)
        .toList();
  }
}
