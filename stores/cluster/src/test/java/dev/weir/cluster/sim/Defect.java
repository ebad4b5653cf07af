package dev.weir.cluster.sim;

/** Known ways to build it wrong, each of which the simulation must find. */
enum Defect {
  NONE,
  /** The leader answers when the entry is on its own disk. */
  ANSWERS_BEFORE_COMMIT,
  /** The leader decides by what it has, and logs nothing. */
  LEADER_DECIDES_ALONE,
  /** Entries are stamped by the leader's wall clock. */
  WALL_CLOCK_STAMPS,
  /** A member that leads again counts from where it once began, and nothing clamps its stamps. */
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
  /** The answers to what shares an entry are handed to each other's askers. */
  BUNDLED_ANSWERS_MIXED,
  /** The last that fits into an entry is in the next one too. */
  BUNDLED_TWICE,
  /** An entry that is not committed soon is appended again. */
  BUNDLE_RETRIED,
  /** The group that is to have a slot decides it before the one that had it has stopped. */
  ACTIVATE_BEFORE_FREEZE,
  /** The instants of a slot's keys stay those of the log that it comes from. */
  MOVE_WITHOUT_SHIFT,
  /** Servers end their allotments by the wall clock alone. */
  WALL_CLOCK_ALLOTMENTS,
  /** A leader's wall clock is followed, wherever it goes; that of one member is ahead. */
  CALENDAR_OF_ANY_CLOCK,
  /** Each replica steps its calendar to its own wall clock. */
  CALENDAR_OF_EACH_CLOCK
}
