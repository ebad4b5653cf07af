package dev.weir.cluster.internal.peer;

import dev.weir.shared.ClusterMember;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a version of Weir understands of what members say to each other: entries, frames, maps and
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
   * 0 raises it when all have said for a while that they understand the next one, see LevelRaise.
   * Until then nothing of the next level is on any disk, so the older version can be started again.
   * It is never lowered. From then on a process that does not understand it is refused at its hello,
   * and one that meets it on its disk or in a log stops before it reads on.
   *
   * What asks for the level? The state of a group (Replica) asks the group's own level and nothing
   * else; code that appends an entry of a new kind asks the same of the replica by its side, which is
   * applied up to where it appends; code that changes the map asks the map's.
   */

  /** That of the first version. */
  public static final int FIRST = 1;

  /** From this one on slots are moved between groups. */
  public static final int SLOT_MOVES = 2;

  /** From this one on the calendar of a group is stepped, and its images say by how much. */
  public static final int CALENDAR = 2;

  /** Those of this version. */
  public static final Levels HERE = new Levels(FIRST, ClusterMember.MOST_LEVEL);

  private static final String TOO_OLD = "its version of Weir is too old for this cluster";
  private static final String TOO_NEW = "its version of Weir is too new for this cluster";

  public Levels {
    if (least < FIRST || most < least) {
      throw new IllegalArgumentException("levels " + least + ".." + most);
    }
  }

  /** Returns those of this version up to a level; all of them where it is 0. */
  public static Levels upTo(int most) {
    return most == 0 ? HERE : new Levels(HERE.least, most);
  }

  /** Returns why two that understand these cannot understand each other; null if they can. */
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

  /** Returns whether that is what another member says to a process that is too old for it. */
  static boolean saysTooOld(String refusal) {
    return refusal.endsWith(TOO_OLD);
  }

  /** Returns why a process that understands these cannot go on at a level; null if it can. */
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
   * Does nothing if a process that understands these can go on at a level.
   *
   * @param what is of that level
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
