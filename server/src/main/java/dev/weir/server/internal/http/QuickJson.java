package dev.weir.server.internal.http;

import dev.weir.engine.CurrentLimit;
import dev.weir.engine.RequestBatch;
import dev.weir.server.internal.deciding.ByteText;
import dev.weir.server.internal.deciding.LimitBytes;
import dev.weir.server.internal.deciding.QuickRequest;
import java.nio.charset.StandardCharsets;

/**
 * The writer of answers of {@code /json} on the quick path, with the same bytes as {@link RlsJson}.
 * Confined to one event loop.
 */
final class QuickJson implements QuickPath {
  private static final byte[] UNUSUAL = {};

  private static final byte[] ALLOWED = ascii("HTTP/1.1 200 OK");
  private static final byte[] REFUSED = ascii("HTTP/1.1 429 Too Many Requests");
  private static final byte[] FIELDS =
      ascii("\r\nContent-Type: application/json\r\ncontent-length: ");
  private static final byte[] BLANK_LINE = ascii("\r\n\r\n");

  private static final byte[] OK = ascii("{\"overallCode\":\"OK\",\"statuses\":[{\"code\":\"");
  private static final byte[] OVER =
      ascii("{\"overallCode\":\"OVER_LIMIT\",\"statuses\":[{\"code\":\"");
  private static final byte[] CODE_OK = ascii("OK\",\"currentLimit\":");
  private static final byte[] CODE_OVER = ascii("OVER_LIMIT\",\"currentLimit\":");
  private static final byte[] REMAINING = ascii(",\"limitRemaining\":");
  private static final byte[] RESET = ascii(",\"durationUntilReset\":\"");
  private static final byte[] END = ascii("s\"}]}");

  private final ByteText content = new ByteText();
  private final LimitBytes limits = new LimitBytes(QuickJson::text);
  private byte[] limit = UNUSUAL;

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public boolean takes(CurrentLimit next) {
    limit = limits.of(next);
    return limit != UNUSUAL;
  }

  /** Returns the part of answers that describes a limit; an empty one if the limit is unusual. */
  private static byte[] text(CurrentLimit limit) {
    return RlsJson.plain(limit.name()) ? RlsJson.limit(limit) : UNUSUAL;
  }

  @Override
  public void write(QuickRequest asked, RequestBatch decided, ByteText answers) {
    boolean allowed = decided.allowed(0);
    long remaining = RlsJson.uint32(decided.remaining(0));
    content
        .clear()
        .add(allowed ? OK : OVER)
        .add(decided.passes(0) ? CODE_OK : CODE_OVER)
        .add(limit);
    if (remaining != 0) {
      content.add(REMAINING).add(remaining);
    }
    content.add(RESET).add(decided.untilResetSeconds(0)).add(END);
    answers
        .add(allowed ? ALLOWED : REFUSED)
        .add(FIELDS)
        .add(content.size())
        .add(BLANK_LINE)
        .add(content);
  }
}
