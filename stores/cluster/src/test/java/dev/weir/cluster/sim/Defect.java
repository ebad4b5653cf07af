package dev.weir.cluster.sim;

/** Known errors of construction, each of which the simulation must find. */
enum Defect {
  NONE,
  /** The leader answers when the entry is on its own disk. */
  ANSWERS_BEFORE_COMMIT,
  /** The leader decides by its own state, and logs nothing. */
  LEADER_DECIDES_ALONE,
  /** Entries are stamped by the leader's wall clock. */
  WALL_CLOCK_STAMPS,
  /** A member that leads again counts from its first beginning, and nothing clamps its stamps. */
  TIME_GOES_BACK,
  /** A member whose disk was wiped counts as the former one. */
  WIPED_VOTER,
  /** A check without a quick answer is sent again, and the first answer is taken. */
  RETRIED_CHECK,
  /** A replica restored from an image lacks some of its keys. */
  IMAGE_LACKS_KEYS,
  /** A member acknowledges entries that are not on its disk yet. */
  UNFLUSHED_ACKS,
  /** One replica has room for a few keys only. */
  BOUNDED_REPLICA,
  /** The answers to parts of one entry go to the wrong callers. */
  BUNDLED_ANSWERS_MIXED,
  /** The last part that fits into an entry is in the next one too. */
  BUNDLED_TWICE,
  /** An entry that is not committed soon is appended again. */
  BUNDLE_RETRIED,
  /** The new group decides a slot before the former one has stopped. */
  ACTIVATE_BEFORE_FREEZE,
  /** The instants of a slot's keys stay those of the former group's log. */
  MOVE_WITHOUT_SHIFT,
  /** Servers end their allotments by the wall clock alone. */
  WALL_CLOCK_ALLOTMENTS,
  /** A leader's wall clock is followed, wherever it goes; that of one member is ahead. */
  CALENDAR_OF_ANY_CLOCK,
  /** Each replica steps its calendar to its own wall clock. */
  CALENDAR_OF_EACH_CLOCK
}
