package dev.weir.cluster.internal.peer;

import dev.weir.shared.ClusterMember;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The levels of the members' formats that a version of Weir understands: entries, frames, maps and
 * images of all levels from the least to the most. A version that changes what one of them means
 * has a higher most, and the same least for as long as the version before is to take part.
 *
 * @param least at least 1
 * @param most at least {@code least}
 */
public record Levels(int least, int most) {
  /*
   * How do members of two versions work together? The cluster has one level in force, at which all
   * of them write. It is a part of the state of each group, so that all replicas change at the same
   * entry of its log; group 0's is the cluster's, and its map tells the others. The leader of group
   * 0 raises it when all have reported for a while that they understand the next one, see
   * LevelRaise. Until then nothing of the next level is on any disk, so the older version can be
   * started again. It is never lowered. From then on a process that does not understand it is
   * refused at its hello, and one that finds it on its disk or in a log stops before it reads on.
   *
   * Which code depends on the level? The state of a group (Replica) depends on the group's own
   * level and nothing else. Code that appends an entry of a new kind uses the level of its own
   * replica, which is applied up to that place. Code that changes the map uses the map's level.
   */

  /** The level of the first version. */
  public static final int FIRST = 1;

  /** The level from which on slots are moved between groups. */
  public static final int SLOT_MOVES = 2;

  /** The level from which on the calendar of a group is stepped, and its images have the offset. */
  public static final int CALENDAR = 2;

  /** The level from which on replicas count seats: their policies, and renewals. */
  public static final int SEATS = 3;

  /** The levels of this version. */
  public static final Levels HERE = new Levels(FIRST, ClusterMember.MOST_LEVEL);

  private static final String TOO_OLD = "its version of Weir is too old for this cluster";
  private static final String TOO_NEW = "its version of Weir is too new for this cluster";

  public Levels {
    if (least < FIRST || most < least) {
      throw new IllegalArgumentException("levels " + least + ".." + most);
    }
  }

  /** Returns the levels of this version up to a bound; all of them if that is 0. */
  public static Levels upTo(int most) {
    return most == 0 ? HERE : new Levels(HERE.least, most);
  }

  /**
   * Returns the reason why two processes with these levels cannot work together; null if they can.
   */
  @Nullable String conflict(Levels other) {
    if (least <= other.most && other.least <= most) {
      return null;
    }
    return "it understands "
        + this
        + " (expected: one of "
        + other
        + "): "
        + (most < other.least ? TOO_OLD : TOO_NEW);
  }

  /** Returns whether a refusal is that of a process which is too old. */
  static boolean saysTooOld(String refusal) {
    return refusal.endsWith(TOO_OLD);
  }

  /** Returns the reason why a process with these levels cannot work at a level; null if it can. */
  @Nullable
  public String conflict(int level) {
    if (level >= least && level <= most) {
      return null;
    }
    return "level "
        + level
        + " (expected: one of "
        + this
        + "): this version of Weir is too "
        + (level > most ? "old" : "new")
        + " for it";
  }

  /**
   * Checks that a process with these levels can work at a level.
   *
   * @param what has that level
   * @throws LevelException if it cannot
   */
  public void check(int level, String what) {
    if (conflict(level) != null) {
      throw new LevelException(what + ": " + Objects.requireNonNull(conflict(level)));
    }
  }

  @Override
  public String toString() {
    return "levels " + least + ".." + most;
  }
}
