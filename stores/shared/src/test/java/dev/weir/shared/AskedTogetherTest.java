package dev.weir.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.shared.FakeCall.Request;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Requests of one batch, and those that a thread makes together: they go to their shards in one
 * call each, as far as more calls may be in flight.
 */
class AskedTogetherTest {
  private static final long TIMEOUT_NANOS = 100_000_000L;
  private static final long NOWHERE = -1;
  private static final long[] FITS = {1, 0, 9, 0, 1_000, 0, 5_000};

  private final FakeTicker ticker = new FakeTicker();
  private final Counters counters = new Counters();
  private final StoreSettings settings =
      Settings.of(TIMEOUT_NANOS, ticker, line -> {}, line -> {}, counters);
  private final FakeShard[] shards = {new FakeShard(), new FakeShard()};
  private final Parted link = new Parted();
  private final SharedStore store = new SharedStore(settings, link, new NoTime()) {};
  private final Binding binding = binding();
  private final List<Batch> answered = new ArrayList<>();
  private final List<Charges> decided = new ArrayList<>();

  /** A link to one shard with all keys, or to two with the even and the odd ones. */
  private final class Parted extends FakeLink {
    private boolean parted;

    Parted() {
      super(settings, shards);
    }

    @Override
    public int slot(SharedBinding binding, long fingerprint) {
      return parted ? (int) (fingerprint & 1) : 0;
    }

    /** Returns no caller for one of the keys, which is on no shard. */
    @Override
    public @Nullable Caller caller(SharedBinding binding, long fingerprint) {
      return fingerprint == NOWHERE ? null : super.caller(binding, fingerprint);
    }
  }

  /** Housekeeping that never runs: calls are sent only by requests and by replies. */
  private static final class NoTime implements Housekeeping {
    @Override
    public void repeat(LongSupplier task) {}

    @Override
    public void wake() {}

    @Override
    public void close() {}
  }

  private Binding binding() {
    link.tick();
    for (FakeShard each : shards) {
      each.probes.forEach(probe -> probe.complete(FakeShard.fine()));
    }
    return store.bind("ten", Policy.of(Quota.of(10, Duration.ofSeconds(1))), 0);
  }

  private void request(long... keys) {
    Batch batch = new Batch(keys.length).detailed();
    for (long key : keys) {
      batch.add(binding, key, 1);
    }
    store.decide(batch, 0, answered::add);
  }

  private static long[] fits(List<Request> requests) {
    return requests.stream().flatMapToLong(each -> LongStream.of(FITS)).toArray();
  }

  private static List<Integer> sizes(FakeShard shard) {
    return shard.calls.stream().map(each -> each.requests().size()).toList();
  }

  @Test
  void batch_isOneCall_andTheNextOneIsTheSecond() {
    request(1, 2, 3, 4, 5);
    assertThat(sizes(shards[0])).containsExactly(5);
    request(6, 7, 8);
    assertThat(sizes(shards[0])).containsExactly(5, 3);

    shards[0].calls.forEach(each -> each.answer(fits(each.requests())));

    assertThat(answered).extracting(Batch::size).containsExactly(5, 3);
    assertThat(answered).allSatisfy(batch -> assertThat(batch.allowed(2)).isTrue());
  }

  @Test
  void batchOfTwoShards_isOneCallEach() {
    link.parted = true;
    request(1, 2, 3, 4, 5);
    assertThat(sizes(shards[0])).containsExactly(2);
    assertThat(sizes(shards[1])).containsExactly(3);
  }

  @Test
  void oneRequestAlone_isSentAtOnce() {
    request(1);
    assertThat(sizes(shards[0])).containsExactly(1);
  }

  @Test
  void whileAsManyCallsAreUnderWayAsMayBe_batchesShareTheNext() {
    request(1);
    request(2);
    request(3, 4, 5);
    request(6, 7);
    assertThat(sizes(shards[0])).containsExactly(1, 1);

    shards[0].calls.get(0).answer(FITS);

    assertThat(sizes(shards[0])).containsExactly(1, 1, 5);
  }

