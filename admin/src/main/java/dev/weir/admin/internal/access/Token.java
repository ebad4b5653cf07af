package dev.weir.admin.internal.access;

import dev.weir.admin.Role;
import dev.weir.config.ConfigException;
import dev.weir.config.Entry;
import dev.weir.config.Json;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A token as it is stored, without its secret.
 *
 * @param hash SHA-256 of the secret, 64 hexadecimal digits
 * @param createdBy the author of the change that made it
 */
public record Token(
    String id,
    String name,
    Role role,
    String hash,
    Instant created,
    Instant expires,
    String createdBy) {
  public static final String KIND = "token";
  public static final String HASH = "hash";

  private static final String PREFIX = "weir_";
  private static final int ID_END = PREFIX.length() + 8;
  private static final int LENGTH = ID_END + 1 + 43;

  /** Returns the text of a token, which only its owner keeps. */
  public static String text(String id, String secret) {
    return PREFIX + id + "_" + secret;
  }

  /** Returns the id in the text of a token, or an empty text if it is not well formed. */
  public static String idOf(String text) {
    boolean token =
        text.length() == LENGTH && text.startsWith(PREFIX) && text.charAt(ID_END) == '_';
    return token ? text.substring(PREFIX.length(), ID_END) : "";
  }

  /** Returns the secret in the text of a token. */
  static String secretOf(String text) {
    return text.substring(ID_END + 1);
  }

  /** Returns the author in the form of the log of changes. */
  public String author() {
    return name + " (" + id + ")";
  }

  boolean expired(Instant now) {
    return !now.isBefore(expires);
  }

  public String json() {
    return Json.write(
        Map.of(
            "name",
            name,
            "role",
            role.text(),
            HASH,
            hash,
            "created",
            created.toString(),
            "expires",
            expires.toString(),
            "created_by",
            createdBy));
  }

  static Token read(Entry entry) {
    try {
      Json.Members members = Json.readWithNulls(entry.json());
      return new Token(
          entry.name(),
          members.text("name"),
          Role.of(members.text("role")),
          members.text(HASH),
          Instant.parse(members.text("created")),
          Instant.parse(members.text("expires")),
          members.text("created_by"));
    } catch (IOException | DateTimeException | IllegalArgumentException e) {
      throw new ConfigException(
          ConfigException.Kind.DAMAGED, "token " + entry.name() + ": " + e.getMessage(), e);
    }
  }

  /** Returns the members that operators see. */
  Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", id);
    members.put("name", name);
    members.put("role", role.text());
    members.put("created", created.toString());
    members.put("expires", expires.toString());
    members.put("created_by", createdBy);
    return members;
  }

  /** Returns the token without its hash. */
  @Override
  public String toString() {
    return author() + " " + role.text();
  }
}
