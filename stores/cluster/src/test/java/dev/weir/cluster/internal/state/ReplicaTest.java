package dev.weir.cluster.internal.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.Algorithm;
import dev.weir.Charges.Role;
import dev.weir.Fingerprint;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.state.Entries.Charge;
import dev.weir.cluster.internal.state.Entries.Op;
import dev.weir.shared.Result;
import dev.weir.testkit.FakeTicker;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReplicaTest {
  private final Replica replica = replica(Runnable::run);
  private long index;

  private static Replica replica(Executor imaging) {
    Replica replica =
        new Replica(
            Fingerprint.seeded(1, 2), new ClusterTime(new FakeTicker()), imaging, line -> {});
    assertThat(replica.apply(0, Entry.level(Levels.SEATS))).isNotEmpty();
    return replica;
  }

  private ClusterReply apply(long nowNanos, Op operation) {
    return apply(replica, nowNanos, operation);
  }

  private ClusterReply apply(Replica to, long nowNanos, Op operation) {
    byte[] entry = Entries.entry(operation);
    Entry.stamp(entry, nowNanos);
    return new ClusterReply(to.apply(++index, entry));
  }

  private static ClusterPolicy ten(Algorithm algorithm) {
    return ClusterPolicy.of("ten", Policies.of(algorithm, 10, 10 * Policies.SECOND));
  }

  /** Permits that were admitted elsewhere count, even if not all of them fit any more. */
  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void recordThatDoesNotFit_leavesNothing(Algorithm algorithm) {
    ClusterPolicy ten = ten(algorithm);
    assertThat(apply(0, Entries.record(ten, 7, 6)).result().remaining()).isEqualTo(4);
    Result second = apply(0, Entries.record(ten, 7, 6)).result();
    assertThat(second.remaining()).isZero();
    ClusterReply asked = apply(0, Entries.decideOne(ten, 7, 1, 1));
    assertThat(asked.number()).isZero();
    assertThat(asked.result().retryAfterNanos()).isPositive();
  }

  @Test
  void someFit_asManyAreCharged() {
    ClusterPolicy ten = ten(Algorithm.SLIDING_WINDOW_LOG);
    ClusterReply reply = apply(0, Entries.decideOne(ten, 7, 3, 5));
    assertThat(reply.number()).isEqualTo(3);
    Result result = reply.result();
    assertThat(result.remaining()).isEqualTo(1);
    assertThat(result.retryAfterNanos()).isEqualTo(10 * Policies.SECOND);
  }

  @Test
  void refund_givesBackWhatWasCharged() {
    ClusterPolicy ten = ten(Algorithm.SLIDING_WINDOW_LOG);
    Result charged = result(apply(5_000, Entries.decideOne(ten, 7, 4, 1)));
    Op refund =
        Entries.refund(ten, 7, 3, charged.atNanos(), charged.atNanos() + charged.resetAfterNanos());
    assertThat(apply(Policies.SECOND, refund).number()).isEqualTo(3);
    assertThat(result(apply(Policies.SECOND, Entries.decideOne(ten, 7, 0, 1))).remaining())
        .isEqualTo(9);
    assertThat(apply(Policies.SECOND, Entries.reset(ten, 7)).number()).isEqualTo(1);
    assertThat(apply(Policies.SECOND, Entries.reset(ten, 7)).number()).isZero();
  }

  private static ClusterPolicy seats(long permits) {
    return ClusterPolicy.of(
        "seats", Policies.of(Algorithm.CONCURRENCY, permits, 10 * Policies.SECOND));
  }

  private boolean renew(ClusterPolicy policy, Result seat, long nowNanos) {
    return apply(nowNanos, Entries.renew(policy, 7, seat.atNanos())).number() == 1;
  }

  /** The instants are whole microseconds, by which processes tell the store's from their own. */
  @Test
  void seatsOfOneInstant_areKnownByInstantsOfTheirOwn() {
    ClusterPolicy seats = seats(2);
    Result first = result(apply(5_000, Entries.decideOne(seats, 7, 1, 1)));
    Result second = result(apply(5_000, Entries.decideOne(seats, 7, 1, 1)));
    assertThat(List.of(first.atNanos(), second.atNanos())).containsExactly(5_000L, 6_000L);
    assertThat(apply(5_000, Entries.decideOne(seats, 7, 1, 1)).number()).isZero();
    Op back = Entries.refund(seats, 7, 1, first.atNanos(), first.resetNanos());
    assertThat(apply(7_000, back).number()).isEqualTo(1);
    assertThat(apply(7_000, back).number()).as("twice").isZero();
    assertThat(renew(seats, first, 7_000)).isFalse();
    assertThat(renew(seats, second, 5 * Policies.SECOND)).isTrue();
    assertThat(apply(10 * Policies.SECOND + 6_000, Entries.decideOne(seats, 7, 2, 1)).number())
        .as("it is renewed")
        .isZero();
    assertThat(renew(seats, second, 15 * Policies.SECOND)).as("too late").isFalse();
    assertThat(apply(15 * Policies.SECOND, Entries.decideOne(seats, 7, 2, 1)).number())
        .isEqualTo(1);
  }

  @Test
  void imageBegunBeforeARenewal_doesNotHaveIt() throws Exception {
    List<Runnable> writing = new ArrayList<>();
    Replica imaged = replica(writing::add);
    ClusterPolicy seats = seats(1);
    Result seat = result(apply(imaged, 0, Entries.decideOne(seats, 7, 1, 1)));
    ByteArrayOutputStream image = new ByteArrayOutputStream();
    CompletionStage<?> written = imaged.image(image);
    Op renewal = Entries.renew(seats, 7, seat.atNanos());
    assertThat(apply(imaged, 5 * Policies.SECOND, renewal).number()).isEqualTo(1);
    writing.forEach(Runnable::run);
    assertThat(written).isCompleted();
    replica.restore(new ByteArrayInputStream(image.toByteArray()));
    assertThat(apply(10 * Policies.SECOND, Entries.decideOne(seats, 7, 1, 1)).number())
        .isEqualTo(1);
  }

  /** A replica of an older version finds the same: it knows neither the policy nor the kind. */
  @Test
  void seatsBelowTheirLevel_makeNoSense_andChangeNothing() throws Exception {
    Replica below =
        new Replica(
            Fingerprint.seeded(1, 2), new ClusterTime(new FakeTicker()), Runnable::run, line -> {});
    ClusterPolicy rate = ten(Algorithm.SLIDING_WINDOW_LOG);
    ByteArrayOutputStream before = new ByteArrayOutputStream();
    assertThat(below.image(before)).isCompleted();
    for (Op each :
        List.of(
            Entries.decideOne(seats(1), 7, 1, 1),
            Entries.decideOne(seats(1).variant(seats(2).policy()), 7, 1, 1),
            Entries.renew(rate, 7, 0))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> below.apply(1, Entries.entry(Entries.decideOne(rate, 7, 1, 1), each)))
          .withMessage("seats at level 1 (expected: at least 3)");
    }
    ByteArrayOutputStream after = new ByteArrayOutputStream();
    assertThat(below.image(after)).isCompleted();
    assertThat(after.toByteArray()).isEqualTo(before.toByteArray());
    assertThat(below.apply(1, Entry.level(Levels.SEATS))).isNotEmpty();
    assertThat(apply(below, 0, Entries.decideOne(seats(1), 7, 1, 1)).number()).isEqualTo(1);
  }

  /** The log goes on behind an image with the refund, which must not count twice. */
  @Test
  void imageBegunBeforeARefund_doesNotHaveIt() throws Exception {
    List<Runnable> writing = new ArrayList<>();
    Replica imaged = replica(writing::add);
    ClusterPolicy ten = ten(Algorithm.SLIDING_WINDOW_LOG);
    Result charged = result(apply(imaged, 5_000, Entries.decideOne(ten, 7, 4, 1)));
    ByteArrayOutputStream image = new ByteArrayOutputStream();
    CompletionStage<?> written = imaged.image(image);
    Op refund = Entries.refund(ten, 7, 3, charged.atNanos(), charged.resetNanos());
    assertThat(apply(imaged, 6_000, refund).number()).isEqualTo(3);
    writing.forEach(Runnable::run);
    assertThat(written).isCompleted();

    replica.restore(new ByteArrayInputStream(image.toByteArray()));
    assertThat(result(apply(6_000, Entries.decideOne(ten, 7, 0, 1))).remaining()).isEqualTo(6);
    assertThat(apply(6_000, refund).number()).isEqualTo(3);
    assertThat(result(apply(6_000, Entries.decideOne(ten, 7, 0, 1))).remaining()).isEqualTo(9);
  }

  @Test
  void imageBegunBeforeAnyChange_doesNotHaveIt() throws Exception {
    ClusterPolicy ten = ten(Algorithm.SLIDING_WINDOW_LOG);
    List<Op> changes =
        List.of(
            Entries.decideOne(ten, 7, 3, 1),
            Entries.decideMany(false, new Charge(ten, 7, 3, Role.REQUIRED)),
            Entries.record(ten, 7, 3),
            Entries.reset(ten, 7));
    for (Op change : changes) {
      List<Runnable> writing = new ArrayList<>();
      Replica imaged = replica(writing::add);
      assertThat(result(apply(imaged, 5_000, Entries.decideOne(ten, 7, 4, 1))).fits()).isTrue();
      ByteArrayOutputStream image = new ByteArrayOutputStream();
      CompletionStage<?> written = imaged.image(image);
      ClusterReply unused = apply(imaged, 6_000, change);
      writing.forEach(Runnable::run);
      assertThat(written).isCompleted();
      replica.restore(new ByteArrayInputStream(image.toByteArray()));
      assertThat(result(apply(6_000, Entries.decideOne(ten, 7, 0, 1))).remaining())
          .as("%s", change)
          .isEqualTo(6);
    }
  }

  /** A leader that reads while a bundle of two is applied must not seem to differ from itself. */
  @Test
  void ticksOfOneEntry_areComparedByTheFirst() {
    replica.apply(5, tick());
    byte[] seenMeanwhile = tick();
    replica.apply(5, tick());
    assertThat(tick()).isEqualTo(seenMeanwhile);
    replica.apply(6, seenMeanwhile);
    assertThat(replica.diverged()).isFalse();
  }

  private byte[] tick() {
    return Entry.tick(replica.lastTick().index(), replica.lastTick().sum());
  }

  private static Result result(ClusterReply reply) {
    long unused = reply.number();
    return reply.result();
  }
}
