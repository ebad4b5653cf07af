package dev.weir.cluster.sim;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Reason;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.log.BundledLedger;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.Placement;
import dev.weir.cluster.internal.operating.GroupCounters;
import dev.weir.cluster.internal.state.ClusterReply;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.Entries;
import dev.weir.cluster.internal.state.Entries.Charge;
import dev.weir.cluster.internal.state.Entries.Op;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.GroupMachine;
import dev.weir.cluster.internal.state.GroupSlots;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.cluster.sim.SimHistory.Applied;
import dev.weir.cluster.sim.SimHistory.Check;
import dev.weir.cluster.sim.SimHistory.Kind;
import dev.weir.shared.Result;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.FullestWindow;
import dev.weir.testkit.WindowChecker.Operation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The checks of everything that has happened in a simulated cluster. */
final class SimChecks {
  private final SimHistory history;
  private final ClusterMap last;
  private final SimOwners owners;
  private final SimCalendars calendars;

  /** The charges in the logs, by the fingerprint of their key. */
  /**
   * The time by which a wall clock can be set back, beside a suspension, before Weir must see it.
   */
  private static final long SET_BACK_TOLERANCE = 110_000_000;

  private final Map<Long, List<Charged>> charged = new HashMap<>();

  /**
   * A charge that counts from an instant of the log on.
   *
   * @param realNanos the real time at which the entry was stamped
   * @param reserved whether the instant lay ahead then
   */
  private record Charged(long atNanos, long permits, long realNanos, boolean reserved) {}

  /**
   * Creates the checks.
   *
   * @param last the final map
   */
  SimChecks(SimHistory history, ClusterMap last) {
    this.history = history;
    this.last = last;
    owners = new SimOwners(history);
    calendars = new SimCalendars(history, owners);
  }

  void run() {
    for (int group = 0; group < history.logs().size(); group++) {
      replay(group);
      time(group);
    }
    owners.check(last);
    history.rules().forEach(this::window);
    history.rules().forEach(calendars::windows);
    sums();
    refusals();
    grants();
  }

  /** Checks that a fresh replica gives the same answers. */
  private void replay(int group) {
    ClusterTime time = new ClusterTime(new FakeTicker());
    GroupSlots slots = new GroupSlots(slot -> history.map().groupOfSlot(slot) == group);
    Replica replica = new Replica(SimCluster.FINGERPRINT, slots, time, Runnable::run, line -> {});
    Ledger.Machine machine =
        BundledLedger.machine(
            new GroupMachine(replica, time, new GroupCounters(new FakeTicker()), line -> {}));
    if (group == 0) {
      replica.beginningWith(history.map());
    }
    for (Applied each : history.logs().get(group)) {
      byte[] entry = each.item().bytes();
      if (entry != null) {
        byte[] reply = machine.apply(each.item().index(), each.item().term(), entry.clone());
        if (!Arrays.equals(reply, each.reply())) {
          history.violation(
              Kind.ANSWERS_DIFFER, "group " + group + ": replayed entry " + each.item().index());
          return;
        }
        List<byte[]> parts = SimBundles.parts(entry);
        List<byte[]> replies = each.replies();
        for (int i = 0; i < parts.size(); i++) {
          int kind = parts.get(i)[Ledger.STAMP_BYTES];
          if (replies.get(i).length == 0) {
            history.violation(Kind.NONSENSE, "group " + group + " entry " + each.item().index());
          } else if (kind == Entry.OPERATIONS) {
            charges(each.item().stampedAtNanos(), parts.get(i), replies.get(i));
          } else if (kind == Entry.SLOT) {
            owners.entry(group, each, parts.get(i), replies.get(i));
          } else if (kind == Entry.CALENDAR) {
            calendars.entry(group, each, parts.get(i), replies.get(i));
          }
        }
      }
    }
  }

  private void charges(long real, byte[] entry, byte[] reply) {
    ClusterReply in = new ClusterReply(reply);
    for (Op op : Entries.read(entry)) {
      Charge first = op.charges().get(0);
      switch (op.kind()) {
        case DECIDE_MANY -> {
          boolean allowed = in.number() == 1;
          for (Charge each : op.charges()) {
            Result result = in.result();
            if (allowed && result.fits() && !op.peeking()) {
              boolean reserved = op.queued() && result.retryAfterNanos() > 0;
              charge(each.fingerprint(), result.atNanos(), each.permits(), real, reserved);
            }
          }
        }
        case DECIDE_ONE -> {
          long times = in.number();
          charge(first.fingerprint(), in.result().atNanos(), times * first.permits(), real, false);
        }
        case RECORD -> {
          Result result = in.result();
          if (result.reason() != Reason.UNCERTAIN) { // Otherwise the slot is elsewhere.
            charge(first.fingerprint(), result.atNanos(), first.permits(), real, false);
          }
        }
        case REFUND, RESET, RENEW -> {
          long unused = in.number();
        }
      }
    }
  }

  private void charge(
      long fingerprint, long atNanos, long permits, long realNanos, boolean reserved) {
    if (permits > 0) {
      charged
          .computeIfAbsent(fingerprint, key -> new ArrayList<>())
          .add(new Charged(atNanos, permits, realNanos, reserved));
    }
  }

  /**
   * Checks that the time of a log never runs faster than the fastest clock, and never goes back.
   */
  private void time(int group) {
    long least = Long.MAX_VALUE;
    long before = Long.MIN_VALUE;
    boolean fast = false;
    boolean back = false;
    for (Applied each : history.logs().get(group)) {
      if (each.item().bytes() == null || each.replies().get(0).length == 0) {
        continue;
      }
      long real = each.item().stampedAtNanos();
      long now = each.decidedNanos();
      long ahead = now - real - real / 1_000_000 * (SimCluster.MOST_PPM + 1);
      least = Math.min(least, ahead);
      if (ahead - least > 2 * Policies.MICRO && !fast) {
        history.violation(
            Kind.TIME_RUNS_FAST,
            "group " + group + " entry " + each.item().index() + ": " + (ahead - least) + " ns");
        fast = true;
      }
      if (now < before && !back) {
        history.violation(Kind.TIME_GOES_BACK, "group " + group + " entry " + each.item().index());
        back = true;
      }
      before = now;
    }
  }

