package dev.weir.admin.internal.access;

import dev.weir.Ticker;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.internal.http.Hosts;
import dev.weir.internal.Sha256;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of browsers that have logged in. Only the hash of a cookie is kept. A session ends
 * after 12 h, after 30 min without a request, and with its token. Beyond 1,000 sessions, or 100 of
 * one token, the least recently used session ends. Safe for use by many threads.
 */
public final class Sessions {
  static final Duration MOST = Duration.ofHours(12);
  static final Duration IDLE = Duration.ofMinutes(30);
  static final int MAX = 1_000;
  static final int MAX_OF_TOKEN = 100;

  private static final String SECURE = "__Host-weir";

  /**
   * The cookie's name over plain HTTP, where browsers refuse the prefix; on a loopback address
   * nothing can be intercepted.
   */
  private static final String PLAIN = "weir";

  private record Session(String token, long startNanos, long usedNanos) {}

  private final Ticker ticker;

  /** The sessions by the hash of the cookie; the least recently used one comes first. */
  private final Map<String, Session> sessions = new LinkedHashMap<>();

  public Sessions(Ticker ticker) {
    this.ticker = ticker;
  }

  /** Starts a session of a token and returns its cookie. */
  synchronized String begin(String tokenId) {
    long now = ticker.nanos();
    int own = 0;
    String oldest = "";
    for (Map.Entry<String, Session> each : sessions.entrySet()) {
      if (each.getValue().token().equals(tokenId)) {
        oldest = own++ == 0 ? each.getKey() : oldest;
      }
    }
    if (own >= MAX_OF_TOKEN) {
      sessions.remove(oldest);
    }
    Iterator<Session> first = sessions.values().iterator();
    while (first.hasNext()) {
      if (!ended(first.next(), now) && sessions.size() < MAX) {
        break;
      }
      first.remove();
    }
    String secret = Secrets.secret();
    sessions.put(Sha256.hex(secret), new Session(tokenId, now, now));
    return secret;
  }

  /** Marks a session as used; returns the id of its token, or null if the session has ended. */
  synchronized @Nullable String use(String hash) {
    Session session = sessions.remove(hash);
    long now = ticker.nanos();
    if (session == null || ended(session, now)) {
      return null;
    }
    sessions.put(hash, new Session(session.token(), session.startNanos(), now));
    return session.token();
  }

  /** Returns the id of a session's token without marking it as used; null if it has ended. */
  synchronized @Nullable String tokenOf(String hash) {
    Session session = sessions.get(hash);
    return session == null || ended(session, ticker.nanos()) ? null : session.token();
  }

  synchronized void end(String hash) {
    sessions.remove(hash);
  }

  synchronized int size() {
    return sessions.size();
  }

  private static boolean ended(Session session, long now) {
    return now - session.startNanos() >= MOST.toNanos()
        || now - session.usedNanos() >= IDLE.toNanos();
  }

  /**
   * Returns the hash of the request's cookie, or an empty text if it has no cookie of this server.
   */
  public static String cookie(AdminRequest request) {
    String name = isPlain(request) ? PLAIN : SECURE;
    List<String> fields = request.fields().getOrDefault("cookie", List.of());
    for (String field : fields) {
      for (String pair : field.split(";", -1)) {
        int equals = pair.indexOf('=');
        if (equals > 0 && pair.substring(0, equals).strip().equals(name)) {
          return Sha256.hex(pair.substring(equals + 1).strip());
        }
      }
    }
    return "";
  }

  /** Returns the field that sets a browser's cookie, or removes it if the secret is empty. */
  static String setCookie(AdminRequest request, String secret) {
    boolean plain = isPlain(request);
    return (plain ? PLAIN : SECURE)
        + "="
        + secret
        + "; Path=/; "
        + (plain ? "" : "Secure; ")
        + "HttpOnly; SameSite=Strict; Max-Age="
        + (secret.isEmpty() ? 0 : MOST.toSeconds());
  }

  private static boolean isPlain(AdminRequest request) {
    return !request.secure() && Hosts.isLoopback(request);
  }
}
