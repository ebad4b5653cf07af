package dev.weir.redis;

import dev.weir.Decision;
import dev.weir.Ticker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;

/** What holdings ask, to be answered by a test. Not safe for use by several threads. */
final class FakeRedis {
  /** Permits that came back. */
  record Back(long permits, long atNanos) {}

  private static final long FITS = 0;
  private static final long OVER_LIMIT = 1;

  final Deque<Question> asked = new ArrayDeque<>();
  private final Deque<FakeShard.Request> requests = new ArrayDeque<>();
  private final List<Back> backs = new ArrayList<>();
  private final Ticker ticker;
  long askedAtNanos;
  long charged;
  long givenBack;

  FakeRedis(Ticker ticker) {
    this.ticker = ticker;
  }

  private static List<FakeShard.Request> requests(Question question) {
    Message message = new Message();
    question.write(message);
    return FakeShard.requests(new MessageReader(message.toBytes(Message.NO_TIME)));
  }

  private static FakeShard.Request request(Question question) {
    return requests(question).get(0);
  }

  void ask(Question question) {
    FakeShard.Request request = request(question);
    if (request.kind().equals("refund")) {
      backs.add(new Back(request.permits(), request.atMicros() * Result.NANOS_PER_MICRO));
    } else {
      asked.add(question);
      requests.add(request);
      askedAtNanos = ticker.nanos();
    }
  }

  /** Grants all that is asked for, and counts it; for several threads. */
  synchronized void grantAtOnce(Question question) {
    FakeShard.Request request = request(question);
    if (request.kind().equals("refund")) {
      givenBack += request.permits();
      return;
    }
    long times = request.count();
    charged += times;
    Result said = new Result(dev.weir.Reason.WITHIN_LIMIT, 1_000_000, 0, 0, 0);
    reply(question, times, said);
  }

  /** Returns the oldest request without an answer; it must be the only one. */
  FakeShard.Request only() {
    if (requests.size() != 1) {
      throw new AssertionError("asked: " + requests + " (expected: one)");
    }
    return requests.element();
  }

  /** Returns what the questions without an answer are, oldest first. */
  List<String> kinds() {
    List<String> kinds = new ArrayList<>();
    for (Question question : asked) {
      kinds.add(
          requests(question).stream()
              .map(each -> each.kind() + " " + each.permits())
              .collect(Collectors.joining(", ")));
    }
    return kinds;
  }

  /** Returns how often the only request's permits are asked for. */
  long wanted() {
    return only().count();
  }

  /** Answers the oldest request. */
  void grant(long times, Result said) {
    requests.remove();
    reply(asked.remove(), times, said);
  }

  private static void reply(Question question, long times, Result said) {
    MessageWriter reply = new MessageWriter().add(times);
    result(reply, said);
    read(question, reply);
  }

  /** Answers the oldest request, to tell of permits. */
  void take(Result said) {
    requests.remove();
    MessageWriter reply = new MessageWriter();
    result(reply, said);
    read(asked.remove(), reply);
  }

  /** Answers the oldest question, to tell of permits and to ask for some. */
  void takeAndGrant(Result told, long times, Result said) {
    requests.remove();
    MessageWriter reply = new MessageWriter();
    result(reply, told);
    result(reply.add(times), said);
    read(asked.remove(), reply);
  }

  private static void result(MessageWriter reply, Result said) {
    boolean never = said.retryAfterNanos() == Decision.NEVER;
    reply
        .add(said.reason() == dev.weir.Reason.OVER_LIMIT ? OVER_LIMIT : FITS)
        .add(said.remaining())
        .add(never ? -1 : said.retryAfterNanos() / Result.NANOS_PER_MICRO)
        .add(said.resetAfterNanos() / Result.NANOS_PER_MICRO)
        .add(0)
        .add(said.atNanos() / Result.NANOS_PER_MICRO);
  }

  private static void read(Question question, MessageWriter reply) {
    question.read(new MessageReader(reply.toBytes()));
    question.answer();
  }

  /** Fails the oldest request. */
  void fail(Failure failure) {
    requests.remove();
    asked.remove().fail(failure);
  }

  /** Returns how many permits came back, each time. */
  List<Long> refunds() {
    return backs.stream().map(Back::permits).toList();
  }

  /** Returns what came back since this was last asked. */
  List<Back> takeBacks() {
    List<Back> taken = List.copyOf(backs);
    backs.clear();
    return taken;
  }
}
