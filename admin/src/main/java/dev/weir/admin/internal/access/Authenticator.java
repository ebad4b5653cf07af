package dev.weir.admin.internal.access;

import dev.weir.Decision;
import dev.weir.Ticker;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Clock;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.stats.FleetSignature;
import dev.weir.config.Cause;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.internal.Sha256;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The authentication of callers, and the record of refused ones. Safe for use by many threads. */
public final class Authenticator {
  /*
   * What is limited, and why? A token cannot be guessed: it has 256 random bits. So the limit is on
   * failures, not on the callers that fail: a valid token is always accepted. Otherwise anyone
   * could lock the operators out with 30 wrong tokens a minute. The limit keeps failures from
   * filling the log of changes, each of whose lines is a write to the disk.
   */
  private static final System.Logger LOG = System.getLogger("dev.weir.admin");
  private static final String BEARER = "Bearer ";

  private final ConfigStore store;
  private final TokenCache tokens;
  private final Sessions sessions;
  private final FleetSignature fleet;
  private final Ticker wall;
  private final FailureLimit logins;
  private final FailureLimit refusals;

  public Authenticator(
      ConfigStore store,
      TokenCache tokens,
      Sessions sessions,
      FleetSignature fleet,
      Ticker ticker,
      Ticker wall) {
    this.store = store;
    this.fleet = fleet;
    this.tokens = tokens;
    this.sessions = sessions;
    this.wall = wall;
    logins = new FailureLimit(ticker);
    refusals = new FailureLimit(ticker);
  }

  /**
   * Returns the caller of a request.
   *
   * @throws RequestException with 401 or 429
   */
  public Actor actor(AdminRequest request, String id) {
    String authorization = request.field("authorization");
    if (authorization.startsWith(FleetSignature.SCHEME)) {
      return fleet(request, id, authorization);
    }
    if (!authorization.isEmpty()) {
      if (!authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
        throw unauthorized("Authorization: another scheme (expected: Bearer and a token)");
      }
      return new Actor(login(request, id, authorization.substring(BEARER.length()).strip()), "");
    }
    String cookie = Sessions.cookie(request);
    if (cookie.isEmpty()) {
      throw unauthorized("Authorization: missing (expected: Bearer and a token)");
    }
    String tokenId = sessions.use(cookie);
    Token token = tokenId == null ? null : tokens.get(tokenId);
    if (token == null || token.expired(Clock.instant(wall))) {
      sessions.end(cookie);
      throw unauthorized("session: ended or unknown (expected: a new login)");
    }
    return new Actor(token, cookie);
  }

  /**
   * Returns the valid token of a request or of its session, by the tokens read last, or that of
   * another server, which has no id; null if there is none. It neither waits nor counts a failure,
   * and a session does not count as used. It is no authentication: a token may have been revoked
   * since.
   */
  public @Nullable Token known(AdminRequest request) {
    String authorization = request.field("authorization");
    if (authorization.startsWith(FleetSignature.SCHEME)) {
      return fleet.knownGood(request, authorization) ? server() : null;
    }
    Token token = null;
    if (authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
      String text = authorization.substring(BEARER.length()).strip();
      token = tokens.last(Token.idOf(text));
      if (token != null && !Secrets.same(Sha256.hex(Token.secretOf(text)), token.hash())) {
        return null;
      }
    } else if (authorization.isEmpty()) {
      String tokenId = sessions.tokenOf(Sessions.cookie(request));
      token = tokenId == null ? null : tokens.last(tokenId);
    }
    return token == null || token.expired(Clock.instant(wall)) ? null : token;
  }

  /** Returns another server of the installation as the caller; it may read. */
  private Actor fleet(AdminRequest request, String id, String authorization) {
    if (!fleet.good(request, authorization)) {
      throw failed(request, id, "", "signature: wrong or too old (expected: a server of ours)");
    }
    return new Actor(server(), "");
  }

  private Token server() {
    Instant now = Clock.instant(wall);
    return new Token("", "server", Role.VIEWER, "", now, now.plusSeconds(1), "server");
  }

  /**
   * Returns the token of this text.
   *
   * @throws RequestException with 401 or 429 if there is none, or if it has expired
   */
  Token login(AdminRequest request, String id, String text) {
    String tokenId = Token.idOf(text);
    Token token = tokenId.isEmpty() ? null : tokens.get(tokenId);
    if (token == null || !Secrets.same(Sha256.hex(Token.secretOf(text)), token.hash())) {
      throw failed(request, id, tokenId, "token: unknown or revoked (expected: a valid token)");
    }
    if (token.expired(Clock.instant(wall))) {
      String why = "token: expired at " + token.expires() + " (expected: a valid token)";
      throw failed(request, id, tokenId, why);
    }
    return token;
  }

  /**
   * Returns whether a caller that was admitted still is: the token is valid, and the session, which
   * counts as used, has not ended.
   */
  public boolean goesOn(Actor actor) {
    boolean session = actor.session().isEmpty() || sessions.use(actor.session()) != null;
    return session && valid(actor.token().id()) != null;
  }

  /** Returns the token of this id if it is valid, else null. */
  @Nullable Token valid(String tokenId) {
    Token token = tokens.get(tokenId);
    return token == null || token.expired(Clock.instant(wall)) ? null : token;
  }

  /**
   * Counts a failed login, adds it to the log of changes if there are not too many, and returns its
   * answer.
   */
  RequestException failed(AdminRequest request, String id, String tokenId, String why) {
    Decision limit = logins.failed(request.source());
    if (limit != null) {
      return new RequestException(
              429,
              "logins: too many failed (expected: at most %d a minute from one address, %d in all)"
                  .formatted(FailureLimit.EACH, FailureLimit.ALL))
          .field("Retry-After", Long.toString(limit.retryAfterSeconds()));
    }
    Map<String, Object> what = new LinkedHashMap<>();
    what.put("method", request.method());
    if (!tokenId.isEmpty()) {
      what.put("token", tokenId);
    }
    log("login", what, cause(request, id, "unknown", "", "failed login"));
    return unauthorized(why);
  }

  /** Adds a refused change to the log of changes, if there are not too many. */
  public void refused(
      AdminRequest request, String id, Actor actor, Route route, RequestException refused) {
    Token token = actor.token();
    if (refusals.failed(token.id()) == null) {
      log(
          "refused",
          Map.of("method", route.method(), "path", route.path(), "status", (long) refused.status()),
          cause(request, id, token.author(), token.role().text(), "refused change"));
    }
  }

  private static Cause cause(
      AdminRequest request, String id, String author, String role, String reason) {
    boolean known = request.source().length() <= 100;
    return new Cause(author, role, "api", known ? request.source() : "", id, reason);
  }

  private void log(String kind, Map<String, Object> what, Cause cause) {
    try {
      store.log(kind, Json.write(what), cause);
    } catch (ConfigException e) {
      LOG.log(
          System.Logger.Level.WARNING, "audit: {0} is not in the log, {1}", kind, e.getMessage());
    }
  }

  private static RequestException unauthorized(String why) {
    return new RequestException(401, why).field("WWW-Authenticate", "Bearer realm=\"weir\"");
  }

  /** Returns the number of sources of failures in memory. */
  public long sources() {
    return logins.sources();
  }
}
