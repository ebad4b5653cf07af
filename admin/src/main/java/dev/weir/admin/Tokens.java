package dev.weir.admin;

import dev.weir.Ticker;
import dev.weir.admin.internal.access.Secrets;
import dev.weir.admin.internal.access.Token;
import dev.weir.admin.internal.http.Clock;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.config.Cause;
import dev.weir.config.ConfigStore;
import dev.weir.config.EntryWrite;
import dev.weir.config.RecordWrite;
import dev.weir.internal.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;

/**
 * The tokens of the administration interface: {@code weir_}, an id, and a secret of 32 random
 * bytes. The store contains only the SHA-256 of the secret, and the log of changes not even that.
 */
public final class Tokens {
  /** The default lifetime of a token. */
  public static final Duration DEFAULT_TTL = Duration.ofDays(90);

  public static final Duration MIN_TTL = Duration.ofMinutes(1);
  public static final Duration MAX_TTL = Duration.ofDays(366);

  /**
   * The most tokens, more than the users and programs that administrate; all of them are kept in
   * memory.
   */
  public static final int MAX_TOKENS = 1_000;

  private static final int MAX_NAME_BYTES = 100;

  private Tokens() {}

  /**
   * A new token.
   *
   * @param id identifies the token when it is shown or revoked
   * @param text the token itself, which is stored nowhere else
   */
  public record NewToken(String id, String text, Role role, Instant expires) {
    /** Returns the token without its secret. */
    @Override
    public String toString() {
      return id + " " + role.text() + " until " + expires;
    }
  }

  /**
   * Makes a token; servers accept it within 3 s.
   *
   * @param name for its users, 1 to 100 bytes in UTF-8 without control characters
   * @param ttl lifetime, 1 minute to 366 days, in whole seconds
   * @throws IllegalArgumentException if a value is out of its range, or there are 1,000 tokens
   */
  public static NewToken create(
      ConfigStore store, String name, Role role, Duration ttl, Cause cause) {
    return create(store, name, role, ttl, cause, Ticker.wall());
  }

  public static NewToken create(
      ConfigStore store, String name, Role role, Duration ttl, Cause cause, Ticker wall) {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes < 1 || bytes > MAX_NAME_BYTES || name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          ShownText.wrong("name", name, "1..100 bytes in UTF-8 without control characters"));
    }
    if (ttl.compareTo(MIN_TTL) < 0 || ttl.compareTo(MAX_TTL) > 0) {
      throw new IllegalArgumentException("ttl: " + ttl + " (expected: 1 minute to 366 days)");
    }
    if (store.entries(Token.KIND).size() >= MAX_TOKENS) {
      throw new IllegalArgumentException(
          "tokens: " + MAX_TOKENS + " already (expected: fewer; revoke some)");
    }
    Instant now = Clock.instant(wall);
    String secret = Secrets.secret();
    Token token =
        new Token(
            Secrets.id(),
            name,
            role,
            Sha256.hex(secret),
            now,
            now.plusSeconds(ttl.toSeconds()),
            cause.author());
    store.write(
        new EntryWrite(
            Token.KIND, token.id(), token.json(), RecordWrite.ABSENT, Set.of(Token.HASH)),
        cause);
    return new NewToken(token.id(), Token.text(token.id(), secret), role, token.expires());
  }

  /**
   * Revokes a token; after 3 s no server accepts it any more.
   *
   * @return whether there was a token of this id
   */
  public static boolean revoke(ConfigStore store, String id, Cause cause) {
    return store
        .write(new EntryWrite(Token.KIND, id, null, RecordWrite.ANY, Set.of(Token.HASH)), cause)
        .isPresent();
  }
}
