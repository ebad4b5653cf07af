package dev.weir.rules.internal.parse;

import dev.weir.Algorithm;
import dev.weir.rules.DidYouMean;
import dev.weir.rules.UnknownSubject;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a {@code rate_limit} about subjects: the entry of a request that names one, and the
 * treatment of requests while its limits are not known.
 *
 * @param level the level of {@code by}, 0 being the first; {@link #NONE} without it
 */
public record SubjectFields(int level, UnknownSubject unknown) {
  /** The level of a rule without {@code by}. */
  public static final int NONE = -1;

  /** Reads the fields, and reports those that are wrong; each key at most once. */
  static SubjectFields read(Fields fields, RuleDraft draft, Problems problems) {
    UnknownSubject said =
        fields.choice("unknown", List.of(UnknownSubject.values()), UnknownSubject.WAIT);
    UnknownSubject unknown = said == null ? UnknownSubject.WAIT : said;
    if (!fields.has("by")) {
      if (fields.has("unknown")) {
        fields.error("unknown", "none without by");
      }
      return new SubjectFields(NONE, unknown);
    }
    return new SubjectFields(level(fields, draft, problems), unknown);
  }

  private static int level(Fields fields, RuleDraft draft, Problems problems) {
    int errorsBefore = problems.errors();
    String key = fields.text("by", RuleParser.MAX_TEXT);
    if (problems.errors() > errorsBefore) {
      return NONE;
    }
    List<String> keys = List.of(draft.keys);
    int level = keys.indexOf(key);
    if (level < 0) {
      problems.error(
          fields.position("by"),
          "by: %s%s (expected: a key of this rule's levels: %s)"
              .formatted(fields.shown("by"), DidYouMean.of(key, keys), shown(keys)));
    } else if (level != keys.lastIndexOf(key)) {
      fields.error("by", "a key that only one of this rule's levels has");
    } else if (draft.shared[level]) {
      fields.error("by", "a level without share_threshold, whose values have one counter");
    }
    return level;
  }

  private static String shown(List<String> keys) {
    List<String> shown = new ArrayList<>();
    keys.forEach(key -> shown.add(Words.shown(key)));
    return String.join(", ", shown);
  }

  /**
   * Returns the algorithm that counts. Subjects of one rule have limits of all sizes, and one key's
   * state must mean the same under each of them: so a sliding window does not choose by the size.
   */
  @Nullable Algorithm algorithm(@Nullable Algorithm said) {
    return level != NONE && said == Algorithm.SLIDING_WINDOW
        ? Algorithm.SLIDING_WINDOW_BUCKETS
        : said;
  }
}
