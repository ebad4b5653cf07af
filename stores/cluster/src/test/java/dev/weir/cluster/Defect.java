package dev.weir.cluster;

/** Known ways to build it wrong, each of which the simulation must find. */
enum Defect {
  NONE,
  /** The leader answers when the entry is on its own disk. */
  ANSWERS_BEFORE_COMMIT,
  /** The leader decides by what it has, and logs nothing. */
  LEADER_DECIDES_ALONE,
  /** Entries are stamped by the leader's wall clock. */
  WALL_CLOCK_STAMPS,
  /** An entry is decided at its stamp, also if an earlier one was decided later. */
  TIME_GOES_BACK,
  /** A member whose disk was wiped counts as the one it was. */
  WIPED_VOTER,
  /** A check that is not answered soon is asked again, and the first answer is taken. */
  RETRIED_CHECK,
  /** What starts from an image lacks some of its keys. */
  IMAGE_LACKS_KEYS,
  /** A member says that it has what is not on its disk yet. */
  UNFLUSHED_ACKS,
  /** One replica has room for a few keys only. */
  BOUNDED_REPLICA,
  /** Servers end their allotments by the wall clock alone. */
  WALL_CLOCK_ALLOTMENTS
}
