package dev.weir.shared.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.shared.Counters;
import dev.weir.shared.Failure;
import dev.weir.shared.FakeCall.Request;
import dev.weir.shared.FakeLink;
import dev.weir.shared.FakeReply;
import dev.weir.shared.FakeShard;
import dev.weir.shared.Housekeeping;
import dev.weir.shared.Result;
import dev.weir.shared.Settings;
import dev.weir.shared.SharedBinding;
import dev.weir.shared.SharedStore;
import dev.weir.shared.StoreSettings;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Keys that move from one shard to another while they are requested. */
class MovedTest {
  private static final long MILLI = 1_000_000;
  private static final long TIMEOUT_NANOS = 100 * MILLI;

  /** A result, or the mark of a moved key: see {@link FakeReply}. */
  private static final long[] ONE_LEFT = {0, 1, 0, 5, 0, 0};

  private static final long[] GONE = {3, -1, 0, 0, 0, 0};

  private final FakeTicker ticker = new FakeTicker();
  private final Counters counters = new Counters();
  private final FakeShard[] shards = {new FakeShard(), new FakeShard()};
  private final Two link = new Two();
  private final List<LongSupplier> ticks = new ArrayList<>();
  private final SharedStore store = new SharedStore(settings(), link, new Ticks()) {};

  private StoreSettings settings() {
    return Settings.of(TIMEOUT_NANOS, ticker, line -> {}, line -> {}, counters);
  }

  private final class Ticks implements Housekeeping {
    @Override
    public void repeat(LongSupplier task) {
      ticks.add(task);
    }

    @Override
    public void wake() {}

    @Override
    public void close() {}
  }

  /** A link to two shards, which have the even and the odd keys; or one of them has all. */
  private final class Two extends FakeLink {
    private int all = 0;
    private boolean parted;
    private int refreshed;

    Two() {
      super(settings(), shards);
    }

    @Override
    public void moved() {
      refreshed++;
    }

    @Override
    public int slot(SharedBinding binding, long fingerprint) {
      return parted ? (int) (fingerprint & 1) : all;
    }
  }

  private void tick(long nanos) {
    ticker.advance(nanos);
    for (LongSupplier each : ticks) {
      long unused = each.getAsLong();
    }
  }

  private Binding binding(Consistency consistency) {
    tick(0);
    for (FakeShard each : shards) {
      each.probes.forEach(probe -> probe.complete(FakeShard.fine()));
    }
    assertThat(store.available()).isTrue();
    return store.bind(
        "ten",
        Policy.builder(Quota.of(10, Duration.ofSeconds(1)))
            .sharing(Sharing.STRICT.consistency(consistency))
            .build(),
        0);
  }

  private @Nullable Charges answered;

  private void request(Binding binding, long... keys) {
    Charges charges = new Charges();
    for (long key : keys) {
      charges.add(binding, key, 1);
    }
    answered = null;
    store.decide(charges, 0, decided -> answered = decided);
  }

  private Reason reason(int charge) {
    Charges known = answered;
    return known == null ? Reason.NO_LIMIT : known.reason(charge);
  }

  private static long[] numbers(long first, long[]... results) {
    List<Long> all = new ArrayList<>(List.of(first));
    for (long[] each : results) {
      for (long number : each) {
        all.add(number);
      }
    }
    return all.stream().mapToLong(number -> number).toArray();
  }

  private static FakeShard.Sent last(FakeShard shard, int expected) {
    assertThat(shard.calls).hasSize(expected);
    return shard.calls.get(expected - 1);
  }

  private long failures() {
    return counters.failures().values().stream().mapToLong(each -> each).sum();
  }

  @Test
  void keyThatIsElsewhere_isAskedThere_atOnceIfThatIsKnown() {
    Binding binding = binding(Consistency.STRICT);
    request(binding, 7);
    link.all = 1; // The slots have moved meanwhile.
    last(shards[0], 1).answer(numbers(0, GONE));
    assertThat(reason(0)).as("not answered yet").isEqualTo(Reason.NO_LIMIT);
    last(shards[1], 1).answer(numbers(1, ONE_LEFT));
    assertThat(reason(0)).isEqualTo(Reason.WITHIN_LIMIT);
    assertThat(link.refreshed).isZero();
    assertThat(failures()).isZero();
  }

