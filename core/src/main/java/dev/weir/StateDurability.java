package dev.weir;

/**
 * The ends that leave the counts of a {@link StateFolder} complete, beside an orderly one. After
 * any other end, {@link AfterCrash} decides. A refusal changes nothing, so it costs the same with
 * each.
 */
public enum StateDurability {
  /**
   * No other end: counts are saved when the process ends in order. Costs nothing while it runs,
   * except for an image now and then with {@link AfterCrash#AMNESTY}.
   */
  NONE,
  /**
   * The end of the process at any instant, while the machine runs on: every admission is in a
   * journal before it is answered. Costs some 50 nanoseconds and 32 bytes or more of that file for
   * an admission, on the caller's thread, and no flush. On a system without an id of its boot,
   * which is every one but Linux, it is the same as {@link #NONE}.
   */
  PROCESS,
  /**
   * The end of the machine too: an admission, a refund and a reset are answered when the journal is
   * on the disk, together with all that wait for that ({@link StateFolder#answering}). Costs what
   * {@link #PROCESS} does and the time of a flush for each such answer, some tenths of a
   * millisecond on a fast disk; the rate is about halved, since answers change threads.
   */
  MACHINE
}
