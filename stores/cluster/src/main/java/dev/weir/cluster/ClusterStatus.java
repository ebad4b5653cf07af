package dev.weir.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * How a cluster is, as its members say of themselves. Immutable.
 *
 * @param cluster its id; empty while it is not formed
 * @param by who asked the others
 * @param groups how many logs it has
 * @param members all of them
 */
public record ClusterStatus(String cluster, String by, int groups, List<MemberStatus> members) {
  /** What a cluster can do for those who ask it. */
  public enum Health {
    /** Every group has a leader, and all members take part. */
    HEALTHY,
    /** Every group has a leader; a member is down, lags or has diverged. */
    DEGRADED,
    /** A group has no leader: its keys are answered by on_failure. */
    UNANSWERED
  }

  /** A replica that is so many entries behind catches up. */
  private static final long MOST_BEHIND = 10_000;

  /**
   * A member.
   *
   * @param up whether it answered, and takes part
   * @param groups its replicas
   */
  public record MemberStatus(String name, boolean up, List<GroupStatus> groups) {
    byte[] toBytes() {
      ByteWriter out = new ByteWriter().writeText(name).writeByte(up ? 1 : 0);
      out.writeNumber(groups.size());
      groups.forEach(each -> each.write(out));
      return out.toBytes();
    }

    static MemberStatus read(byte[] bytes) {
      ByteReader in = new ByteReader(bytes, 0);
      String name = in.readText();
      boolean up = in.readByte() == 1;
      int count = in.readCount();
      List<GroupStatus> groups = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        groups.add(GroupStatus.read(in));
      }
      return new MemberStatus(name, up, groups);
    }
  }

  /**
   * One member's replica of a group.
   *
   * @param leader who leads, as this member knows; empty if it does not
   * @param leads whether this member takes itself for the leader
   * @param logBytes what its log takes on disk
   * @param timeNanos the group's time here, in nanoseconds since the epoch
   * @param tick the index at which replicas compared last
   * @param sum what this replica had come to there
   * @param diverged whether it has come to something else than the leader
   * @param sieved how many operations this member refused without the log since it started
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
      long tick,
      long sum,
      boolean diverged,
      long sieved) {
    void write(ByteWriter out) {
      out.writeNumber(group).writeText(leader).writeByte((leads ? 1 : 0) | (diverged ? 2 : 0));
      for (long each :
          new long[] {
            term, committed, applied, logBytes, keys, bytes, timeNanos, tick, sum, sieved
          }) {
        out.writeNumber(each);
      }
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
          in.readNumber(),
          in.readNumber(),
          (flags & 2) != 0,
          in.readNumber());
    }
  }

  public ClusterStatus {
    members = List.copyOf(members);
  }

  /** Returns what the cluster can do. */
  public Health health() {
    boolean all = true;
    for (int group = 0; group < groups; group++) {
      int number = group;
      List<GroupStatus> replicas =
          members.stream()
              .filter(MemberStatus::up)
              .flatMap(each -> each.groups().stream())
              .filter(each -> each.group() == number)
              .toList();
      GroupStatus leader =
          replicas.stream()
              .filter(each -> each.leads() && !each.diverged())
              .findFirst()
              .orElse(null);
      long following = replicas.stream().filter(each -> !each.leader().isEmpty()).count();
      if (leader == null || 2 * following <= members.size()) {
        return Health.UNANSWERED;
      }
      all &=
          replicas.size() == members.size()
              && replicas.stream()
                  .allMatch(
                      each ->
                          !each.diverged()
                              && Objects.requireNonNull(leader).committed() - each.applied()
                                  < MOST_BEHIND);
    }
    return all ? Health.HEALTHY : Health.DEGRADED;
  }
}