  /** The first batch is answered within the round that sends it. */
  @Test
  void batchThatIsAskedByTheAnswerToAnother_isSentToo() {
    shards[0].answers = AskedTogetherTest::fits;

    store.decide(new Charges().add(binding, 1, 1), 0, decided -> request(3, 4, 5));

    assertThat(answered).extracting(Batch::size).containsExactly(3);
    assertThat(sizes(shards[0])).containsExactly(1, 3);
  }

  private void one(long key) {
    store.decide(new Charges().add(binding, key, 1), 0, decided::add);
  }

  @Test
  void requestsThatAThreadAsksTogether_areOneCall_inTheirOrder() {
    long[] keys = LongStream.rangeClosed(1, 64).toArray();
    store.together(
        () -> {
          LongStream.of(keys).forEach(this::one);
          assertThat(shards[0].calls).isEmpty();
        });
    assertThat(sizes(shards[0])).containsExactly(64);

    shards[0].calls.get(0).answer(fits(shards[0].calls.get(0).requests()));

    assertThat(decided).allMatch(Charges::allowed);
    assertThat(decided).extracting(each -> each.fingerprint(0)).containsExactly(boxed(keys));
  }

  private static Long[] boxed(long[] keys) {
    return LongStream.of(keys).boxed().toArray(Long[]::new);
  }

  @Test
  void togetherWithinTogether_isSentAtTheOuterEnd() {
    store.together(
        () -> {
          one(1);
          store.together(
              () -> {
                one(2);
                request(3, 4);
              });
          one(5);
          assertThat(shards[0].calls).isEmpty();
        });
    assertThat(sizes(shards[0])).containsExactly(5);
  }

  @Test
  void whatIsAskedTogether_isSentIfTheCallerFails_andTheNextAtOnce() {
    assertThatThrownBy(
            () ->
                store.together(
                    () -> {
                      one(1);
                      one(2);
                      throw new IllegalStateException("a request makes no sense");
                    }))
        .hasMessage("a request makes no sense");
    assertThat(sizes(shards[0])).containsExactly(2);
    one(3);
    assertThat(sizes(shards[0])).containsExactly(2, 1);
  }

  @Test
  void requestsOfOtherThreads_doNotWaitForThoseAskedTogether() {
    store.together(
        () -> {
          one(1);
          CompletableFuture.runAsync(() -> request(2)).join();
          assertThat(sizes(shards[0])).containsExactly(1);
          one(3);
        });
    assertThat(sizes(shards[0])).containsExactly(1, 2);
  }

  @Test
  void requestThatCannotBeAsked_andItsCallerThatFails_disturbNoOther() {
    assertThatThrownBy(
            () ->
                store.together(
                    () -> {
                      one(1);
                      store.decide(
                          new Charges().add(binding, NOWHERE, 1),
                          0,
                          refused -> {
                            decided.add(refused);
                            throw new IllegalStateException("the client is gone");
                          });
                      one(2);
                    }))
        .hasMessage("the client is gone");
    assertThat(decided).singleElement().matches(refused -> !refused.allowed());
    assertThat(sizes(shards[0])).containsExactly(2);
    assertThat(counters.failures()).containsEntry("moved", 1L);
  }

  /** Of ten permits: 4, 3, a refusal of 4, and 3. */
  @Test
  void requestsForOneKey_askedTogether_keepTheirOrder() {
    store.together(
        () -> {
          for (long permits : new long[] {4, 3, 4, 3}) {
            store.decide(new Charges().add(binding, 1, permits), 0, decided::add);
          }
        });
    assertThat(shards[0].calls.get(0).requests())
        .containsExactly(some(1, 4, 1), some(1, 3, 1), some(1, 4, 1), some(1, 3, 1));
  }

  private static Request some(long key, long permits, long count) {
    return new Request("some", key, permits, count, 0);
  }

  private void askForKey1(long... permits) {
    Batch batch = new Batch(permits.length).detailed();
    for (long each : permits) {
      batch.add(binding, 1, each);
    }
    store.decide(batch, 0, answered::add);
  }

