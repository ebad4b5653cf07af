package dev.weir.server.internal.http;

import dev.weir.engine.CurrentLimit;
import dev.weir.protocol.http.ProblemType;
import dev.weir.server.internal.deciding.ByteText;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.QuickDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.log.Logs;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;

/**
 * The quick path for the usual requests of {@code POST /json} and {@code POST /v1/check}: those of
 * one descriptor that one limit in this process decides at once. They are decided as soon as their
 * bytes are read. Its answers have the same bytes as those of the general path.
 */
final class QuickRequests implements Quick {
  /*
   * Why a second path? On the general path, with the codec, its messages, their header maps,
   * Jackson and the objects of a decision, a request allocated 5 KB and took more time than an
   * empty handler leaves. Here everything that is needed is used again for the next request on the
   * event loop. It takes only requests that certainly get the same answer on the general path, and
   * it changes nothing before it has taken a request. So an unusual reader, head or rule needs no
   * second implementation. Once a request is being decided it may be charged, so a failure is
   * answered here: the general path would charge it again.
   */

  /** The most bytes of a read; larger ones are for the codec. */
  private static final int MAX_READ = 64 << 10;

  private static final byte[] TYPE = ascii("\r\nContent-Type: ");
  private static final byte[] LENGTH = ascii("\r\ncontent-length: ");
  private static final byte[] BLANK_LINE = ascii("\r\n\r\n");
  private static final byte[] FAILED =
      ascii("HTTP/1.1 500 Internal Server Error\r\nCache-Control: no-store");

  private final QuickDecider decider;
  private final BooleanSupplier off;
  private final int maxBodyBytes;
  private final QuickPath json = new QuickJson();
  private final QuickPath check;
  private final QuickHead head = new QuickHead();
  private final QuickBody body = new QuickBody();
  private final ByteText answers = new ByteText();
  private byte[] read = new byte[QuickHead.MAX_BYTES];

  /**
   * @param fields the fields of answers of {@code /v1/check}
   * @param off returns true while every request takes the general path
   */
  QuickRequests(
      GuardedDecider decider,
      RequestTimes times,
      CheckFields fields,
      int maxBodyBytes,
      BooleanSupplier off) {
    this.decider = new QuickDecider(decider, times);
    this.check = new QuickCheck(fields);
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
    if (!body.read(read, begin, end, head.isCheck())) {
      return false;
    }
    QuickPath path = head.isCheck() ? check : json;
    int before = answers.size();
    boolean begun = false;
    try {
      CurrentLimit limit = decider.take(body.request());
      if (limit == null || !path.takes(limit)) {
        return false;
      }
      begun = true;
      path.write(body.request(), decider.decide(), answers);
      return true;
    } catch (RuntimeException e) {
      if (begun) {
        Logs.LOG.log(Level.SEVERE, "http: a request failed", e);
        answers.cut(before);
        failed();
      }
      return begun; // Otherwise the general path sends the error to the client.
    }
  }

  private void failed() {
    byte[] problem = ProblemType.document(500, Reply.FAILED, Reply.FAILED_DETAIL);
    body(answers.add(FAILED), Reply.PROBLEM, problem);
  }

  /** Adds the fields that describe a body, and the body. */
  static void body(ByteText answer, CharSequence type, byte[] body) {
    answer.add(TYPE).add(type).add(LENGTH).add(body.length).add(BLANK_LINE).add(body);
  }
}
