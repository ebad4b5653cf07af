package dev.weir.cluster;

import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Member;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The status of a cluster, from the reports of its members. Immutable.
 *
 * @param cluster its id; empty while it is not formed
 * @param by the member that requested the others' reports
 * @param epoch the number of changes of its map; 0 while it is not formed
 * @param level the one in force, at which all members write; see {@link #levelWaitsFor}
 * @param replicas the wanted members of each group, by the group's number
 * @param slots the places of the keys
 * @param members all members
 */
public record ClusterStatus(
    String cluster,
    String by,
    long epoch,
    int level,
    List<List<String>> replicas,
    SlotsStatus slots,
    List<MemberStatus> members) {
  /** The ability of a cluster to answer requests. */
  public enum Health {
    /** Every group has a leader, all members take part, and no group is changing its voters. */
    HEALTHY,
    /**
     * Every group has a leader; a member is down, lags, has diverged or has a problem, or a group
     * is changing its voters, and could not go on if its leader ended now.
     */
    DEGRADED,
    /** A group has no leader, or one whose disk stalls: its keys are answered by on_failure. */
    UNANSWERED
  }

  /** The number of entries by which a replica may be behind without counting as lagging. */
  public static final long MOST_BEHIND = 10_000;

  /**
   * The report of a member.
   *
   * @param incarnation another one of the same name has lost its folder
   * @param zone the name of the machines that fail together; may be empty
   * @param up whether it answered, and takes part
   * @param problem the reason why it cannot do its part, although it answers; empty if it can
   * @param groups its replicas
   * @param levelMost the highest level that it understands; 0 if it is not up
   * @param servers those that send it requests without being members and understand less than it
   *     does, by their names, each with the highest level that it understands
   */
  public record MemberStatus(
      String name,
      String incarnation,
      String zone,
      boolean up,
      String problem,
      List<GroupStatus> groups,
      int levelMost,
      Map<String, Integer> servers) {
    public MemberStatus {
      groups = List.copyOf(groups);
      servers = Collections.unmodifiableMap(new TreeMap<>(servers));
    }

    public byte[] toBytes() {
      ByteWriter out = new ByteWriter().writeText(name).writeText(incarnation).writeText(zone);
      out.writeByte(up ? 1 : 0).writeText(problem);
      out.writeNumber(groups.size());
      groups.forEach(each -> each.write(out));
      out.writeNumber(levelMost).writeNumber(servers.size());
      servers.forEach((server, most) -> out.writeText(server).writeNumber(most));
      groups.forEach(each -> each.writeCalendar(out));
      return out.toBytes();
    }

    public static MemberStatus read(byte[] bytes) {
      ByteReader in = new ByteReader(bytes, 0);
      String name = in.readText();
      String incarnation = in.readText();
      String zone = in.readText();
      boolean up = in.readByte() == 1;
      String problem = in.readText();
      int count = in.readCount();
      List<GroupStatus> groups = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        groups.add(GroupStatus.read(in));
      }
      int levelMost = in.readNumber(0, Integer.MAX_VALUE);
      Map<String, Integer> servers = new TreeMap<>();
      for (int i = in.readCount(); i > 0; i--) {
        servers.put(in.readText(), in.readNumber(0, Integer.MAX_VALUE));
      }
      if (!in.atEnd()) { // Otherwise it has no calendars.
        groups.replaceAll(each -> each.readCalendar(in));
      }
      return new MemberStatus(name, incarnation, zone, up, problem, groups, levelMost, servers);
    }
  }

  /**
   * One member's replica of a group.
   *
   * @param leader the leader, as far as is known there; empty if unknown
   * @param leads whether this member takes itself for the leader
   * @param logBytes the size of its log on disk
   * @param timeNanos the group's time here, in nanoseconds since the epoch
   * @param offsetNanos the time by which its calendar is ahead of that
   * @param behindNanos the time by which its calendar is behind the member's wall clock
   * @param clockFault whether the member leads and its wall clock is too far off to be followed
   * @param tick the index of the last entry at which replicas were compared
   * @param sum this replica's sum at that index
   * @param diverged whether its sum differs from the leader's
   * @param sieved operations that this member has refused without the log since it started
   * @param voters the voters of its log, as far as is known there: {@code name@incarnation} of each
   * @param listeners those that receive the log and do not vote yet
   * @param settled whether the group has agreed on these
   * @param stalled whether this member leads, and its disk has flushed nothing for two seconds that
   *     others have flushed: nothing is decided
   */
  public record GroupStatus(
      int group,
      String leader,
      boolean leads,
      long term,
      long committed,
      long applied,
      long logBytes,
      long keys,
      long bytes,
      long timeNanos,
      long offsetNanos,
      long behindNanos,
      boolean clockFault,
      long tick,
      long sum,
      boolean diverged,
      long sieved,
      List<String> voters,
      List<String> listeners,
      boolean settled,
      boolean stalled) {
    void write(ByteWriter out) {
      out.writeNumber(group)
          .writeText(leader)
          .writeByte((leads ? 1 : 0) | (diverged ? 2 : 0) | (settled ? 4 : 0) | (stalled ? 8 : 0));
      for (long each :
          new long[] {
            term, committed, applied, logBytes, keys, bytes, timeNanos, tick, sum, sieved
          }) {
        out.writeNumber(each);
      }
      write(voters, out);
      write(listeners, out);
    }

    private void writeCalendar(ByteWriter out) {
      out.writeNumber(offsetNanos).writeNumber(behindNanos).writeByte(clockFault ? 1 : 0);
    }

    /** Returns this with the values that {@link #writeCalendar} wrote. */
    private GroupStatus readCalendar(ByteReader in) {
      return new GroupStatus(
          group,
          leader,
          leads,
          term,
          committed,
          applied,
          logBytes,
          keys,
          bytes,
          timeNanos,
          in.readNumber(),
          in.readNumber(),
          in.readByte() == 1,
          tick,
          sum,
          diverged,
          sieved,
          voters,
          listeners,
          settled,
          stalled);
    }

    private static void write(List<String> ids, ByteWriter out) {
      out.writeNumber(ids.size());
      ids.forEach(out::writeText);
    }

    private static List<String> readIds(ByteReader in) {
      List<String> ids = new ArrayList<>();
      for (int i = in.readCount(); i > 0; i--) {
        ids.add(in.readText());
      }
      return ids;
    }

    /** Returns the names of the voters. */
    public List<String> voterNames() {
      return voters.stream().map(Member::nameOf).toList();
    }

    /** Returns the names of the listeners, which receive the log and do not vote yet. */
    public List<String> listenerNames() {
      return listeners.stream().map(Member::nameOf).toList();
    }

    static GroupStatus read(ByteReader in) {
      int group = (int) in.readNumber();
      String leader = in.readText();
      int flags = in.readByte();
      return new GroupStatus(
          group,
          leader,
          (flags & 1) != 0,
          in.readNumber(),
          in.readNumber(),
          in.readNumber(),
          in.readNumber(),
          in.readNumber(),
          in.readNumber(),
          in.readNumber(),
          0,
          0,
          false,
          in.readNumber(),
          in.readNumber(),
          (flags & 2) != 0,
          in.readNumber(),
          readIds(in),
          readIds(in),
          (flags & 4) != 0,
          (flags & 8) != 0);
    }
  }

  public ClusterStatus {
    members = List.copyOf(members);
    replicas = replicas.stream().map(List::copyOf).toList();
  }

  /** Returns the number of the cluster's logs. */
  public int groups() {
    return replicas.size();
  }

  /** Returns the replica that leads a group; null if none does. */
  private @Nullable GroupStatus leader(int group) {
    return replicas(group).stream()
        .filter(each -> each.leads() && !each.diverged())
        .findFirst()
        .orElse(null);
  }

  private List<GroupStatus> replicas(int group) {
    return members.stream()
        .filter(MemberStatus::up)
        .flatMap(each -> each.groups().stream())
        .filter(each -> each.group() == group)
        .toList();
  }

  /** Returns the number of a group's voters that are up. */
  private long voting(GroupStatus leader, String without) {
    return members.stream()
        .filter(each -> each.up() && !each.name().equals(without))
        .filter(each -> leader.voters().contains(each.name() + "@" + each.incarnation()))
        .filter(
            each ->
                each.groups().stream()
                    .anyMatch(
                        replica ->
                            replica.group() == leader.group() && !replica.leader().isEmpty()))
        .count();
  }

  /** Returns the ability of the cluster to answer requests. */
  public Health health() {
    boolean all = members.stream().allMatch(each -> each.up() && each.problem().isEmpty());
    for (int group = 0; group < groups(); group++) {
      GroupStatus leader = leader(group);
      if (leader == null || leader.stalled() || 2 * voting(leader, "") <= leader.voters().size()) {
        if (slots.of(group) > 0) {
          return Health.UNANSWERED;
        }
        all = false; // It has just been added, and has no keys yet.
        continue;
      }
      List<GroupStatus> replicas = replicas(group);
      all &=
          Set.copyOf(leader.voterNames()).equals(Set.copyOf(this.replicas.get(group)))
              && leader.listeners().isEmpty()
              && leader.settled()
              && voting(leader, "") == leader.voters().size()
              && replicas.stream()
                  .allMatch(
                      each ->
                          !each.diverged() && leader.committed() - each.applied() < MOST_BEHIND);
    }
    return all ? Health.HEALTHY : Health.DEGRADED;
  }

  /**
   * Returns the reasons why the cluster stays at its level although some member understands a
   * higher one: for each a line such as {@code c understands no more than level 1}. Empty if there
   * is none.
   */
  public List<String> levelWaitsFor() {
    int next = members.stream().mapToInt(MemberStatus::levelMost).max().orElse(0);
    List<String> lines = new ArrayList<>();
    if (level < next) {
      for (MemberStatus each : members) {
        if (!each.up()) {
          lines.add(each.name() + " is down");
        } else if (each.levelMost() < next) {
          lines.add(each.name() + " understands no more than level " + each.levelMost());
        }
      }
      Map<String, Integer> servers = new TreeMap<>();
      members.forEach(
          each -> each.servers().forEach((name, most) -> servers.merge(name, most, Math::min)));
      servers.forEach(
          (name, most) ->
              lines.add("the server " + name + " understands no more than level " + most));
    }
    return lines;
  }

  /** Returns the reason why a member may not be removed; empty if it may. */
  public String removal(String name, boolean force) {
    MemberStatus member =
        members.stream().filter(each -> each.name().equals(name)).findFirst().orElse(null);
    if (member == null) {
      return name + " is no member (expected: one of " + names() + ")";
    }
    if (members.size() == 1) {
      return name + " is the only member (expected: others)";
    }
    if (member.up() && !force) {
      return name + " is up (expected: one that is down; --force removes it all the same)";
    }
    for (int group = 0; group < groups(); group++) {
      GroupStatus leader = leader(group);
      if (leader == null) {
        return "group " + group + " has no leader (expected: one, to agree on it)";
      }
      int before = leader.voters().size();
      boolean agree = 2 * voting(leader, "") > before; // A member that is up agrees to its removal.
      boolean after = 2 * voting(leader, name) > before - 1;
      if (leader.voterNames().contains(name) && before > 1 && !(agree && after)) {
        return "group " + group + " would lose its majority (expected: more of its members up)";
      }
    }
    return "";
  }

  private String names() {
    return String.join(", ", members.stream().map(MemberStatus::name).toList());
  }
}
