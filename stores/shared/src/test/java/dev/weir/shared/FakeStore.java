package dev.weir.shared;

import dev.weir.Decision;
import dev.weir.Ticker;
import dev.weir.shared.FakeCall.Request;
import dev.weir.shared.internal.Operation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * The operations that an authority sends, to be answered by a test. Not safe for use by several
 * threads.
 */
public final class FakeStore {
  /** Permits that were given back. */
  public record Back(long permits, long atNanos) {}

  private static final long FITS = 0;
  private static final long OVER_LIMIT = 1;

  public final Deque<Operation> asked = new ArrayDeque<>();
  private final Deque<Request> requests = new ArrayDeque<>();
  private final List<Back> backs = new ArrayList<>();
  private final Ticker ticker;
  public long askedAtNanos;
  public long charged;
  public long givenBack;

  public FakeStore(Ticker ticker) {
    this.ticker = ticker;
  }

  private static Request request(Operation operation) {
    return FakeCall.requests(operation).get(0);
  }

  public void receive(Operation operation) {
    List<Request> parts = FakeCall.requests(operation);
    Request first = parts.get(0);
    Request last = parts.get(parts.size() - 1);
    if (first.kind().equals("refund")) {
      backs.add(new Back(first.permits(), first.atMicros() * Result.NANOS_PER_MICRO));
    }
    if (!last.kind().equals("refund")) {
      asked.add(operation);
      requests.add(first.kind().equals("refund") ? last : first);
      askedAtNanos = ticker.nanos();
    }
  }

  /** Grants all requested permits, and counts them; for several threads. */
  public synchronized void grantAtOnce(Operation operation) {
    List<Request> parts = FakeCall.requests(operation);
    if (parts.get(0).kind().equals("refund")) {
      givenBack += parts.get(0).permits();
    }
    Request last = parts.get(parts.size() - 1);
    if (!last.kind().equals("refund")) {
      charged += last.count();
      Result said = new Result(dev.weir.Reason.WITHIN_LIMIT, 1_000_000, 0, 0, 0);
      reply(operation, last.count(), said);
    }
  }

  /** Returns the oldest request without an answer; it must be the only one. */
  public Request only() {
    if (requests.size() != 1) {
      throw new AssertionError("asked: " + requests + " (expected: one)");
    }
    return requests.element();
  }

  /** Returns the kinds of the operations without an answer, oldest first. */
  public List<String> kinds() {
    List<String> kinds = new ArrayList<>();
    for (Operation operation : asked) {
      kinds.add(
          FakeCall.requests(operation).stream()
              .map(each -> each.kind() + " " + each.permits())
              .collect(Collectors.joining(", ")));
    }
    return kinds;
  }

  /** Returns how many times the permits of the only request are wanted. */
  public long wanted() {
    return only().count();
  }

  /** Answers the oldest request. */
  public void grant(long times, Result said) {
    requests.remove();
    reply(asked.remove(), times, said);
  }

  private static void reply(Operation operation, long times, Result said) {
    Request first = request(operation);
    LongStream granted = LongStream.concat(LongStream.of(times), result(said));
    boolean refunds = first.kind().equals("refund");
    read(operation, refunds ? LongStream.concat(LongStream.of(first.permits()), granted) : granted);
  }

  /** Answers the oldest operation, a record of permits. */
  public void take(Result said) {
    requests.remove();
    read(asked.remove(), result(said));
  }

  /** Answers the oldest operation, a record of permits and a request for some. */
  public void takeAndGrant(Result recorded, long times, Result said) {
    requests.remove();
    LongStream granted = LongStream.concat(LongStream.of(times), result(said));
    read(asked.remove(), LongStream.concat(result(recorded), granted));
  }

  private static LongStream result(Result said) {
    boolean never = said.retryAfterNanos() == Decision.NEVER;
    return LongStream.of(
        said.reason() == dev.weir.Reason.OVER_LIMIT ? OVER_LIMIT : FITS,
        said.remaining(),
        never ? -1 : said.retryAfterNanos() / Result.NANOS_PER_MICRO,
        said.resetAfterNanos() / Result.NANOS_PER_MICRO,
        0,
        said.atNanos() / Result.NANOS_PER_MICRO);
  }

  private static void read(Operation operation, LongStream numbers) {
    operation.read(new FakeReply(0, numbers.toArray()));
    operation.answer();
  }

  /** Fails the oldest request. */
  public void fail(Failure failure) {
    requests.remove();
    asked.remove().fail(failure);
  }

  /** Returns the number of permits of each refund. */
  public List<Long> refunds() {
    return backs.stream().map(Back::permits).toList();
  }

  /** Returns the refunds since the last call of this method. */
  public List<Back> takeBacks() {
    List<Back> taken = List.copyOf(backs);
    backs.clear();
    return taken;
  }
}
