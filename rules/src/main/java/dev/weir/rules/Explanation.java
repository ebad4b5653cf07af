package dev.weir.rules;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rule that decides a descriptor, the rules that were considered, and why those did not decide.
 * {@link #toString()} is for people.
 *
 * @param rule the rule that decides, or null if none does
 * @param verdict one line: what decides, or why nothing does
 * @param steps one for each level that the walk reached
 */
public record Explanation(
    String domain, List<Entry> entries, @Nullable Rule rule, String verdict, List<Step> steps) {

  public Explanation {
    entries = List.copyOf(entries);
    steps = List.copyOf(steps);
  }

  /**
   * One level of the walk.
   *
   * @param candidates the rules on that level with the entry's key, in the order of precedence
   * @param note a remark, or the empty text
   */
  public record Step(Entry entry, List<Candidate> candidates, String note) {
    public Step {
      candidates = List.copyOf(candidates);
    }
  }

  /**
   * A rule that was considered.
   *
   * @param chosen whether the walk went on from here
   * @param why the reason for that
   */
  public record Candidate(Rule rule, boolean chosen, String why) {}

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("domain ").append(domain).append('\n');
    int number = 0;
    for (Step step : steps) {
      text.append(++number).append(". ");
      text.append(step.entry().key()).append('=').append(step.entry().value()).append('\n');
      for (Candidate candidate : step.candidates()) {
        text.append(candidate.chosen() ? "   -> " : "      ");
        text.append(candidate.rule().path()).append(" (").append(candidate.rule().position());
        text.append("): ").append(candidate.why()).append('\n');
      }
      if (!step.note().isEmpty()) {
        text.append("      ").append(step.note()).append('\n');
      }
    }
    return text.append(verdict).toString();
  }
}
