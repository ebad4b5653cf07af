package dev.weir.rules.internal.parse;

import dev.weir.identity.AddressRanges;
import dev.weir.rules.Rule;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Hints at what was probably meant by a text that is allowed, or nearly allowed. */
final class Hints {
  /** Signs of a regular expression, which no value of a header or a path has. */
  private static final Pattern REGULAR_EXPRESSION =
      Pattern.compile("^\\^|[^\\\\]\\$$|\\.[*+]|\\\\[dwsSWD.]|\\[[^\\]]+\\][*+]|\\(\\?");

  /** A range of addresses, whose last part is the number of common first bits. */
  private static final Pattern RANGE =
      Pattern.compile("(?:[0-9]{1,3}(?:\\.[0-9]{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]*)/[0-9]{1,3}");

  private static final Pattern THOUSANDS = Pattern.compile("[0-9]{3}");
  private static final Pattern DECIMAL = Pattern.compile("0?\\.[0-9]+");
  private static final Pattern SHORT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)([kKmM])");

  private Hints() {}

  /** Warns of a key that looks like several, and of a value that looks like more than a text. */
  static void entry(Fields fields, String key, String value) {
    if (key.indexOf(',') >= 0) {
      fields.warning(
          "key", "one key; a descriptor of several entries has descriptors in descriptors");
    }
    if (REGULAR_EXPRESSION.matcher(value).find()) {
      fields.warning("value", "a text; a * stands for any characters, other patterns are not read");
    }
    if (RANGE.matcher(value).matches() && !AddressRanges.isRange(value)) {
      fields.warning(
          "value", "a range such as 10.0.0.0/8, without bits behind its prefix; this is a text");
    }
  }

  /**
   * Warns of rules that limit nothing. Beside another rule of its key, a rule without a limit
   * exempts its value from that rule.
   *
   * @param bare the rules without a limit and without descriptors
   */
  static void nothingLimited(List<Rule> siblings, Set<Rule> bare, Problems problems) {
    Map<String, Integer> keys = new HashMap<>();
    for (Rule rule : siblings) {
      keys.merge(rule.key(), 1, Integer::sum);
    }
    for (Rule rule : siblings) {
      boolean alone = keys.getOrDefault(rule.key(), 0) == 1;
      if (alone && !rule.key().isEmpty() && bare.contains(rule)) {
        problems.hint(
            rule.position(),
            "descriptor: %s limits nothing (expected: rate_limit or descriptors)"
                .formatted(Words.quoted(RuleDraft.compositeKey(rule.key(), rule.value()))));
      }
    }
  }

  /** Returns the expected form of a key that is a number. */
  static String numericKey(String key) {
    return THOUSANDS.matcher(key).matches()
        ? "a text; within a number there is no comma: 5_000"
        : "a text";
  }

  /** Returns the form of the whole number that was probably meant; empty if none was. */
  static String number(String written) {
    if (DECIMAL.matcher(written).matches()) {
      return "; for fewer than one a unit, window: 2s with requests_per_unit: 1";
    }
    if (SHORT.matcher(written).matches()) {
      char unit = Character.toLowerCase(written.charAt(written.length() - 1));
      return "; with its zeros, as in " + (unit == 'k' ? "1_000" : "1_000_000");
    }
    return written.indexOf(',') >= 0 ? "; without a comma, as in 5_000" : "";
  }
}
