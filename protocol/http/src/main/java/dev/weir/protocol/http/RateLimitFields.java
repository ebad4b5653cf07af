package dev.weir.protocol.http;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

/**
 * The header fields {@code RateLimit} and {@code RateLimit-Policy} as of
 * draft-ietf-httpapi-ratelimit-headers, revision 11 (May 2026): lists of structured-field Strings
 * with parameters (RFC 9651). The draft is not an RFC yet and has changed its syntax before; only
 * this class depends on it. Safe for use by many threads.
 */
public final class RateLimitFields {
  /** The revision of the draft that is written here. */
  static final int DRAFT_REVISION = 11;

  /** The name of the field with the remaining permits. */
  public static final String RATE_LIMIT = "RateLimit";

  /** The name of the field with the quotas. */
  public static final String RATE_LIMIT_POLICY = "RateLimit-Policy";

  /** The largest integer of a structured field: 15 digits. */
  private static final long MAX_INTEGER = 999_999_999_999_999L;

  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  /** A buffer for each thread, used again: for each answer only the text is allocated. */
  private static final ThreadLocal<StringBuilder> BUFFER =
      ThreadLocal.withInitial(() -> new StringBuilder(64));

  private static final long SECOND = 1_000_000_000L;

  private RateLimitFields() {}

  /**
   * Returns the value of {@code RateLimit}: permits left and seconds until there are more.
   *
   * @param standings at least one; without one, no field is sent
   */
  public static String rateLimit(List<Standing> standings) {
    StringBuilder field = emptyBuffer();
    for (Standing standing : standings) {
      add(field, standing.policy(), standing.remaining(), standing.seconds());
    }
    return field.toString();
  }

  /**
   * Returns the value of {@code RateLimit} for the statuses of an answer in their order. If none
   * refuses and all policies have different names, {@link Standing#of} leads to the same value.
   */
  public static String rateLimit(Answer answer) {
    List<Status> statuses = answer.statuses();
    StringBuilder field = emptyBuffer();
    for (int i = 0; i < statuses.size(); i++) {
      Status status = statuses.get(i);
      CurrentLimit limit = status.currentLimit();
      if (limit != null && status.decision() != null) {
        add(field, limit.policy(), status.limitRemaining(), Standing.seconds(answer, status));
      }
    }
    return field.toString();
  }

  private static void add(StringBuilder field, Policy policy, long remaining, long seconds) {
    member(field, policy.name()).append(";r=").append(integer(remaining));
    if (seconds != Standing.NO_TIME) {
      field.append(";t=").append(integer(seconds));
    }
  }

  private static StringBuilder emptyBuffer() {
    StringBuilder buffer = BUFFER.get();
    buffer.setLength(0);
    return buffer;
  }

  /**
   * Returns the value of {@code RateLimit-Policy}: permits and seconds of each window; for a limit
   * at the same time, its quota unit.
   *
   * @param standings at least one; without one, no field is sent
   */
  public static String rateLimitPolicy(List<Standing> standings) {
    StringBuilder field = new StringBuilder();
    for (Standing standing : standings) {
      Policy policy = standing.policy();
      member(field, policy.name()).append(";q=").append(integer(policy.quota().permits()));
      long window = policy.quota().windowNanos();
      if (policy.algorithm() == Algorithm.CONCURRENCY) {
        field.append(";qu=\"concurrent-requests\"");
      } else if (window % SECOND == 0) {
        field.append(";w=").append(window / SECOND);
      }
    }
    return field.toString();
  }

  private static StringBuilder member(StringBuilder field, String name) {
    return string(field.isEmpty() ? field : field.append(", "), name);
  }

  /**
   * Appends a structured-field String: printable ASCII between quotes; anything else is
   * percent-encoded.
   */
  static StringBuilder string(StringBuilder field, String text) {
    field.append('"');
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      if (c == '"' || c == '\\') {
        field.append('\\').append((char) c);
      } else if (c >= ' ' && c <= '~') {
        field.append((char) c);
      } else {
        for (byte octet : Character.toString(c).getBytes(StandardCharsets.UTF_8)) {
          field.append('%').append(HEX.toHexDigits(octet));
        }
      }
      i += Character.charCount(c);
    }
    return field.append('"');
  }

  private static long integer(long value) {
    return Math.min(value, MAX_INTEGER);
  }
}
