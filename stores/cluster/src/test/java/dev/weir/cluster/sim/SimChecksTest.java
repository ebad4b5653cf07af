package dev.weir.cluster.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Charges.Role;
import dev.weir.Consistency;
import dev.weir.Reason;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.log.BundledLedger;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.Maps;
import dev.weir.cluster.internal.operating.GroupCounters;
import dev.weir.cluster.internal.state.ClusterPolicy;
import dev.weir.cluster.internal.state.ClusterReply;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.Entries;
import dev.weir.cluster.internal.state.Entries.Charge;
import dev.weir.cluster.internal.state.Entries.Op;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.GroupMachine;
import dev.weir.cluster.internal.state.GroupSlots;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.cluster.sim.SimDisk.Item;
import dev.weir.cluster.sim.SimHistory.Applied;
import dev.weir.cluster.sim.SimHistory.Check;
import dev.weir.cluster.sim.SimHistory.Kind;
import dev.weir.cluster.sim.SimHistory.Violation;
import dev.weir.shared.Result;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The checks of the simulation, on few requests of which everything is known. */
class SimChecksTest {
  private static final long KEY = 7;
  private static final long BEGIN = Policies.SECOND;

  private final SplittableRandom random = Trials.random("judged requests");
  private final SimRule rule = strictLog();
  private final ClusterMap map = Maps.of(1, "member-0", "member-1", "member-2");
  private final SimHistory history = new SimHistory(map);
  private final ClusterTime time = new ClusterTime(new FakeTicker());
  private final Ledger.Machine machine =
      BundledLedger.machine(
          new GroupMachine(
              new Replica(
                  SimCluster.FINGERPRINT,
                  new GroupSlots(slot -> true),
                  time,
                  Runnable::run,
                  line -> {}),
              time,
              new GroupCounters(new FakeTicker()),
              line -> {}));

  private SimRule strictLog() {
    SimRule some = new SimRule(0, random);
    while (some.algorithm != Algorithm.SLIDING_WINDOW_LOG) {
      some = new SimRule(0, random);
    }
    assertThat(some.consistency).isEqualTo(Consistency.STRICT);
    return some;
  }

  /** Requests permits at an instant of the log, which is also that of the clients. */
  private Check request(long nanos, long permits, long limit, boolean queued) {
    ClusterPolicy policy =
        ClusterPolicy.of(
            rule.name,
            Policies.shared(
                rule.algorithm, limit, rule.windowNanos, rule.consistency, rule.intervalNanos));
    Charge charge = new Charge(policy, KEY, permits, Role.REQUIRED);
    Op op =
        queued ? Entries.queued(2 * rule.windowNanos, charge) : Entries.decideMany(false, charge);
    byte[] entry = Entries.entry(op);
    Entry.stamp(entry, nanos);
    long index = history.logs().get(0).size() + 1L;
    byte[] reply = machine.apply(index, 1, entry.clone());
    history.logs().get(0).add(new Applied(new Item(index, 1, entry, nanos), reply));
    ClusterReply in = new ClusterReply(reply);
    Check check = new Check(rule, KEY, permits, limit, nanos);
    check.answered = true;
    check.answeredNanos = nanos;
    check.allowed = in.number() == 1;
    Result result = in.result();
    check.reason = result.reason();
    check.atNanos = result.atNanos();
    check.waitNanos = queued && check.allowed ? result.retryAfterNanos() : 0;
    history.add(check);
    return check;
  }

  private Set<Kind> judged() {
    new SimChecks(history, map).run();
    return history.violations().stream().map(Violation::kind).collect(Collectors.toSet());
  }

  /** Fills a window, makes one more request wait for its end, and returns a greater limit. */
  private long reserve() {
    long limit = rule.permits();
    assertThat(request(BEGIN, limit, limit, false).allowed).isTrue();
    Check waits = request(BEGIN, 1, limit, true);
    assertThat(waits.allowed).isTrue();
    assertThat(waits.waitNanos).isPositive();
    while (rule.permits() <= limit + 2) {
      rule.change(random);
    }
    return rule.permits();
  }

  @Test
  void whoAsksAfterAReservation_isRefusedRightly_evenIfTheLimitHasGrown() {
    Check refused = request(BEGIN + rule.windowNanos / 2, 1, reserve(), false);
    assertThat(refused.reason).isEqualTo(Reason.OVER_LIMIT);
    assertThat(judged()).isEmpty();
  }

  @Test
  void whoIsRefused_whenTheReservationHasCome_isRefusedFalsely() {
    Check refused = request(BEGIN + 3 * rule.windowNanos, 1, reserve(), false);
    assertThat(refused.allowed).isTrue();
    refused.allowed = false;
    refused.reason = Reason.OVER_LIMIT;
    assertThat(judged()).contains(Kind.FALSE_REFUSAL);
  }

  @Test
  void whoIsRefused_beforeAnotherReserves_isRefusedFalsely() {
    Check refused = request(BEGIN - 1_000, 0, rule.permits() + 1, false);
    reserve();
    refused.allowed = false;
    refused.reason = Reason.OVER_LIMIT;
    assertThat(judged()).contains(Kind.FALSE_REFUSAL);
  }
}
