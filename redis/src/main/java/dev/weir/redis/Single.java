package dev.weir.redis;

import dev.weir.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Asks for the same permits of one key, once or several times, and for others who want the same.
 */
final class Single extends Question {
  /** Who is told how often the permits fitted. */
  interface Asker {
    /**
     * Takes the decision.
     *
     * @param times how often the permits fitted
     * @param result as if nobody had asked together with this one
     * @param remaining permits left after everybody
     */
    void decided(long times, Result result, long remaining);

    void failed(Failure failure);
  }

  private record MergeKey(RedisLimit limit, long fingerprint, long permits) {}

  private final RedisLimit limit;
  private final long fingerprint;
  private final byte[] key;
  private final long permits;
  private final long count;
  private final Asker asker;
  private @Nullable List<Single> others;
  private long times;
  private @Nullable Result result;

  Single(RedisLimit limit, long fingerprint, long permits, long count, Asker asker) {
    this.limit = limit;
    this.fingerprint = fingerprint;
    key = limit.key(fingerprint);
    this.permits = permits;
    this.count = count;
    this.asker = asker;
  }

  @Override
  byte[] key() {
    return key;
  }

  @Override
  Object mergeKey() {
    return new MergeKey(limit, fingerprint, permits);
  }

  @Override
  boolean merge(Question other) {
    if (others == null) {
      others = new ArrayList<>();
    }
    return others.add((Single) other);
  }

  private long wanted() {
    long wanted = count;
    if (others != null) {
      for (Single each : others) {
        wanted += each.count;
      }
    }
    return wanted;
  }

  @Override
  void write(Message message) {
    message.some(limit, key, permits, wanted());
  }

  @Override
  void read(MessageReader reply) {
    times = reply.number();
    result = Result.read(reply);
  }

  @Override
  boolean undecided() {
    return Objects.requireNonNull(result).reason() == Reason.UNCERTAIN;
  }

  @Override
  void answer() {
    Result said = Objects.requireNonNull(result);
    long left = times;
    List<Part> parts = new ArrayList<>();
    for (Single each : askers()) {
      long got = Math.min(left, each.count);
      left -= got;
      parts.add(part(each, got, left, said));
    }
    Everyone.tell(parts, part -> part.to.asker.decided(part.times, part.result, said.remaining()));
  }

  private record Part(Single to, long times, Result result) {}

  /** Returns one asker's part, as if he had asked alone and the others after him. */
  private Part part(Single to, long got, long after, Result said) {
    boolean all = got == to.count;
    Result own =
        new Result(
            got > 0 || all ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT,
            said.remaining() + after * permits,
            all ? 0 : said.retryAfterNanos(),
            said.resetAfterNanos(),
            said.atNanos());
    return new Part(to, got, own);
  }

  @Override
  void fail(Failure failure) {
    Everyone.tell(askers(), each -> each.asker.failed(failure));
  }

  /** Returns this one and the others, in the order in which they asked. */
  private List<Single> askers() {
    List<Single> askers = new ArrayList<>();
    askers.add(this);
    if (others != null) {
      askers.addAll(others);
    }
    return askers;
  }

  @Override
  List<Refund> undo() {
    Result said = result;
    return said == null || times == 0 || permits == 0
        ? List.of()
        : List.of(
            new Refund(limit, fingerprint, times * permits, said.atNanos(), said.resetNanos()));
  }

  @Override
  long permits() {
    return wanted() * permits;
  }

  @Override
  int charges() {
    return others == null ? 1 : 1 + others.size();
  }
}
