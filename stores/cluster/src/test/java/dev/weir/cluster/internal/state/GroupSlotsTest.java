package dev.weir.cluster.internal.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Charges.Role;
import dev.weir.Fingerprint;
import dev.weir.Reason;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.Placement;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.state.Entries.Charge;
import dev.weir.cluster.internal.state.Entries.Op;
import dev.weir.cluster.internal.state.GroupSlots.Phase;
import dev.weir.cluster.internal.state.SlotEntry.State;
import dev.weir.cluster.internal.state.SlotEntry.Verb;
import dev.weir.shared.Result;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Slots that move between the state machines of two groups. */
class GroupSlotsTest {
  private static final int SLOT = 7;
  private static final long KEY = 7L << Placement.SHIFT | 5;
  private static final long OTHER_KEY = 8L << Placement.SHIFT;
  private static final ClusterPolicy TEN = ten(Algorithm.SLIDING_WINDOW_LOG);

  private final Group a = new Group(true);
  private final Group b = new Group(false);

  private static ClusterPolicy ten(Algorithm algorithm) {
    return ClusterPolicy.of("ten", Policies.of(algorithm, 10, 10 * Policies.SECOND));
  }

  /** A group whose log has its own time, beside a second replica that is started from images. */
  private static final class Group {
    private final Replica first;
    private Replica second;
    private final boolean all;
    private long index;

    Group(boolean all) {
      this.all = all;
      first = replica();
      second = replica();
    }

    private Replica replica() {
      return new Replica(
          Fingerprint.seeded(1, 2),
          new GroupSlots(slot -> all),
          new ClusterTime(new FakeTicker()),
          Runnable::run,
          line -> {});
    }

    byte[] apply(long now, byte[] entry) {
      Entry.stamp(entry, now);
      byte[] reply = first.apply(++index, entry.clone());
      assertThat(second.apply(index, entry)).isEqualTo(reply);
      return reply;
    }

    State apply(long now, SlotEntry entry) {
      return State.read(apply(now, entry.toEntry()));
    }

    State apply(long now, Verb verb, long epoch) {
      return apply(now, SlotEntry.of(verb, SLOT, epoch));
    }

    ClusterReply apply(long now, Op... operations) {
      return new ClusterReply(apply(now, Entries.entry(operations)));
    }

    Result one(long now, ClusterPolicy policy, long key, long permits) {
      ClusterReply reply = apply(now, Entries.decideOne(policy, key, permits, 1));
      long unused = reply.number();
      return reply.result();
    }

    byte[] lifted(long epoch) {
      return Objects.requireNonNull(first.slots().lifted(SLOT, epoch));
    }

    void restartSecond(Path file) throws IOException {
      first.image(file).toCompletableFuture().join();
      second = replica();
      second.restore(file);
    }
  }

  private static State install(Group into, long now, long epoch, byte[] lifted, int from, int to) {
    byte[] chunk = Arrays.copyOfRange(lifted, from, to);
    return into.apply(now, SlotEntry.install(SLOT, epoch, chunk, from, lifted.length));
  }

  /** Moves the slot by the protocol. */
  private static void move(Group from, long then, Group to, long now, long epoch) {
    State frozen = from.apply(then, Verb.FREEZE, epoch);
    assertThat(frozen.phase()).isEqualTo(Phase.FROZEN);
    byte[] lifted = from.lifted(epoch);
    int half = lifted.length / 2;
    install(to, now, epoch, lifted, 0, half);
    install(to, now, epoch, lifted, half, lifted.length);
    State active =
        to.apply(now, SlotEntry.activate(SLOT, epoch, frozen.crc(), frozen.refundsAfterNanos()));
    assertThat(active.phase()).isEqualTo(Phase.OWNED);
    assertThat(from.apply(then, Verb.DROP, epoch).phase()).isEqualTo(Phase.AWAY);
  }

