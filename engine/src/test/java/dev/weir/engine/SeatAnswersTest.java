package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.Decision;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Renewal;
import dev.weir.engine.seats.SeatAnswer;
import dev.weir.engine.seats.SeatOutcome;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.LateStore;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

/** Seats of stores that answer late, or not at all. */
class SeatAnswersTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Request REQUEST =
      new Request("d", List.of(Descriptor.of("exports", "x")), 1);

  private static String rules(int holdSeconds) {
    return """
    domain: d
    descriptors:
      - key: exports
        rate_limit: {concurrency: 2, hold: %ds, store: shared}
    """
        .formatted(holdSeconds);
  }

  private static Engine engine(FakeTicker ticker, RoutedStore store) {
    Engine engine = Engine.builder(store).ticker(ticker).build();
    engine.apply(Fixture.rules(rules(10)));
    return engine;
  }

  /** The rules that decided give the hold, whatever is in force when the store answers. */
  @Test
  void rulesThatChangeDuringARequest_leaveItsHold() {
    LateStore late = new LateStore();
    Engine engine = engine(new FakeTicker(), RoutedStore.of(new MemoryStore(), late));
    AtomicReference<SeatAnswer> answer = new AtomicReference<>();
    engine.seats().acquire(REQUEST, answer::set);
    engine.apply(Fixture.rules(rules(60)));
    assertThat(late.answer()).isPositive();
    assertThat(Objects.requireNonNull(answer.get()).holdNanos()).isEqualTo(10 * SECOND);
  }

  /** A store that does not answer calls about seats while it is away. */
  private static final class AwayStore extends ForwardingStore<MemoryStore> {
    boolean away;

    AwayStore() {
      super(new MemoryStore());
    }

    @Override
    public void refund(
        Binding binding,
        long fingerprint,
        long permits,
        Decision charged,
        long nowNanos,
        LongConsumer done) {
      if (away) {
        done.accept(0);
      } else {
        delegate.refund(binding, fingerprint, permits, charged, nowNanos, done);
      }
    }

    @Override
    public void renew(
        Binding binding,
        long fingerprint,
        Decision charged,
        long nowNanos,
        Consumer<? super Renewal> done) {
      if (away) {
        done.accept(Renewal.UNANSWERED);
      } else {
        delegate.renew(binding, fingerprint, charged, nowNanos, done);
      }
    }
  }

  @Test
  void callsThatAreNotAnswered_areUncertain_andMayBeSentAgain() {
    FakeTicker ticker = new FakeTicker();
    AwayStore shared = new AwayStore();
    Engine engine = engine(ticker, RoutedStore.of(new MemoryStore(), shared));
    AtomicReference<SeatAnswer> answer = new AtomicReference<>();
    engine.seats().acquire(REQUEST, answer::set);
    String seat = Objects.requireNonNull(answer.get()).seat();
    AtomicReference<SeatOutcome> outcome = new AtomicReference<>();
    shared.away = true;
    engine.seats().read(seat).renew(outcome::set);
    assertThat(outcome).hasValue(SeatOutcome.UNCERTAIN);
    engine.seats().read(seat).release(outcome::set);
    assertThat(outcome).hasValue(SeatOutcome.UNCERTAIN);
    shared.away = false;
    engine.seats().read(seat).release(outcome::set);
    assertThat(outcome).hasValue(SeatOutcome.DONE);
    engine.seats().read(seat).release(outcome::set);
    assertThat(outcome).hasValue(SeatOutcome.LOST);
    assertThat(engine.seats().metrics().uncertain()).isEqualTo(2);
  }
}
