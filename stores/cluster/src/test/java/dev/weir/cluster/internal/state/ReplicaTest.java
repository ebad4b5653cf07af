package dev.weir.cluster.internal.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Charges.Role;
import dev.weir.Fingerprint;
import dev.weir.cluster.Policies;
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
    return new Replica(
        Fingerprint.seeded(1, 2), new ClusterTime(new FakeTicker()), imaging, line -> {});
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
