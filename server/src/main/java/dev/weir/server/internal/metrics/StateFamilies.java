package dev.weir.server.internal.metrics;

/** The metrics of the folder that keeps the counts over restarts. */
public final class StateFamilies {
  private StateFamilies() {}

  /**
   * Adds the state of the folder.
   *
   * @param complete true if the counts would be complete if the process died now
   * @param journalBytes the bytes of the journals that are in use
   */
  public static void add(Families to, boolean complete, long journalBytes) {
    to.gauge(
        "weir_state_kept",
        "1 if the counts would be complete if the process died now, 0 if not.",
        complete ? 1 : 0);
    to.gauge(
        "weir_state_journal_bytes",
        "Size of the changes in the journals since the last images of the counts, in bytes.",
        journalBytes);
  }
}
