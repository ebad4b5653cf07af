package dev.weir.server.http;

import dev.weir.engine.CurrentLimit;
import dev.weir.engine.RequestBatch;
import dev.weir.server.door.GuardedDecider;
import dev.weir.server.door.Logs;
import dev.weir.server.door.RequestTimes;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.IdentityHashMap;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;

/**
 * Decides the usual requests of {@code POST /json} as soon as their bytes are read: those of one
 * descriptor that one limit in this process decides at once. The same bytes are answered as by the
 * long way.
 */
final class QuickJson implements Quick {
  /*
   * Why a second way? By the codec, its messages, their header maps, Jackson and the objects of a
   * decision a request allocated 5 KB and took more time than an empty handler leaves. Here all
   * that is needed is used again for the next request on the event loop. It takes only what it
   * surely answers like the long way, and before it has taken a request, it has done nothing: so a
   * reader, a head or a rule that is unusual needs no second implementation.
   */

  /** More in one read are for the codec. */
  private static final int MAX_READ = 64 << 10;

  /** Limits whose text is kept; more than that are written anew from time to time. */
  private static final int MAX_LIMITS = 1_024;

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

  private final GuardedDecider decider;
  private final RequestBatch batch;
  private final RequestTimes times;
  private final BooleanSupplier off;
  private final int maxBodyBytes;
  private final QuickHead head = new QuickHead();
  private final QuickBody body = new QuickBody();
  private final ByteText answers = new ByteText();
  private final ByteText content = new ByteText();
  private final IdentityHashMap<CurrentLimit, byte[]> limits = new IdentityHashMap<>();
  private byte[] read = new byte[QuickHead.MAX_BYTES];

  /**
   * @param off whether everything goes the long way now
   */
  QuickJson(GuardedDecider decider, RequestTimes times, int maxBodyBytes, BooleanSupplier off) {
    this.decider = decider;
    this.batch = decider.engine().batch(1);
    this.times = times;
    this.maxBodyBytes = maxBodyBytes;
    this.off = off;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public ByteText answers() {
    return answers;
  }

  @Override
  public int answer(ByteBuf in, int from, int to) {
    answers.clear();
    int length = to - from;
    if (length > MAX_READ || length == 0 || in.getByte(from) != 'P' || off.getAsBoolean()) {
      return from;
    }
    if (read.length < length) {
      read = new byte[Math.max(2 * read.length, length)];
    }
    in.getBytes(from, read, 0, length);
    int at = 0;
    while (at < length) {
      int begin = head.end(read, at, length);
      int end = begin + head.length();
      if (begin < 0 || end > length || head.length() > maxBodyBytes || !decide(begin, end)) {
        break;
      }
      at = end;
    }
    return from + at;
  }

  /** Decides the request of a body and adds its answer; returns false if nothing has happened. */
  private boolean decide(int begin, int end) {
    if (!body.read(read, begin, end)) {
      return false;
    }
    long begunNanos = times.begin();
    try {
      if (!decider.add(
          batch, body.domain(), body.keysAndValues(), body.count(), body.permits(), begunNanos)) {
        return false;
      }
      CurrentLimit limit = batch.isPlain(0) ? batch.limit(0) : null;
      byte[] text = limit == null || limit.queue() != null ? UNUSUAL : text(limit);
      if (text == UNUSUAL) {
        return false;
      }
      batch.decide();
      write(text);
      times.ended(begunNanos, 1);
      return true;
    } catch (RuntimeException e) {
      Logs.LOG.log(Level.SEVERE, "http: /json failed", e);
      return false; // The long way says so to the client.
    } finally {
      batch.clear();
    }
  }

  /** Returns what answers say of a limit. */
  private byte[] text(CurrentLimit limit) {
    byte[] known = limits.get(limit);
    if (known != null) {
      return known;
    }
    if (limits.size() == MAX_LIMITS) {
      limits.clear(); // Of rules that are not in force any more, mostly.
    }
    byte[] text = RlsJson.plain(limit.name()) ? RlsJson.limit(limit) : UNUSUAL;
    limits.put(limit, text);
    return text;
  }

  private void write(byte[] limit) {
    boolean allowed = batch.allowed(0);
    long remaining = RlsJson.uint32(batch.remaining(0));
    content.clear().add(allowed ? OK : OVER).add(batch.passes(0) ? CODE_OK : CODE_OVER).add(limit);
    if (remaining != 0) {
      content.add(REMAINING).add(remaining);
    }
    content.add(RESET).add(batch.untilResetSeconds(0)).add(END);
    answers
        .add(allowed ? ALLOWED : REFUSED)
        .add(FIELDS)
        .add(content.size())
        .add(BLANK_LINE)
        .add(content);
  }
}
