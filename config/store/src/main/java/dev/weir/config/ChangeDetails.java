package dev.weir.config;

import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The content of a change.
 *
 * @param kind {@link #RULES}, {@link #RECORD}, or that of an entry or a note
 * @param at by the store's clock, in milliseconds
 * @param subject of the record that was changed, for a change of that kind
 * @param name of the entry that was changed, for a change of an entry's kind
 * @param revision of the rules that it made, 0 for other kinds
 * @param before canonical JSON of the former content, empty if there was none
 * @param after canonical JSON of the new content, empty if there is none
 * @param digest the SHA-256 of an entry's JSON with the members that are left out of {@code after},
 *     64 hexadecimal digits; empty for other kinds, and for an entry that is deleted
 */
public record ChangeDetails(
    String kind,
    Instant at,
    Cause cause,
    Optional<Subject> subject,
    Optional<String> name,
    long revision,
    String before,
    String after,
    String digest) {
  /** The kind of a new revision of the rules. */
  public static final String RULES = "rules";

  /** The kind of a record that was put or deleted. */
  public static final String RECORD = "record";

  static ChangeDetails read(String json) {
    try {
      Json.Members members = Json.read(json);
      return new ChangeDetails(
          members.text("kind"),
          Instant.parse(members.text("at")),
          new Cause(
              members.text("author"),
              members.textOrEmpty("role"),
              members.textOrEmpty("via"),
              members.textOrEmpty("source"),
              members.textOrEmpty("request"),
              members.text("reason")),
          members.has("subject")
              ? Optional.of(subject(members.object("subject")))
              : Optional.empty(),
          members.has("name") ? Optional.of(members.text("name")) : Optional.empty(),
          members.has("revision") ? members.number("revision") : 0,
          members.json("before"),
          members.json("after"),
          members.textOrEmpty("sha256"));
    } catch (IOException | DateTimeException | IllegalArgumentException e) {
      throw new ConfigException(
          ConfigException.Kind.DAMAGED, "change: unreadable, " + e.getMessage(), e);
    }
  }

  private static Subject subject(Json.Members members) throws IOException {
    return new Subject(members.text("domain"), members.text("key"), members.text("value"));
  }

  /** Returns the members that every change has; those without content are omitted. */
  public static Map<String, Object> members(long number, String kind, Instant at, Cause cause) {
    Map<String, Object> members = new TreeMap<>();
    members.put("number", number);
    members.put("kind", kind);
    members.put("at", at.toString());
    members.put("author", cause.author());
    members.put("reason", cause.reason());
    putUnlessEmpty(members, "role", cause.role());
    putUnlessEmpty(members, "via", cause.via());
    putUnlessEmpty(members, "source", cause.source());
    putUnlessEmpty(members, "request", cause.request());
    return members;
  }

  public static void putUnlessEmpty(Map<String, Object> members, String name, String value) {
    if (!value.isEmpty()) {
      members.put(name, value);
    }
  }
}
