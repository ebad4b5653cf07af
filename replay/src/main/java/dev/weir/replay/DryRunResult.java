package dev.weir.replay;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The effect of a change on recorded traffic. All values of descriptors in it are masked, except
 * those that a rule names.
 *
 * @param fromNanos the first instant of the traffic, in nanoseconds since the Unix epoch
 * @param toNanos the last instant of what was replayed, likewise
 * @param came the number of requests that came in the requested span
 * @param replayed the number of them that were replayed
 * @param keysPerReplayed the number of keys that each replayed key stands for: 1 if all keys were
 *     replayed, else a power of two
 * @param end the reason for which the run ended
 * @param before the totals under the rules in force
 * @param after the totals under the change
 * @param rules each rule that either side has, those that change most first
 * @param refusedMore the keys that would be refused more often, at most 20
 * @param refusedLess the keys that would be refused less often, at most 20
 * @param keysExact true if the counts of keys are exact; otherwise they can be too low
 * @param unknownSubjects subjects whose records could not be looked up; both sides treated them as
 *     having none
 * @param warnings the reasons for which the result is doubtful, one line each
 */
public record DryRunResult(
    long fromNanos,
    long toNanos,
    long came,
    long replayed,
    long keysPerReplayed,
    End end,
    Counts before,
    Counts after,
    List<RuleChange> rules,
    List<KeyChange> refusedMore,
    List<KeyChange> refusedLess,
    boolean keysExact,
    long unknownSubjects,
    List<String> warnings) {

  public DryRunResult {
    rules = List.copyOf(rules);
    refusedMore = List.copyOf(refusedMore);
    refusedLess = List.copyOf(refusedLess);
    warnings = List.copyOf(warnings);
  }

  /** The reason for which a dry run ended. */
  public enum End {
    /** All of the traffic was replayed. */
    COMPLETE,
    /** The most requests allowed were replayed. */
    REQUESTS,
    /** The processor time was used up. */
    PROCESSOR_TIME;

    /** Returns the name in the JSON, for example {@code processor-time}. */
    public String text() {
      return switch (this) {
        case COMPLETE -> "complete";
        case REQUESTS -> "requests";
        case PROCESSOR_TIME -> "processor-time";
      };
    }
  }

  /**
   * The outcomes of requests.
   *
   * @param asked the number of requests
   * @param admitted the number that may pass
   * @param refused the number that may not
   * @param shadow the number of admitted requests that pass only because of a shadow mode
   * @param trouble the number of requests refused for another reason than a limit; 0 for a single
   *     rule
   */
  public record Counts(long asked, long admitted, long refused, long shadow, long trouble) {}

  /**
   * The counts of one rule before and after the change.
   *
   * @param rule the name of its policy
   * @param path its path, which is unique
   * @param before null if the rules in force do not have it
   * @param after null if the change removes it
   * @param whole false if its counters also count keys that were not replayed: the rule would then
   *     refuse more than these counts
   */
  public record RuleChange(
      String rule, String path, @Nullable Counts before, @Nullable Counts after, boolean whole) {}

  /**
   * A key that is refused more or less often.
   *
   * @param rule the name of the policy that refuses
   * @param path the path of its rule
   * @param key the descriptor, masked
   * @param before the number of refusals that this key decided, before the change
   * @param after the same, after the change
   */
  public record KeyChange(String rule, String path, String key, long before, long after) {}
}
