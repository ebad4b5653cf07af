package dev.weir.redis;

import java.util.ArrayList;
import java.util.List;

/** Two questions for one key, of which the second is decided right after the first. */
final class Both extends Question {
  private final List<Question> both;

  Both(Question first, Question second) {
    both = List.of(first, second);
  }

  @Override
  byte[] key() {
    return both.get(0).key();
  }

  @Override
  void write(Message message) {
    both.forEach(each -> each.write(message));
  }

  @Override
  void read(MessageReader reply) {
    both.forEach(each -> each.read(reply));
  }

  @Override
  boolean undecided() {
    return both.stream().anyMatch(Question::undecided);
  }

  @Override
  void answer() {
    Everyone.tell(both, Question::answer);
  }

  @Override
  void fail(Failure failure) {
    Everyone.tell(both, each -> each.fail(failure));
  }

  @Override
  List<Refund> undo() {
    List<Refund> refunds = new ArrayList<>();
    both.forEach(each -> refunds.addAll(each.undo()));
    return refunds;
  }

  @Override
  long permits() {
    return both.stream().mapToLong(Question::permits).sum();
  }

  @Override
  int charges() {
    return both.stream().mapToInt(Question::charges).sum();
  }
}
