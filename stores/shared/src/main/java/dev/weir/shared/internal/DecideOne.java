package dev.weir.shared.internal;

import dev.weir.Algorithm;
import dev.weir.Reason;
import dev.weir.shared.Call;
import dev.weir.shared.Failure;
import dev.weir.shared.Reply;
import dev.weir.shared.Result;
import dev.weir.shared.SharedBinding;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An operation that decides the same permits of one key, once or several times; equal operations
 * are merged into it, unless each of them takes a seat.
 */
public final class DecideOne extends Operation {
  /** A receiver of the number of times that the permits fitted. */
  public interface Callback {
    /**
     * Called with the decision.
     *
     * @param times the number of times that the permits fitted
     * @param result as if this operation had not been merged with others
     * @param remaining permits left after all merged operations
     */
    void decided(long times, Result result, long remaining);

    void failed(Failure failure);
  }

  private final SharedBinding binding;
  private final long fingerprint;
  private final long permits;
  private final long count;
  private final Callback callback;
  private @Nullable List<DecideOne> others;
  private long times;
  private @Nullable Result result;

  public DecideOne(
      SharedBinding binding, long fingerprint, long permits, long count, Callback callback) {
    this.binding = binding;
    this.fingerprint = fingerprint;
    this.permits = permits;
    this.count = count;
    this.callback = callback;
  }

  @Override
  public SharedBinding binding() {
    return binding;
  }

  @Override
  public long fingerprint() {
    return fingerprint;
  }

  @Override
  public boolean merge(Operation other) {
    if (binding.policy().algorithm() == Algorithm.CONCURRENCY // Each seat is a charge of its own.
        || !(other instanceof DecideOne one)
        || !one.binding.equals(binding)
        || one.fingerprint != fingerprint
        || one.permits != permits
        || one.nowNanos != nowNanos) {
      return false;
    }
    if (others == null) {
      others = new ArrayList<>();
    }
    others.add(one);
    if (one.others != null) { // It was merged into before.
      others.addAll(one.others);
      one.others = null;
    }
    return true;
  }

  private long wanted() {
    long wanted = count;
    if (others != null) {
      for (DecideOne each : others) {
        wanted += each.count;
      }
    }
    return wanted;
  }

  @Override
  public void write(Call call) {
    call.decideOne(binding, fingerprint, permits, wanted());
  }

  @Override
  public void read(Reply reply) {
    times = reply.number();
    result = reply.result();
  }

  @Override
  public boolean moved() {
    return Objects.requireNonNull(result).isMoved();
  }

  @Override
  public boolean isUncountable() {
    return Objects.requireNonNull(result).reason() == Reason.UNCERTAIN;
  }

  @Override
  public void answer() {
    Result said = Objects.requireNonNull(result);
    long left = times;
    List<Part> parts = new ArrayList<>();
    for (DecideOne each : all()) {
      long got = Math.min(left, each.count);
      left -= got;
      parts.add(part(each, got, left, said));
    }
    Operation.deliverAll(
        parts, part -> part.to.callback.decided(part.times, part.result, said.remaining()));
  }

  private record Part(DecideOne to, long times, Result result) {}

  /** Returns the part of one operation, as if it had been sent alone and the others after it. */
  private Part part(DecideOne to, long got, long after, Result said) {
    boolean all = got == to.count;
    // A bucket is full again later by each permit that was charged after these; a window is not.
    long later = after * permits * binding.policy().permitNanos();
    Result own =
        new Result(
            got > 0 || all ? Reason.WITHIN_LIMIT : said.refusal(),
            said.remaining() + after * permits,
            all ? 0 : said.retryAfterNanos(),
            Math.max(0, said.resetAfterNanos() - later),
            said.atNanos());
    return new Part(to, got, own);
  }

  @Override
  public void fail(Failure failure) {
    Operation.deliverAll(all(), each -> each.callback.failed(failure));
  }

  /** Returns this operation and those merged into it, in the order in which they came. */
  private List<DecideOne> all() {
    List<DecideOne> all = new ArrayList<>();
    all.add(this);
    if (others != null) {
      all.addAll(others);
    }
    return all;
  }

  @Override
  public List<Refund> undo() {
    Result said = result;
    return said == null || times == 0 || permits == 0
        ? List.of()
        : List.of(
            new Refund(binding, fingerprint, times * permits, said.atNanos(), said.resetNanos()));
  }

  @Override
  public long permits() {
    return wanted() * permits;
  }

  @Override
  public int charges() {
    return others == null ? 1 : 1 + others.size();
  }
}
