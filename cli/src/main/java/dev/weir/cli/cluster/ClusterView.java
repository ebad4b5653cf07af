package dev.weir.cli.cluster;

import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.JsonObject;
import dev.weir.internal.Choice;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of a cluster in the view of one of its members: its answer to {@code GET /cluster}.
 * Immutable.
 *
 * @param id the cluster's id, empty while it is not formed
 * @param by the member that answered
 * @param epoch the number of changes of its members or their groups
 * @param level the level in force, at which all members write
 * @param levelWaitsFor the members that keep the cluster at this level although another one
 *     understands a higher one
 * @param groups the number of groups
 * @param slots the number of slots of keys of each group; empty if the answer does not have it
 * @param slotsToMove the number of slots that are to move to another group
 * @param moves the slots that are moving
 */
record ClusterView(
    String id,
    Health health,
    String by,
    long epoch,
    long level,
    List<String> levelWaitsFor,
    int groups,
    List<String> slots,
    long slotsToMove,
    List<Move> moves,
    List<Member> members) {
  /** The ability of a cluster to answer. */
  enum Health {
    HEALTHY,
    DEGRADED,
    UNANSWERED
  }

  /**
   * A slot that is moving.
   *
   * @param step the next step of the move
   */
  record Move(long slot, long from, long to, String step) {}

  /**
   * @param zone the name of the zone that fails together with it; may be empty
   * @param up true if it answered, and takes part
   * @param problem the reason for which it cannot do its part, though it answers; empty if it can
   */
  record Member(String name, String zone, boolean up, String problem, List<Replica> replicas) {}

  /**
   * One member's replica of a group.
   *
   * @param member the member that has it
   * @param leads true if the member acts as the leader
   * @param listeners the members that receive the log and do not vote yet, according to this
   *     replica
   * @param time the group's time at this replica
   * @param calendar the group's calendar at that time
   * @param clockFault true if the member leads and its wall clock is too far off to be followed
   * @param comparedAt the index of the last comparison of replicas, 0 before the first
   * @param sum the sum of this replica at that index
   */
  record Replica(
      String member,
      long group,
      boolean leads,
      List<String> listeners,
      long term,
      long committed,
      long applied,
      long logBytes,
      long keys,
      Instant time,
      Instant calendar,
      boolean clockFault,
      long comparedAt,
      String sum,
      boolean diverged) {}

  /**
   * Reads an answer.
   *
   * @throws CommandFailure if it is not the answer of a member
   */
  static ClusterView read(String text) {
    JsonObject json = JsonObject.read(text);
    List<Member> members = new ArrayList<>();
    for (JsonObject member : json.objects("members")) {
      List<Replica> replicas = new ArrayList<>();
      for (JsonObject each : member.objects("groups")) {
        replicas.add(replica(member.text("name"), each));
      }
      members.add(
          new Member(
              member.text("name"),
              member.text("zone"),
              member.isTrue("up"),
              member.text("problem"),
              List.copyOf(replicas)));
    }
    return new ClusterView(
        json.text("cluster"),
        health(json.text("health")),
        json.text("by"),
        json.number("epoch"),
        json.number("level"),
        json.texts("level_waits_for"),
        (int) json.number("groups"),
        json.texts("slots"),
        json.number("slots_to_move"),
        json.objects("moves").stream()
            .map(
                each ->
                    new Move(
                        each.number("slot"),
                        each.number("from"),
                        each.number("to"),
                        each.text("step")))
            .toList(),
        List.copyOf(members));
  }

  private static Health health(String text) {
    Health health = Choice.find(Health.class, text);
    if (health == null) {
      throw wrong("health", text, "healthy, degraded or unanswered");
    }
    return health;
  }

  private static Replica replica(String member, JsonObject json) {
    return new Replica(
        member,
        json.number("group"),
        json.isTrue("leads"),
        json.texts("listeners"),
        json.number("term"),
        json.number("committed"),
        json.number("applied"),
        json.number("log_bytes"),
        json.number("keys"),
        instant(json.text("time")),
        instant(json.text("calendar")),
        json.isTrue("clock_fault"),
        json.number("compared_at"),
        json.text("sum"),
        json.isTrue("diverged"));
  }

  private static Instant instant(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      throw wrong("time", text, "an instant, as in RFC 3339");
    }
  }

  private static CommandFailure wrong(String name, String value, String expected) {
    return new CommandFailure(
        "the answer cannot be read: " + name + ": " + value + " (expected: " + expected + ")");
  }

  /** Returns whether a member receives the log of a group and does not vote yet. */
  boolean listens(String member, long group) {
    Replica leader = leader(group);
    return leader != null && leader.listeners().contains(member);
  }

  /** Returns the replicas of a group, of the members that are up. */
  List<Replica> replicas(long group) {
    return members.stream()
        .filter(Member::up)
        .flatMap(each -> each.replicas().stream())
        .filter(each -> each.group() == group)
        .toList();
  }

  /**
   * Returns the leader's replica of a group, or null if none leads. A member that was paused may
   * still act as the leader; the latest term is right.
   */
  @Nullable Replica leader(long group) {
    return replicas(group).stream()
        .filter(each -> each.leads() && !each.diverged())
        .max(Comparator.comparingLong(Replica::term))
        .orElse(null);
  }
}
