package dev.weir.cluster.internal.asking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.weir.Algorithm;
import dev.weir.Charges.Role;
import dev.weir.Fingerprint;
import dev.weir.Reason;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.log.InstantLedger;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.operating.GroupCounters;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.state.ClusterPolicy;
import dev.weir.cluster.internal.state.ClusterReply;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.Entries;
import dev.weir.cluster.internal.state.Entries.Charge;
import dev.weir.cluster.internal.state.Entries.Op;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.GroupMachine;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.shared.Result;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class GroupLeaderTest {
  private static final Fingerprint FINGERPRINT = Fingerprint.seeded(1, 2);
  private static final long MOST = Long.MAX_VALUE;
  private static final Role[] ROLES = Role.values();
  private static final ClusterPolicy TWO =
      ClusterPolicy.of("two", Policies.of(Algorithm.SLIDING_WINDOW_LOG, 2, Policies.SECOND));

  private final FakeTicker ticker = new FakeTicker(1_000 * Policies.SECOND);
  private final ClusterTime time = new ClusterTime(ticker);
  private final GroupCounters counters = new GroupCounters(ticker);
  private final Replica replica = new Replica(FINGERPRINT, time, Runnable::run, line -> {});
  private final InstantLedger ledger =
      new InstantLedger(new GroupMachine(replica, time, counters, line -> {}), true);

  private GroupLeader leader(long maxKeys, long maxBytes) {
    return new GroupLeader(ledger, replica, time, counters, maxKeys, maxBytes);
  }

  private static byte[] request(GroupLeader leader, Op... operations) {
    return leader.decide(Entries.entry(operations)).toCompletableFuture().join();
  }

  private static Result one(GroupLeader leader, ClusterPolicy policy, long key, long permits) {
    ClusterReply reply =
        new ClusterReply(request(leader, Entries.decideOne(policy, key, permits, 1)));
    long unused = reply.number();
    return reply.result();
  }

  /**
   * Compared with a replica that gets all operations in the same order; the answers are equal byte
   * for byte.
   */
  @Test
  void sievedAndLogged_areAnsweredAsOne() {
    SplittableRandom random = Trials.random("sieved and logged");
    Replica other =
        new Replica(FINGERPRINT, new ClusterTime(new FakeTicker()), Runnable::run, line -> {});
    for (Replica each : List.of(replica, other)) {
      byte[] level = Entry.level(Levels.SEATS);
      Entry.stamp(level, time.nowNanos());
      assertThat(each.apply(0, level)).isNotEmpty();
    }
    GroupLeader leader = leader(MOST, MOST);
    List<ClusterPolicy> policies = new ArrayList<>();
    for (Algorithm algorithm : Algorithm.values()) {
      policies.add(
          ClusterPolicy.of(algorithm.text(), Policies.of(algorithm, 3, 5 * Policies.MILLI)));
    }
    long[] recent = new long[8];
    for (int i = 0; i < 5_000; i++) {
      ticker.advance(Policies.MICRO * random.nextLong(random.nextInt(8) == 0 ? 4_000 : 300));
      recent[i % recent.length] = time.nowNanos();
      long seatAt = recent[random.nextInt(recent.length)];
      byte[] entry = Entries.entry(operations(random, policies, seatAt));
      byte[] stamped = entry.clone();
      Entry.stamp(stamped, time.nowNanos());
      byte[] expected = other.apply(i, stamped);
      byte[] answered = leader.decide(entry).toCompletableFuture().join();
      assertThat(answered).as("entry %d: %s", i, Entries.read(stamped)).isEqualTo(expected);
    }
    assertThat(leader.sieved()).isGreaterThan(1_000);
    assertThat(ledger.entries).hasSizeBetween(1_000, 4_999);
  }

  /**
   * Returns operations of which no two are for one key: refusals are then decided before the rest.
   */
  private static List<Op> operations(
      SplittableRandom random, List<ClusterPolicy> policies, long seatAtNanos) {
    List<Op> operations = new ArrayList<>();
    for (int key = 1; key < 7; key++) {
      ClusterPolicy policy = policies.get(random.nextInt(policies.size()));
      Charge charge = new Charge(policy, key, random.nextLong(4), Role.REQUIRED);
      switch (random.nextInt(16)) {
        case 0, 1, 2, 3 -> operations.add(Entries.decideOne(policy, key, charge.permits(), 1));
        case 4 -> operations.add(Entries.decideOne(policy, key, 1, random.nextLong(1, 6)));
        case 5 -> operations.add(Entries.decideMany(random.nextBoolean(), charge));
        case 6 ->
            operations.add(
                Entries.decideMany(
                    false,
                    charge,
                    new Charge(policy, key, 1, ROLES[random.nextInt(ROLES.length)])));
        case 7 -> operations.add(Entries.queued(2 * Policies.MILLI, charge));
        case 8 -> operations.add(Entries.record(policy, key, charge.permits()));
        case 9 -> operations.add(Entries.reset(policy, key));
        case 10 -> operations.add(Entries.decideOne(policy, key, random.nextLong(), 1));
        case 11 -> operations.add(Entries.refund(policy, key, 1, random.nextLong(1L << 50), 0));
        case 12 -> operations.add(Entries.renew(policy, key, seatAtNanos));
        default -> {}
      }
    }
    return operations;
  }

  /** The cluster is at their level, and this group will be in a moment. */
  @Test
  void seatsBelowTheLevelOfTheGroup_areAnsweredAsMoved_andTheRestIsDecided() {
    ClusterPolicy seats =
        ClusterPolicy.of("seats", Policies.of(Algorithm.CONCURRENCY, 2, Policies.SECOND));
    GroupLeader leader = leader(MOST, MOST);
    Op[] asked = {
      Entries.decideOne(seats, 7, 1, 1),
      Entries.renew(seats, 7, 5),
      Entries.decideOne(TWO, 8, 1, 1),
      Entries.decideMany(
          false, new Charge(TWO, 7, 1, Role.REQUIRED), new Charge(seats, 7, 1, Role.REQUIRED)),
      Entries.decideOne(TWO, 9, 1, 1)
    };
    ClusterReply below = new ClusterReply(request(leader, asked));
    assertThat(below.number()).isZero();
    assertThat(below.result().isMoved()).isTrue();
    assertThat(below.number()).as("renewed").isZero();
    assertThat(below.number()).isEqualTo(1);
    assertThat(below.result().fits()).isTrue();
    assertThat(below.number()).isZero();
    assertThat(below.result().isMoved()).isTrue();
    assertThat(below.result().isMoved()).isTrue();
    assertThat(below.number()).isEqualTo(1);
    assertThat(below.result().fits()).isTrue();
    assertThat(request(leader, asked[0])).as("alone").isNotEmpty();

    assertThat(replica.apply(0, Entry.level(Levels.SEATS))).isNotEmpty();
    ClusterReply above = new ClusterReply(request(leader, asked[0]));
    assertThat(above.number()).isEqualTo(1);
  }

  @Test
  void refusal_isNotLogged() {
    GroupLeader leader = leader(MOST, MOST);
    assertThat(one(leader, TWO, 7, 1).reason()).isEqualTo(Reason.WITHIN_LIMIT);
    assertThat(one(leader, TWO, 7, 1).reason()).isEqualTo(Reason.WITHIN_LIMIT);
    int logged = ledger.entries.size();
    ticker.advance(400 * Policies.MILLI);
    Result refused = one(leader, TWO, 7, 1);
    assertThat(refused.reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(refused.retryAfterNanos()).isEqualTo(600 * Policies.MILLI);
    assertThat(ledger.entries).hasSize(logged);
    assertThat(leader.sieved()).isEqualTo(1);
    ticker.advance(600 * Policies.MILLI);
    assertThat(one(leader, TWO, 7, 1).reason()).isEqualTo(Reason.WITHIN_LIMIT);
  }

  @Test
  void fullTable_refusesNewKeys_andLetsKnownOnesOn() {
    for (boolean byBytes : new boolean[] {false, true}) {
      Replica state = new Replica(FINGERPRINT, time, Runnable::run, line -> {});
      InstantLedger log =
          new InstantLedger(new GroupMachine(state, time, counters, line -> {}), true);
      GroupLeader open = new GroupLeader(log, state, time, counters, MOST, MOST);
      assertThat(one(open, TWO, 1, 1).fits()).isTrue();
      assertThat(one(open, TWO, 2, 1).fits()).isTrue();
      GroupLeader full =
          byBytes
              ? new GroupLeader(log, state, time, counters, MOST, state.store().bytes())
              : new GroupLeader(log, state, time, counters, 2, MOST);
      Result refused = one(full, TWO, 3, 1);
      assertThat(refused.reason()).isEqualTo(Reason.KEY_SPACE_FULL);
      assertThat(refused.retryAfterNanos()).isPositive();
      ClusterPolicy unknown =
          ClusterPolicy.of("new", Policies.of(Algorithm.FIXED_WINDOW, 2, Policies.SECOND));
      assertThat(one(full, unknown, 1, 1).reason()).isEqualTo(Reason.KEY_SPACE_FULL);
      assertThat(one(full, TWO, 1, 1).fits()).as("a known key").isTrue();
      assertThat(one(full, TWO, 1, 1).reason()).isEqualTo(Reason.OVER_LIMIT);
      assertThat(one(full, TWO, 3, 0).fits()).as("no permits").isTrue();
      assertThat(one(full, unknown, 1, 0).fits()).as("no permits of an unknown rule").isTrue();
      Charge peek = new Charge(TWO, 4, 1, Role.REQUIRED);
      ClusterReply both =
          new ClusterReply(
              request(full, Entries.decideMany(true, peek), Entries.decideOne(TWO, 4, 1, 1)));
      assertThat(both.number()).as("a peek at a new key").isEqualTo(1);
      assertThat(both.result().fits()).isTrue();
      assertThat(both.number()).as("the key itself").isZero();
      assertThat(both.result().reason()).isEqualTo(Reason.KEY_SPACE_FULL);
      assertThat(state.store().keys()).isEqualTo(2);
      ticker.advance(2 * Policies.SECOND);
      log.append(Entry.tick(0, 0));
      assertThat(one(full, TWO, 3, 1).fits()).as("after the others have reset").isTrue();
    }
  }

  @Test
  void notLeading_namesWhoDoes() {
    GroupLeader leader = leader(MOST, MOST);
    ledger.leads = false;
    LedgerException why = failure(leader, Entries.entry(Entries.decideOne(TWO, 7, 1, 1)));
    assertThat(why.outcome()).isEqualTo(Outcome.NOT_LEADER);
    assertThat(why.leader()).isEqualTo("b");
    assertThat(ledger.entries).isEmpty();
  }

  @Test
  void divergedReplica_answersNothing() {
    GroupLeader leader = leader(MOST, MOST);
    ledger.append(Entry.tick(0, 0));
    assertThat(one(leader, TWO, 7, 1).fits()).isTrue();
    ledger.append(Entry.tick(replica.lastTick().index(), replica.lastTick().sum()));
    assertThat(replica.diverged()).isFalse();
    ledger.append(Entry.tick(replica.lastTick().index(), replica.lastTick().sum() + 1));
    assertThat(replica.diverged()).isTrue();
    LedgerException why = failure(leader, Entries.entry(Entries.decideOne(TWO, 7, 1, 1)));
    assertThat(why.outcome()).isEqualTo(Outcome.NOT_LEADER);
    assertThat(why.leader()).as("it may be this one").isNull();
  }

  private static LedgerException failure(GroupLeader leader, byte[] entry) {
    Throwable thrown = catchThrowable(() -> leader.decide(entry).toCompletableFuture().join());
    return (LedgerException) Objects.requireNonNull(thrown.getCause());
  }

  @Test
  void entryThatMakesNoSense_isNotLogged() {
    GroupLeader leader = leader(MOST, MOST);
    byte[] entry = Entries.entry(Entries.decideOne(TWO, 7, 1, 1));
    byte[] cut = Arrays.copyOf(entry, entry.length - 1);
    assertThatIllegalArgumentException().isThrownBy(() -> leader.decide(cut));
    byte[] tick = Entry.tick(0, 0);
    assertThatIllegalArgumentException().isThrownBy(() -> leader.decide(tick));
    assertThat(ledger.entries).isEmpty();
  }
}
