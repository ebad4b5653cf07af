package dev.weir.shared.internal;

import dev.weir.shared.Call;
import dev.weir.shared.Failure;
import dev.weir.shared.Reply;
import dev.weir.shared.SharedBinding;
import java.util.ArrayList;
import java.util.List;

/** Two operations for one key, of which the second is decided right after the first. */
public final class OperationPair extends Operation {
  private final List<Operation> both;

  public OperationPair(Operation first, Operation second) {
    both = List.of(first, second);
  }

  @Override
  public SharedBinding binding() {
    return both.get(0).binding();
  }

  @Override
  public long fingerprint() {
    return both.get(0).fingerprint();
  }

  @Override
  public void write(Call call) {
    both.forEach(each -> each.write(call));
  }

  @Override
  public void read(Reply reply) {
    both.forEach(each -> each.read(reply));
  }

  @Override
  public boolean moved() {
    return both.stream().anyMatch(Operation::moved);
  }

  /** Returns the part to send again: if its key moved between the two, one of them was decided. */
  @Override
  Operation again() {
    List<Operation> left = both.stream().filter(Operation::moved).toList();
    if (left.size() == both.size()) {
      return this;
    }
    for (Operation each : both) {
      if (!each.moved() && each.isUncountable()) {
        each.fail(Failure.STATE);
      } else if (!each.moved()) {
        each.answer();
      }
    }
    Operation one = left.get(0);
    one.deadlineNanos = deadlineNanos;
    one.lateBeforeNanos = lateBeforeNanos;
    return one;
  }

  @Override
  public boolean isUncountable() {
    return both.stream().anyMatch(Operation::isUncountable);
  }

  @Override
  public void forEachUncountable(Keys keys) {
    both.forEach(each -> each.forEachUncountable(keys));
  }

  @Override
  public void answer() {
    Operation.deliverAll(both, Operation::answer);
  }

  @Override
  public void fail(Failure failure) {
    Operation.deliverAll(both, each -> each.fail(failure));
  }

  @Override
  public List<Refund> undo() {
    List<Refund> refunds = new ArrayList<>();
    both.forEach(each -> refunds.addAll(each.undo()));
    return refunds;
  }

  @Override
  public long permits() {
    return both.stream().mapToLong(Operation::permits).sum();
  }

  @Override
  public int charges() {
    return both.stream().mapToInt(Operation::charges).sum();
  }
}