  @Test
  void movedSlot_isDecidedByTheOtherGroup_withWhatItHasUsed() {
    assertThat(a.one(0, TEN, KEY, 7).fits()).isTrue();
    assertThat(b.one(0, TEN, KEY, 1).reason()).isEqualTo(Reason.UNCERTAIN);
    move(a, 5 * Policies.SECOND, b, 99 * Policies.SECOND, 3);

    Result left = a.one(6 * Policies.SECOND, TEN, KEY, 1);
    assertThat(left.reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(a.one(6 * Policies.SECOND, TEN, OTHER_KEY, 1).fits()).isTrue();
    assertThat(b.one(99 * Policies.SECOND, TEN, KEY, 4).fits()).isFalse();
    assertThat(b.one(99 * Policies.SECOND, TEN, KEY, 3).fits()).isTrue();
    assertThat(b.one(103_999 * Policies.MILLI, TEN, KEY, 1).fits()).isFalse();
    assertThat(b.one(104 * Policies.SECOND, TEN, KEY, 7).fits()).isTrue();
  }

  /** Operations for other slots are answered separately; a request is one step. */
  @Test
  void entryOverSeveralSlots_isAnsweredInParts() {
    a.apply(0, Verb.FREEZE, 1);
    ClusterReply reply =
        a.apply(
            0,
            Entries.decideOne(TEN, KEY, 1, 1),
            Entries.decideMany(
                false,
                new Charge(TEN, OTHER_KEY, 1, Role.REQUIRED),
                new Charge(TEN, KEY, 1, Role.REQUIRED)),
            Entries.record(TEN, KEY, 1),
            Entries.refund(TEN, KEY, 1, 0, 1),
            Entries.reset(TEN, KEY),
            Entries.decideOne(TEN, OTHER_KEY, 10, 1));
    assertThat(reply.number()).isZero();
    assertThat(reply.result().reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(reply.number()).isZero();
    assertThat(reply.result().reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(reply.result().reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(reply.result().reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(reply.number()).isZero();
    assertThat(reply.number()).isEqualTo(ClusterReply.RESET_MOVED);
    assertThat(reply.number()).as("nothing of the other key was charged").isEqualTo(1);
  }

  @Test
  void chargesFromBeforeTheMove_areNotGivenBack() {
    Result before = a.one(50 * Policies.SECOND, TEN, KEY, 4);
    move(a, 51 * Policies.SECOND, b, 5 * Policies.SECOND, 1);
    long reset = before.atNanos() + before.resetAfterNanos();
    assertThat(
            b.apply(6 * Policies.SECOND, Entries.refund(TEN, KEY, 4, before.atNanos(), reset))
                .number())
        .isZero();
    Result after = b.one(52 * Policies.SECOND, TEN, KEY, 4);
    reset = after.atNanos() + after.resetAfterNanos();
    assertThat(
            b.apply(53 * Policies.SECOND, Entries.refund(TEN, KEY, 4, after.atNanos(), reset))
                .number())
        .isEqualTo(4);
  }

  /**
   * The clocks of two groups have nothing in common, so an instant of one may be of the other too.
   */
  @Test
  void chargeFromBeforeTheMove_isNotTakenForOneOfTheSameInstantHere() {
    Result before = a.one(50 * Policies.SECOND, TEN, KEY, 4);
    move(a, 51 * Policies.SECOND, b, 5 * Policies.SECOND, 1);
    assertThat(b.one(before.atNanos(), TEN, KEY, 4).fits()).isTrue();
    long reset = before.atNanos() + before.resetAfterNanos();
    assertThat(
            b.apply(51 * Policies.SECOND, Entries.refund(TEN, KEY, 4, before.atNanos(), reset))
                .number())
        .isZero();
  }

  /** Its renewal is refused, and nobody else has it before the hold is over. */
  @Test
  void seatFromBeforeTheMove_isNeitherRenewedNorGivenBack_andFreeAfterTheHold() {
    a.apply(0, Entry.level(Levels.SEATS));
    b.apply(0, Entry.level(Levels.SEATS));
    ClusterPolicy seats = ten(Algorithm.CONCURRENCY);
    Result before = a.one(50 * Policies.SECOND, seats, KEY, 10);
    Op renewal = Entries.renew(seats, KEY, before.atNanos());
    assertThat(a.apply(52 * Policies.SECOND, renewal).number()).isEqualTo(1);
    move(a, 53 * Policies.SECOND, b, 5 * Policies.SECOND, 1);
    assertThat(a.apply(53 * Policies.SECOND, renewal).number()).as("it is elsewhere").isZero();
    assertThat(b.apply(6 * Policies.SECOND, renewal).number()).isZero();
    Op back = Entries.refund(seats, KEY, 10, before.atNanos(), before.resetNanos());
    assertThat(b.apply(6 * Policies.SECOND, back).number()).isZero();
    assertThat(b.one(13_999 * Policies.MILLI, seats, KEY, 1).fits()).isFalse();
    Result after = b.one(14_001 * Policies.MILLI, seats, KEY, 10);
    assertThat(after.fits()).isTrue();
    assertThat(after.atNanos()).as("an instant of the other log too").isLessThan(before.atNanos());
    assertThat(b.apply(15 * Policies.SECOND, Entries.renew(seats, KEY, after.atNanos())).number())
        .isEqualTo(1);
    Op given = Entries.refund(seats, KEY, 10, after.atNanos(), after.resetNanos());
    assertThat(b.apply(16 * Policies.SECOND, given).number()).isEqualTo(10);
  }

  /** The clocks of two groups have nothing in common: two seats may be taken at one instant. */
  @Test
  void seatFromBeforeTheMove_isNotTakenForOneOfTheSameInstantHere() {
    a.apply(0, Entry.level(Levels.SEATS));
    b.apply(0, Entry.level(Levels.SEATS));
    ClusterPolicy seats = ten(Algorithm.CONCURRENCY);
    long instant = 50 * Policies.SECOND;
    Result before = a.one(instant, seats, KEY, 5);
    move(a, 51 * Policies.SECOND, b, 5 * Policies.SECOND, 1);
    Result here = b.one(instant, seats, KEY, 5);
    Op old = Entries.refund(seats, KEY, 5, before.atNanos(), before.resetNanos());
    assertThat(b.apply(instant, old).number()).isZero();
    assertThat(b.apply(instant, Entries.renew(seats, KEY, before.atNanos())).number()).isZero();
    assertThat(b.apply(instant, Entries.renew(seats, KEY, here.atNanos())).number()).isEqualTo(1);
    move(b, 52 * Policies.SECOND, a, 52 * Policies.SECOND, 2);
    assertThat(a.apply(instant, Entries.renew(seats, KEY, before.atNanos())).number()).isZero();
    assertThat(a.apply(instant, Entries.renew(seats, KEY, here.atNanos())).number()).isZero();
  }

  @Test
  void commandsThatComeLate_changeNothing() {
    State frozen = a.apply(0, Verb.FREEZE, 4);
    byte[] lifted = a.lifted(4);
    install(b, 0, 4, lifted, 0, lifted.length);
    assertThat(b.apply(0, Verb.ABORT, 4).phase()).isEqualTo(Phase.AWAY);
    assertThat(install(b, 0, 4, lifted, 0, lifted.length).phase()).isEqualTo(Phase.AWAY);
    assertThat(b.apply(0, SlotEntry.activate(SLOT, 4, frozen.crc(), 0)).phase())
        .isEqualTo(Phase.AWAY);
    assertThat(a.apply(0, Verb.THAW, 4).phase()).as("no later epoch").isEqualTo(Phase.FROZEN);
    assertThat(a.apply(0, Verb.THAW, 5).phase()).isEqualTo(Phase.OWNED);
    assertThat(a.apply(0, Verb.FREEZE, 4).phase()).isEqualTo(Phase.OWNED);
    assertThat(a.apply(0, Verb.DROP, 4).phase()).isEqualTo(Phase.OWNED);
    move(a, 0, b, 0, 6);
    assertThat(b.apply(0, Verb.ABORT, 6).phase()).isEqualTo(Phase.OWNED);
    assertThat(a.apply(0, Verb.THAW, 7).phase()).isEqualTo(Phase.AWAY);
    assertThat(a.apply(0, Verb.FREEZE, 8).phase()).isEqualTo(Phase.AWAY);
    move(b, 0, a, 0, 9);
    assertThat(b.apply(0, SlotEntry.activate(SLOT, 6, frozen.crc(), 0)).phase())
        .isEqualTo(Phase.AWAY);
    assertThat(a.apply(0, Verb.DROP, 6).phase()).isEqualTo(Phase.OWNED);
  }

  @Test
  void slotIsNotActive_beforeAllOfItCame() {
    assertThat(a.one(0, TEN, KEY, 7).fits()).isTrue();
    State frozen = a.apply(0, Verb.FREEZE, 1);
    byte[] lifted = a.lifted(1);
    SlotEntry activate = SlotEntry.activate(SLOT, 1, frozen.crc(), 0);
    assertThat(b.apply(0, activate).phase()).isEqualTo(Phase.AWAY);
    install(b, 0, 1, lifted, 0, 9);
    assertThat(install(b, 0, 1, lifted, 0, 9).size()).as("twice").isEqualTo(9);
    assertThat(install(b, 0, 1, lifted, 10, 12).size()).as("a gap").isEqualTo(9);
    assertThat(b.apply(0, activate).phase()).isEqualTo(Phase.ARRIVING);
    install(b, 0, 1, lifted, 9, lifted.length);
    assertThat(b.apply(0, SlotEntry.activate(SLOT, 1, frozen.crc() + 1, 0)).phase())
        .isEqualTo(Phase.ARRIVING);
    assertThat(b.one(0, TEN, KEY, 1).reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(b.apply(0, activate).phase()).isEqualTo(Phase.OWNED);
    assertThat(b.apply(0, activate).phase()).as("twice").isEqualTo(Phase.OWNED);
    assertThat(b.one(0, TEN, KEY, 4).fits()).isFalse();
  }

  @Test
  void thawedSlot_goesOnAsIfNothingHadHappened() {
    assertThat(a.one(0, TEN, KEY, 7).fits()).isTrue();
    a.apply(Policies.SECOND, Verb.FREEZE, 1);
    assertThat(b.apply(0, Verb.ABORT, 1).epoch()).isEqualTo(1);
    a.apply(5 * Policies.SECOND, Verb.THAW, 2);
    assertThat(a.one(9 * Policies.SECOND, TEN, KEY, 4).fits()).isFalse();
    assertThat(a.one(10 * Policies.SECOND, TEN, KEY, 10).fits()).isTrue();
  }

  @Test
  void damagedEntry_isRefusedWhole() {
    byte[] lifted = new byte[20];
    byte[] entry = SlotEntry.install(SLOT, 1, lifted, 0, 40).toEntry();
    for (int length = Ledger.STAMP_BYTES + 1; length < entry.length; length++) {
      byte[] cut = Arrays.copyOf(entry, length);
      assertThatThrownBy(() -> b.first.apply(1, cut)).isInstanceOf(IllegalArgumentException.class);
    }
    byte[] tooMuch = SlotEntry.install(SLOT, 1, lifted, 30, 40).toEntry();
    assertThatThrownBy(() -> b.first.apply(1, tooMuch))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(b.apply(0, Verb.ABORT, 0).phase()).isEqualTo(Phase.AWAY);
  }

  /** Back and forth, over logs whose times differ, with replicas that start from images. */
  @Tag("model")
  @Tag("sample")
  @ParameterizedTest
  @EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
  void movesAtAnyTime_exceedNoLimit(Algorithm algorithm, @TempDir Path folder) throws IOException {
    int runs = Trials.runs(8, 30);
    SplittableRandom random = Trials.random("slots of " + algorithm, runs);
    int files = 0;
    for (int trial = 0; trial < runs; trial++) {
      ClusterPolicy policy = ten(algorithm);
      Group from = new Group(true);
      Group to = new Group(false);
      long fromAhead = random.nextLong(100) * Policies.SECOND / 7;
      long toAhead = random.nextLong(100) * Policies.SECOND / 7;
      long real = 0;
      long epoch = 0;
      List<Operation> admitted = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        real += random.nextLong(random.nextInt(5) == 0 ? 8 * Policies.SECOND : Policies.SECOND);
        if (random.nextInt(15) == 0) {
          long then = real + fromAhead;
          real += random.nextLong(Policies.SECOND);
          if (random.nextInt(4) == 0) {
            from.apply(then, Verb.FREEZE, ++epoch);
            install(to, real + toAhead, epoch, from.lifted(epoch), 0, 5);
            to.restartSecond(folder.resolve("image-" + files++));
            from.restartSecond(folder.resolve("image-" + files++));
            to.apply(real + toAhead, Verb.ABORT, epoch);
            from.apply(real + fromAhead, Verb.THAW, ++epoch);
          } else {
            move(from, then, to, real + toAhead, ++epoch);
            Group had = from;
            from = to;
            to = had;
            long ahead = fromAhead;
            fromAhead = toAhead;
            toAhead = ahead;
          }
          from.restartSecond(folder.resolve("image-" + files++));
        }
        long permits = random.nextLong(1, 6);
        if (from.one(real + fromAhead, policy, KEY, permits).fits()) {
          admitted.add(Operation.admitted("key", permits, real));
        }
      }
      assertThat(admitted).hasSizeGreaterThan(20);
      assertThat(WindowChecker.maxInAnyWindow(admitted, 10 * Policies.SECOND))
          .as("trial %d", trial)
          .isLessThanOrEqualTo(Oracle.bound(Policies.of(algorithm, 10, 10 * Policies.SECOND)));
    }
  }
}
