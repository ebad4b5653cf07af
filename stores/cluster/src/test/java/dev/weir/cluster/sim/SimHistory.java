package dev.weir.cluster.sim;

import dev.weir.Reason;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.sim.SimDisk.Item;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The history of a simulated cluster: as its clients saw it, and as its logs show it. */
final class SimHistory {
  /** The kinds of violations. */
  enum Kind {
    /** A window holds more permits than it may. */
    EXCESS,
    /** Permits were admitted that are in no log. */
    NOT_CHARGED,
    /** More permits were charged than requested. */
    CHARGED_TWICE,
    /** A permit of an allotment was granted after the allotment's end. */
    GRANTED_LATE,
    /** Permits were refused that would have fitted. */
    FALSE_REFUSAL,
    /** Two groups decided a slot at once, or none in the end. */
    OWNERS,
    /** A log has an invalid entry, which every replica skips. */
    NONSENSE,
    /** Two members have applied different entries at one index. */
    LOGS_DIFFER,
    /** Two members have different answers, or a replay of the log has others. */
    ANSWERS_DIFFER,
    /** A member has noticed that its sum differs from the leader's. */
    DIVERGED,
    /** The time of a log ran faster than any clock. */
    TIME_RUNS_FAST,
    /** The time of a log went back. */
    TIME_GOES_BACK,
    /** The calendar of a group ran ahead by more than a leader may step it. */
    CALENDAR_LEAPS,
    /** The calendar of a group went back. */
    CALENDAR_GOES_BACK,
    /** There are no faults, and yet nothing is admitted. */
    STUCK
  }

  record Violation(Kind kind, String text) {}

  /** A request of a client, or one charge of it. */
  static final class Check {
    final SimRule rule;
    final long fingerprint;
    final long permits;
    final long limit;
    final long sentNanos;

    /** Permits of this key in the whole request. */
    long together;

    boolean answered;
    long answeredNanos;
    boolean allowed;
    @Nullable Reason reason;
    long atNanos;
    long waitNanos;
    boolean refunded;

    /** True if other keys were requested together with it. */
    boolean several;

    /** The machine on which it was decided, or null in a history that is written by hand. */
    @Nullable SimNode node;

    Check(SimRule rule, long fingerprint, long permits, long limit, long sentNanos) {
      this.rule = rule;
      this.fingerprint = fingerprint;
      this.permits = permits;
      together = permits;
      this.limit = limit;
      this.sentNanos = sentNanos;
    }

    /** Returns whether it may have been charged. */
    boolean maybeCharged() {
      return several || allowed || !answered || reason == Reason.UNCERTAIN;
    }

    @Override
    public String toString() {
      return String.format(
          "%s %x: %d of %d, sent %,d answered %,d allowed %s %s at %,d wait %,d%s",
          rule.name,
          fingerprint,
          permits,
          limit,
          sentNanos,
          answeredNanos,
          allowed,
          reason,
          atNanos,
          waitNanos,
          refunded ? " refunded" : "");
    }
  }

  /** An entry, and the reply of the member that applied it first. */
  static final class Applied {
    private final Item item;
    private final byte[] reply;

    Applied(Item item, byte[] reply) {
      this.item = item;
      this.reply = reply;
    }

    Item item() {
      return item;
    }

    byte[] reply() {
      return reply;
    }

    /** Returns the replies to its parts; empty ones to invalid parts. */
    List<byte[]> replies() {
      return SimBundles.replies(Objects.requireNonNull(item.bytes()), reply);
    }

    long decidedNanos() {
      return new ByteReader(replies().get(0), 0).readLong();
    }
  }

  private final List<SimRule> rules = new ArrayList<>();
  private final List<Check> checks = new ArrayList<>();
  private final List<List<Applied>> logs = new ArrayList<>();
  private final List<Map<Long, Long>> sums = new ArrayList<>();
  private final List<Violation> violations = new ArrayList<>();
  private final Map<String, Long> counts = new TreeMap<>();
  int serverRestarts;

  /** The times to which an operator had calendars set. */
  final Set<Long> setByHand = new HashSet<>();

  private final ClusterMap map;

  SimHistory(ClusterMap map) {
    this.map = map;
    for (int i = 0; i < map.groups(); i++) {
      logs.add(new ArrayList<>());
      sums.add(new HashMap<>());
    }
  }

  /** Returns the first map of the cluster. */
  ClusterMap map() {
    return map;
  }

  void add(SimRule rule) {
    rules.add(rule);
  }

  List<SimRule> rules() {
    return rules;
  }

  void add(Check check) {
    checks.add(check);
  }

  List<Check> checks() {
    return checks;
  }

  List<List<Applied>> logs() {
    return logs;
  }

  List<Violation> violations() {
    return violations;
  }

  /** Counts an event, to show what was covered. */
  void count(String what, long times) {
    counts.merge(what, times, Long::sum);
  }

  Map<String, Long> counts() {
    return counts;
  }

  void violation(Kind kind, String text) {
    violations.add(new Violation(kind, text));
  }

  /** Notes that a member has applied an entry. */
  void applied(int group, int member, Item item, byte[] reply) {
    List<Applied> log = logs.get(group);
    int place = (int) item.index() - 1;
    if (place == log.size()) {
      log.add(new Applied(item, reply));
      return;
    }
    if (place > log.size()) {
      violation(Kind.LOGS_DIFFER, "group " + group + ": a gap before " + item.index());
      return;
    }
    Applied first = log.get(place);
    if (first.item != item) {
      violation(
          Kind.LOGS_DIFFER,
          "group " + group + " member " + member + ": entry " + item.index() + " is another one");
    } else if (!Arrays.equals(first.reply, reply)) {
      violation(
          Kind.ANSWERS_DIFFER,
          "group "
              + group
              + " member "
              + member
              + ": entry "
              + item.index()
              + " of kind "
              + (item.bytes() == null ? -1 : item.bytes()[Ledger.STAMP_BYTES]));
    }
  }

  /** Notes the state of a member. */
  void state(int group, int member, long index, long tickSum, boolean diverged) {
    Long before = tickSum == 0 ? null : sums.get(group).putIfAbsent(index, tickSum);
    if (before != null && before != tickSum) {
      violation(Kind.ANSWERS_DIFFER, "group " + group + " member " + member + ": sum at " + index);
    }
    if (diverged) {
      violation(Kind.DIVERGED, "group " + group + " member " + member + " at " + index);
    }
  }
}
