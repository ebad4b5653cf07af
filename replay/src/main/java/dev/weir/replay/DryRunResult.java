package dev.weir.replay;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a change would have done to recorded traffic. All values of descriptors in it are masked,
 * save those that a rule names.
 *
 * @param fromNanos the first instant of the traffic, in nanoseconds since the Unix epoch
 * @param toNanos the last instant of what was replayed, likewise
 * @param came how many requests came in the span that was asked for
 * @param replayed how many of them were replayed
 * @param keysPerReplayed for how many keys each one stands: 1 if all keys were replayed, else a
 *     power of two
 * @param end why it ended
 * @param before the totals under the rules in force
 * @param after the totals under the change
 * @param rules each rule that either side has, those that change most first
 * @param refusedMore the keys that would be refused more often, at most 20
 * @param refusedLess the keys that would be refused less often, at most 20
 * @param keysExact whether the counts of keys are exact; otherwise they can be too low
 * @param unknownSubjects subjects whose records could not be looked up; both sides took them as
 *     having none
 * @param warnings what makes the result doubtful, one line each
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

  /** Why a dry run ended. */
  public enum End {
    /** All of the traffic was replayed. */
    COMPLETE,
    /** As many requests as may be were replayed. */
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
   * What became of requests.
   *
   * @param asked how many there were
   * @param admitted how many may pass
   * @param refused how many may not
   * @param shadow of the admitted, how many pass only because of a shadow mode
   * @param trouble of the refused, how many for another reason than a limit; 0 for a single rule
   */
  public record Counts(long asked, long admitted, long refused, long shadow, long trouble) {}

  /**
   * What one rule does before and after.
   *
   * @param rule the name of its policy
   * @param path its path, which is unique
   * @param before null if the rules in force do not have it
   * @param after null if the change removes it
   * @param whole false if its counters have requests of keys that were not replayed: it would then
   *     refuse more than this says
   */
  public record RuleChange(
      String rule, String path, @Nullable Counts before, @Nullable Counts after, boolean whole) {}

  /**
   * A key that is refused more or less often.
   *
   * @param rule the name of the policy that refuses
   * @param path the path of its rule
   * @param key the descriptor, masked
   * @param before how often it was the key that decided a refusal, before
   * @param after the same, after
   */
  public record KeyChange(String rule, String path, String key, long before, long after) {}
}