  @Test
  void keyOnItsWay_isAskedForAgain_untilHalfOfTheTimeIsOver() {
    Binding binding = binding(Consistency.STRICT);
    request(binding, 7);
    last(shards[0], 1).answer(numbers(0, GONE));
    assertThat(link.refreshed).isEqualTo(1);
    tick(9 * MILLI);
    assertThat(shards[0].calls).hasSize(1);
    tick(MILLI);
    last(shards[0], 2).answer(numbers(0, GONE));
    link.all = 1;
    tick(10 * MILLI);
    last(shards[1], 1).answer(numbers(1, ONE_LEFT));
    assertThat(reason(0)).isEqualTo(Reason.WITHIN_LIMIT);
    assertThat(failures()).isZero();

    request(binding, 8);
    for (int i = 1; i <= 5; i++) {
      last(shards[1], 1 + i).answer(numbers(0, GONE));
      assertThat(answered).isNull();
      tick(10 * MILLI);
    }
    last(shards[1], 7).answer(numbers(0, GONE));
    tick(10 * MILLI);
    assertThat(reason(0)).isEqualTo(Reason.UNCERTAIN);
    assertThat(counters.failures()).containsEntry("moved", 1L);
    assertThat(store.metrics().burned()).isZero();
  }

  /**
   * Charges that were requested together are decided one by one, once their keys are in two shards.
   */
  @Test
  void keysThatPart_areDecidedApart_andGivenBackIfOneIsRefused() {
    Binding binding = binding(Consistency.STRICT);
    request(binding, 6, 7);
    link.parted = true;
    last(shards[0], 1).answer(numbers(0, GONE, GONE));
    last(shards[0], 2).answer(numbers(1, ONE_LEFT));
    assertThat(answered).isNull();
    last(shards[1], 1).answer(numbers(0, new long[] {1, 0, 300, 300, 0, 0}));
    assertThat(reason(1)).isEqualTo(Reason.OVER_LIMIT);
    Request back = last(shards[0], 3).requests().get(0);
    assertThat(back.kind()).isEqualTo("refund");
    assertThat(back.permits()).isEqualTo(1);
  }

  @Test
  void requestsForOneKey_staySeparate_whenTheyAreAskedAgainTogether() {
    Binding binding = binding(Consistency.STRICT);
    List<Boolean> allowed = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      Charges one = new Charges().add(binding, 7, 1);
      store.decide(one, 0, decided -> allowed.add(decided.allowed()));
    }
    assertThat(shards[0].calls).hasSize(2); // The first two are sent; the others wait together.
    shards[0].calls.get(0).answer(numbers(0, GONE));
    shards[0].calls.get(1).answer(numbers(0, GONE));
    last(shards[0], 3).answer(numbers(0, GONE));
    assertThat(allowed).isEmpty();
    link.all = 1;
    shards[1].answers = requests -> numbers(Math.min(3, requests.get(0).count()), ONE_LEFT);
    tick(10 * MILLI);
    assertThat(allowed).hasSize(6);
    long asked =
        shards[1].calls.stream()
            .flatMap(each -> each.requests().stream())
            .mapToLong(Request::count)
            .sum();
    assertThat(asked).isEqualTo(6);
  }

  @Test
  void resetOfAKeyThatMoved_isDoneWhereItIs() {
    Binding binding = binding(Consistency.STRICT);
    List<Boolean> found = new ArrayList<>();
    store.reset(binding, 7, 0, found::add);
    last(shards[0], 1).answer(-1);
    assertThat(found).isEmpty();
    link.all = 1;
    tick(10 * MILLI);
    last(shards[1], 1).answer(1);
    assertThat(found).containsExactly(true);
  }

  /**
   * A record and a request that were sent together: the part that was decided is not sent again.
   */
  @Test
  void halfOfASequence_thatWasDecided_isNotAskedAgain() {
    List<String> answers = new ArrayList<>();
    SharedBinding binding = (SharedBinding) binding(Consistency.STRICT);
    AdmittedRecord record =
        new AdmittedRecord(
            binding, 7, 3, result -> answers.add("recorded"), failure -> answers.add("lost"));
    DecideOne single =
        new DecideOne(
            binding,
            7,
            1,
            1,
            new DecideOne.Callback() {
              @Override
              public void decided(long times, Result result, long remaining) {
                answers.add("decided " + times);
              }

              @Override
              public void failed(Failure failure) {
                answers.add("failed");
              }
            });
    OperationPair both = new OperationPair(record, single);
    both.read(new FakeReply(0, numbers(0, new long[] {1, 0, 5, 0, 0}, numbers(0, GONE))));
    assertThat(both.moved()).isTrue();
    assertThat(both.again()).isSameAs(single);
    assertThat(answers).containsExactly("recorded");

    both.read(new FakeReply(0, numbers(3, new long[] {-1, 0, 0, 0, 0}, numbers(0, GONE))));
    assertThat(both.again()).isSameAs(both);
    assertThat(answers).hasSize(1);
  }

  @Test
  void closedStore_failsWhatWaits() {
    Binding binding = binding(Consistency.STRICT);
    request(binding, 7);
    last(shards[0], 1).answer(numbers(0, GONE));
    store.close();
    assertThat(reason(0)).isEqualTo(Reason.UNCERTAIN);
  }
}