  /** Checks that no window of real time holds more than it may, whatever the clocks showed. */
  private void window(SimRule rule) {
    List<Operation> admitted = new ArrayList<>();
    for (Check each : history.checks()) {
      if (each.rule == rule && each.allowed && !each.refunded) {
        admitted.add(
            new Operation(
                Long.toHexString(each.fingerprint),
                each.permits,
                each.sentNanos + each.waitNanos,
                each.answeredNanos + each.waitNanos,
                true,
                Reason.WITHIN_LIMIT));
      }
    }
    long window = rule.windowNanos - rule.windowNanos / 1_000_000 * (2 * SimCluster.MOST_PPM + 2);
    FullestWindow fullest = WindowChecker.fullest(admitted, window - 4 * Policies.MICRO);
    long more = 0;
    if (rule.consistency == Consistency.APPROXIMATE) {
      more = (3 + history.serverRestarts) * rule.unrecorded();
      more *= rule.algorithm.strict() ? 1 : 2; // At both ends of the window.
    }
    if (rule.algorithm.aligned()) {
      more += calendars.passedOver(rule.windowNanos) * rule.mostPermits();
    }
    if (fullest.permits() > rule.bound() + more) {
      history.violation(
          Kind.EXCESS, rule.name + ": " + fullest + " of " + rule.bound() + " + " + more);
    }
  }

  /** Checks that admitted permits were charged, and that charged permits were requested. */
  private void sums() {
    Map<Long, Long> admitted = new HashMap<>();
    Map<Long, Long> asked = new HashMap<>();
    Map<Long, SimRule> rules = new HashMap<>();
    for (Check each : history.checks()) {
      rules.put(each.fingerprint, each.rule);
      asked.merge(each.fingerprint, each.maybeCharged() ? each.permits : 0, Long::sum);
      if (each.allowed && !each.refunded) { // A server may have admitted a refund again.
        admitted.merge(each.fingerprint, each.permits, Long::sum);
      }
    }
    asked.forEach(
        (key, permits) -> {
          SimRule rule = Objects.requireNonNull(rules.get(key));
          long sum =
              charged.getOrDefault(key, List.of()).stream().mapToLong(Charged::permits).sum();
          long most = admitted.getOrDefault(key, 0L);
          boolean approximate = rule.consistency == Consistency.APPROXIMATE;
          long lost = approximate ? (3 + history.serverRestarts) * rule.unrecorded() : 0;
          if (most > sum + lost) {
            history.violation(
                Kind.NOT_CHARGED, rule.name + ": " + most + " admitted, " + sum + " charged");
          }
          if (rule.consistency == Consistency.STRICT && sum > permits) {
            history.violation(
                Kind.CHARGED_TWICE, rule.name + ": " + permits + " asked for, " + sum + " charged");
          }
        });
  }

  /** Checks each refusal for lack of permits against all charges that the log ever had. */
  private void refusals() {
    for (Check each : history.checks()) {
      if (each.answered && each.reason == Reason.KEY_SPACE_FULL) {
        history.violation(Kind.FALSE_REFUSAL, each + ": there is room");
      }
      boolean exact =
          each.rule.consistency != Consistency.APPROXIMATE
              && each.rule.algorithm == Algorithm.SLIDING_WINDOW_LOG;
      if (exact && each.answered && each.reason == Reason.OVER_LIMIT && each.waitNanos == 0) {
        // The times of two logs cannot be compared: keys that have moved may count for longer.
        boolean moved = owners.moved(Placement.slot(each.fingerprint));
        long from = moved ? Long.MIN_VALUE : each.atNanos - each.rule.countedNanos();
        long counted = 0;
        boolean behind = false; // No request overtakes a reservation, even if the limit has grown.
        for (Charged some : charged.getOrDefault(each.fingerprint, List.of())) {
          counted += some.atNanos > from ? some.permits : 0;
          boolean ahead = some.reserved && (moved || some.atNanos > each.atNanos);
          behind |= ahead && some.realNanos <= each.answeredNanos;
        }
        if (!behind && counted + each.together <= each.limit) {
          history.violation(Kind.FALSE_REFUSAL, each + ": " + counted + " charged");
        }
      }
    }
  }

  /**
   * Checks that a permit of an allotment was requested before the allotment's end, unless no clock
   * of the machine showed how much time had passed, as the guarantees say.
   */
  private void grants() {
    for (Check each : history.checks()) {
      long latest = Long.MIN_VALUE;
      boolean leased = each.rule.consistency == Consistency.LEASED && each.allowed;
      for (Charged some :
          leased ? charged.getOrDefault(each.fingerprint, List.of()) : List.<Charged>of()) {
        latest = some.atNanos == each.atNanos ? Math.max(latest, some.realNanos) : latest;
      }
      long life = each.rule.intervalNanos;
      long ends = latest + life + life / 1_000_000 * (SimCluster.MOST_PPM + 1);
      boolean late = latest != Long.MIN_VALUE && each.sentNanos > ends + Policies.MICRO;
      boolean hidden =
          late && each.node != null && each.node.hid(latest, each.sentNanos, SET_BACK_TOLERANCE);
      if (late && !hidden) {
        history.violation(Kind.GRANTED_LATE, each + ": charged " + latest);
      }
    }
  }
}
