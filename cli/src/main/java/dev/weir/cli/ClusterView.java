package dev.weir.cli;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How a cluster is, as one of its members says; what it answers to {@code GET /cluster}. Immutable.
 *
 * @param id empty while the cluster is not formed
 * @param by the member that was asked
 * @param groups how many logs there are
 */
record ClusterView(String id, Health health, String by, int groups, List<Member> members) {
  /** What a cluster can do for those who ask it. */
  enum Health {
    HEALTHY,
    DEGRADED,
    UNANSWERED
  }

  /**
   * @param up whether it answered, and takes part
   */
  record Member(String name, boolean up, List<Replica> replicas) {}

  /**
   * One member's replica of a group.
   *
   * @param member whose it is
   * @param leads whether the member takes itself for the leader
   * @param time the group's, as this replica knows it
   * @param comparedAt the index at which replicas compared last, 0 before the first
   * @param sum what this replica had come to there
   */
  record Replica(
      String member,
      long group,
      boolean leads,
      long term,
      long committed,
      long applied,
      long logBytes,
      long keys,
      Instant time,
      long comparedAt,
      String sum,
      boolean diverged) {}

  /**
   * Reads an answer.
   *
   * @throws CommandFailure if it is not what a member answers
   */
  static ClusterView read(String text) {
    JsonObject json = JsonObject.read(text);
    List<Member> members = new ArrayList<>();
    for (JsonObject member : json.objects("members")) {
      List<Replica> replicas = new ArrayList<>();
      for (JsonObject each : member.objects("groups")) {
        replicas.add(replica(member.text("name"), each));
      }
      members.add(new Member(member.text("name"), member.isTrue("up"), List.copyOf(replicas)));
    }
    return new ClusterView(
        json.text("cluster"),
        health(json.text("health")),
        json.text("by"),
        (int) json.number("groups"),
        List.copyOf(members));
  }

  private static Health health(String text) {
    for (Health each : Health.values()) {
      if (each.name().toLowerCase(Locale.ROOT).equals(text)) {
        return each;
      }
    }
    throw wrong("health", text, "healthy, degraded or unanswered");
  }

  private static Replica replica(String member, JsonObject json) {
    return new Replica(
        member,
        json.number("group"),
        json.isTrue("leads"),
        json.number("term"),
        json.number("committed"),
        json.number("applied"),
        json.number("log_bytes"),
        json.number("keys"),
        instant(json.text("time")),
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

  /** Returns the replicas of a group, of the members that are up. */
  List<Replica> replicas(long group) {
    return members.stream()
        .filter(Member::up)
        .flatMap(each -> each.replicas().stream())
        .filter(each -> each.group() == group)
        .toList();
  }

  /**
   * Returns the leader's replica of a group, or null if none leads. One that was paused may still
   * take itself for the leader; the latest term is right.
   */
  @Nullable Replica leader(long group) {
    return replicas(group).stream()
        .filter(each -> each.leads() && !each.diverged())
        .max(Comparator.comparingLong(Replica::term))
        .orElse(null);
  }
}
