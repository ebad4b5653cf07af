package dev.weir.shared.internal;

import dev.weir.Charges;
import dev.weir.Reason;
import dev.weir.shared.Call;
import dev.weir.shared.Failure;
import dev.weir.shared.Link;
import dev.weir.shared.Reply;
import dev.weir.shared.Result;
import dev.weir.shared.SharedBinding;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** An operation that decides all charges of a request in one step. */
public final class DecideMany extends Operation {
  private final Charges charges;
  private final Runnable done;
  private final Consumer<Failure> failed;
  private final LongConsumer apart;

  /** A charge as it was sent, for the time after the charges have been handed on. */
  private record SentRequest(
      SharedBinding binding, long fingerprint, long permits, boolean isReport) {}

  private final List<SentRequest> sent = new ArrayList<>();
  private final List<Result> results = new ArrayList<>();
  private final int size;
  private boolean peeking;
  private boolean allowed;

  /**
   * Creates the operation.
   *
   * @param charges whose results are filled in before {@code done} is called
   * @param apart decides each charge on its own; receives the time that they have waited
   */
  public DecideMany(Charges charges, Runnable done, Consumer<Failure> failed, LongConsumer apart) {
    this.charges = charges;
    size = charges.size();
    this.done = done;
    this.failed = failed;
    this.apart = apart;
  }

  private SharedBinding binding(int i) {
    return (SharedBinding) charges.binding(i);
  }

  @Override
  public SharedBinding binding() {
    return binding(0);
  }

  @Override
  public long fingerprint() {
    return charges.fingerprint(0);
  }

  @Override
  public void forEachKey(Keys keys) {
    for (int i = 0; i < charges.size(); i++) {
      keys.key(binding(i), charges.fingerprint(i));
    }
  }

  @Override
  public void write(Call call) {
    peeking = charges.peeking();
    sent.clear();
    results.clear();
    call.decideMany(charges.size(), charges.peeking(), charges.queued(), charges.maxWaitNanos());
    for (int i = 0; i < charges.size(); i++) {
      boolean isReport = charges.role(i).isReport();
      sent.add(new SentRequest(binding(i), charges.fingerprint(i), charges.permits(i), isReport));
      call.charge(binding(i), charges.fingerprint(i), charges.permits(i), charges.role(i));
    }
  }

  @Override
  public void read(Reply reply) {
    allowed = reply.number() == 1;
    for (int i = 0; i < sent.size(); i++) {
      results.add(reply.result());
    }
  }

  @Override
  public void answer() {
    for (int i = 0; i < charges.size(); i++) {
      results.get(i).to(charges, i);
    }
    charges.allowed(allowed);
    done.run();
  }

  @Override
  public boolean moved() {
    for (Result each : results) {
      if (each.isMoved()) {
        return true;
      }
    }
    return false;
  }

  @Override
  boolean inOne(Link link) {
    return link.oneSlot() || CrossSlots.inOne(charges, link);
  }

  @Override
  void apart() {
    apart.accept(waitedNanos);
  }

  /** Returns true if the only reason of the refusal is that the state of some key is not known. */
  @Override
  public boolean isUncountable() {
    return !allowed
        && results.stream().anyMatch(each -> each.reason() == Reason.UNCERTAIN)
        && results.stream().allMatch(each -> each.fits() || each.reason() == Reason.UNCERTAIN);
  }

  @Override
  public void forEachUncountable(Keys keys) {
    for (int i = 0; i < results.size(); i++) {
      if (results.get(i).reason() == Reason.UNCERTAIN) {
        keys.key(sent.get(i).binding(), sent.get(i).fingerprint());
      }
    }
  }

  @Override
  public int uncountableCharges() {
    return (int) results.stream().filter(each -> each.reason() == Reason.UNCERTAIN).count();
  }

  @Override
  public void fail(Failure failure) {
    failed.accept(failure);
  }

  @Override
  public List<Refund> undo() {
    List<Refund> refunds = new ArrayList<>();
    for (int i = 0; i < results.size() && allowed && !peeking; i++) {
      SentRequest one = sent.get(i);
      Result result = results.get(i);
      if (result.fits() && one.permits() > 0 && !one.isReport()) {
        refunds.add(
            new Refund(
                one.binding(),
                one.fingerprint(),
                one.permits(),
                result.atNanos(),
                result.resetNanos()));
      }
    }
    return refunds;
  }

  @Override
  public long permits() {
    long sum = 0;
    for (SentRequest each : sent) {
      sum += peeking ? 0 : Math.max(0, each.permits());
    }
    return sum;
  }

  @Override
  public int charges() {
    return size;
  }
}