  /**
   * Of ten permits: 4, 3, a refusal of 4, and 3. It would be eight if both requests for 4 were
   * decided first.
   */
  @Test
  void requestsForOneKey_areDecidedInTheirOrder() {
    askForKey1(4, 3, 4, 3);
    assertThat(shards[0].calls.get(0).requests())
        .containsExactly(some(1, 4, 1), some(1, 3, 1), some(1, 4, 1), some(1, 3, 1));
  }

  @Test
  void equalRequestsForOneKey_thatFollowEachOther_areOne() {
    askForKey1(2, 2, 0, 2, 2, 2);
    assertThat(shards[0].calls.get(0).requests())
        .containsExactly(some(1, 2, 2), some(1, 0, 1), some(1, 2, 3));
  }

  @Test
  void requestOverSeveralKeys_isNotOvertaken() {
    request(8);
    request(9);
    Binding other = store.bind("other", Policy.of(Quota.of(10, Duration.ofSeconds(1))), 0);
    askForKey1(2);
    store.decide(new Charges().add(other, 2, 1).add(binding, 1, 1), 0, decided -> {});
    askForKey1(2);

    shards[0].calls.get(0).answer(FITS);

    assertThat(shards[0].calls.get(2).requests())
        .extracting(Request::kind)
        .containsExactly("some", "many", "charge", "charge", "some");
  }

  @Test
  void callThatFailsAtOnce_failsItsBatch_andWhatComesAfterItIsSent() {
    shards[0].thrown = new IllegalStateException("no connection");
    request(1, 2, 3);
    assertThat(answered).singleElement().matches(batch -> !batch.allowed(0) && !batch.allowed(2));

    shards[0].thrown = null;
    request(4, 5);

    assertThat(sizes(shards[0])).containsExactly(2);
  }

  /**
   * Nothing checks waiting operations here, and no request is made until all of a round are
   * answered: a request that is not sent is never answered.
   */
  @Test
  void whicheverThreadHolds_allRequestsAreAnswered() throws Exception {
    int threads = 4;
    int rounds = 500;
    link.parted = true;
    SplittableRandom random = Trials.random("asked together", rounds);
    AtomicBoolean over = new AtomicBoolean();
    ExecutorService all = Executors.newCachedThreadPool();
    try {
      for (FakeShard each : shards) {
        all.execute(() -> answer(each, over));
      }
      for (int round = 0; round < rounds; round++) {
        CyclicBarrier begin = new CyclicBarrier(threads);
        List<CompletableFuture<Batch>> answers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
          Batch batch = atRandom(random);
          CompletableFuture<Batch> answer = new CompletableFuture<>();
          answers.add(answer);
          all.execute(() -> askAtOnce(begin, batch, answer));
        }
        for (CompletableFuture<Batch> each : answers) {
          Batch batch = each.get(60, TimeUnit.SECONDS);
          assertThat(IntStream.range(0, batch.size()).allMatch(batch::allowed)).isTrue();
        }
      }
    } finally {
      over.set(true);
      all.shutdown();
    }
  }

  private Batch atRandom(SplittableRandom random) {
    Batch batch = new Batch(4).detailed();
    for (int i = random.nextInt(4); i >= 0; i--) {
      batch.add(binding, random.nextLong(), 1);
    }
    return batch;
  }

  private void askAtOnce(CyclicBarrier begin, Batch batch, CompletableFuture<Batch> answer) {
    try {
      begin.await(60, TimeUnit.SECONDS);
      store.decide(
          batch,
          0,
          decided -> {
            if (!answer.complete(decided)) {
              answer.obtrudeException(new AssertionError("answered twice"));
            }
          });
    } catch (Exception e) {
      answer.completeExceptionally(e);
    }
  }

  /** Answers all calls of a shard as they come. */
  private static void answer(FakeShard shard, AtomicBoolean over) {
    for (int next = 0; !over.get(); ) {
      if (next < shard.calls.size()) {
        FakeShard.Sent call = shard.calls.get(next++);
        call.answer(fits(call.requests()));
      } else {
        Thread.onSpinWait();
      }
    }
  }
}
