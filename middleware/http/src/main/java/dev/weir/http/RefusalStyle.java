package dev.weir.http;

import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.identity.RequestView;
import dev.weir.protocol.http.OlderFields;
import dev.weir.protocol.http.PolicyTexts;
import dev.weir.protocol.http.RateLimitFields;
import dev.weir.protocol.http.RetryFields;
import dev.weir.protocol.http.Standing;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The form of answers: their header fields, and the origins that may read them. Safe for use by
 * many threads.
 */
public final class RefusalStyle {
  private final OlderFields older;
  private final RetryFields retry;
  private final boolean standard;
  private final Set<String> origins;
  private final boolean anyOrigin;
  private final Ticker ticker;
  private final String exposed;

  /** The texts of the last answer: nearly all answers of one limiter have the same policies. */
  private volatile @Nullable PolicyTexts last;

  /**
   * @param retry the fields that say when to come back
   * @param standard true if answers have {@code RateLimit} and {@code RateLimit-Policy}
   * @param origins the origins whose pages may read refusals
   */
  public RefusalStyle(
      OlderFields older, RetryFields retry, boolean standard, Set<String> origins, Ticker ticker) {
    this.older = older;
    this.retry = retry.with(older);
    this.standard = standard;
    this.origins = origins;
    this.anyOrigin = origins.contains(LimiterSettings.ANY_ORIGIN);
    this.ticker = ticker;
    StringBuilder names = new StringBuilder();
    if (standard) {
      names.append(RateLimitFields.RATE_LIMIT + ", " + RateLimitFields.RATE_LIMIT_POLICY + ", ");
    }
    older.names().forEach(name -> names.append(name).append(", "));
    exposed = names.append("Retry-After").toString();
  }

  /** Returns the older form that answers have besides. */
  OlderFields older() {
    return older;
  }

  /** Adds the fields that show the client's standing; on any answer. */
  public void standing(Answer answer, BiConsumer<String, String> fields) {
    if (standard) {
      PolicyTexts known = last;
      if (known != null && known.areAllOf(answer)) {
        fields.accept(RateLimitFields.RATE_LIMIT_POLICY, known.rateLimitPolicy());
        fields.accept(RateLimitFields.RATE_LIMIT, RateLimitFields.rateLimit(answer));
      } else {
        standing(Standing.of(answer), known, fields);
      }
    }
    if (older != OlderFields.NONE) {
      older.add(answer, ticker.nanos(), fields);
    }
  }

  private void standing(
      List<Standing> standings, @Nullable PolicyTexts known, BiConsumer<String, String> fields) {
    if (standings.isEmpty()) {
      return;
    }
    PolicyTexts texts = known;
    if (texts == null || !texts.areOf(standings)) {
      texts = new PolicyTexts(standings);
      last = texts;
    }
    fields.accept(RateLimitFields.RATE_LIMIT_POLICY, texts.rateLimitPolicy());
    fields.accept(RateLimitFields.RATE_LIMIT, RateLimitFields.rateLimit(standings));
  }

  /** Adds the fields by which a refusal says when to come back. */
  void retry(long retryAfterSeconds, BiConsumer<String, String> fields) {
    retry.add(retryAfterSeconds, (name, value) -> fields.accept(name.toString(), value.toString()));
  }

  /** Allows the page that sent a cross-origin request to read the fields of the answer. */
  void expose(RequestView view, BiConsumer<String, String> fields) {
    if (!view.headers("Origin").isEmpty()) {
      fields.accept("Access-Control-Expose-Headers", exposed);
    }
  }

  /**
   * Allows the page that sent a cross-origin request to read a refusal. A named origin may read it
   * with credentials; for all origins together, browsers accept none (Fetch standard, CORS
   * protocol).
   */
  void allow(RequestView view, BiConsumer<String, String> fields) {
    List<String> origin = view.headers("Origin");
    if (origins.isEmpty() || origin.isEmpty()) {
      return;
    }
    boolean named = origin.size() == 1 && !isAny(origin.get(0)) && origins.contains(origin.get(0));
    if (named) {
      fields.accept("Access-Control-Allow-Origin", origin.get(0));
      fields.accept("Access-Control-Allow-Credentials", "true");
    } else if (anyOrigin) {
      fields.accept("Access-Control-Allow-Origin", LimiterSettings.ANY_ORIGIN);
    }
    if (!anyOrigin || origins.size() > 1) {
      fields.accept("Vary", "Origin");
    }
  }

  private static boolean isAny(String origin) {
    return origin.equals(LimiterSettings.ANY_ORIGIN);
  }

  /** Returns a short page for readers. */
  static byte[] html(int status, String title, String detail) {
    String page =
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
            + "<meta name=\"viewport\" content=\"width=device-width\">\n<title>"
            + escaped(title)
            + "</title>\n<h1>"
            + status
            + " "
            + escaped(title)
            + "</h1>\n<p>"
            + escaped(detail)
            + "</p>\n</html>\n";
    return page.getBytes(StandardCharsets.UTF_8);
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
