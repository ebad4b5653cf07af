package dev.weir.redis;

/** Puts questions in the order in which they are to be asked, on behalf of a limit. */
@FunctionalInterface
interface Enqueue {
  /**
   * Adds a question behind all others for its key that were added before.
   *
   * @return what sends it, or fails it; to be run when no lock is held, since it tells others
   */
  Runnable add(RedisLimit limit, Question question);
}
