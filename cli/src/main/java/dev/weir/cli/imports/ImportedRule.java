package dev.weir.cli.imports;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A rule made of a limit of another limiter, with comments on the differences. Not safe for use by
 * several threads.
 */
final class ImportedRule {
  private static final long MILLIS_IN_A_SECOND = 1_000;

  /** The longest window of a rule. */
  private static final Duration MOST_WINDOW = Duration.ofDays(366);

  /** The most permits of a burst, in those of a window; beyond that lint warns. */
  private static final long MOST_BURST = 10;

  /** An entry of the descriptor; without a value it is a limit of each value. */
  record Level(String key, @Nullable String value) {}

  private final List<Level> levels;
  private final List<String> comments = new ArrayList<>();
  private final List<String> fields = new ArrayList<>();
  private boolean carriedOver = true;
  private boolean shadow;

  /** Creates a rule of each value of a key. */
  ImportedRule(String key) {
    this(List.of(new Level(key, null)));
  }

  /** Creates a rule of a descriptor, with one entry at least. */
  ImportedRule(List<Level> levels) {
    this.levels = List.copyOf(levels);
  }

  /** Sets shadow mode, so that the rule refuses nothing. */
  ImportedRule shadow() {
    shadow = true;
    return this;
  }

  /** Adds a comment about the source of the rule, or about its use. */
  ImportedRule comment(String text) {
    comments.add(text);
    return this;
  }

  /** Adds a comment that the original admits the same. */
  ImportedRule same(String text) {
    return comment("Same: " + text);
  }

  /** Adds a comment that the rule refuses some requests which the original admits. */
  ImportedRule stricter(String text) {
    return comment("Stricter: " + text);
  }

  /** Adds a comment on a part of the original that the rule does not have. */
  ImportedRule missing(String text) {
    carriedOver = false;
    return comment("Not carried over: " + text);
  }

  /** Sets the permits, and the window, which is at least a millisecond. */
  ImportedRule rate(long permits, Duration window) {
    field("requests_per_unit", permits);
    return field("window", text(window));
  }

  /**
   * Sets a bucket. Its window and permits are as many times as long as lint accepts with the burst
   * and with a queue, which changes nothing of the rate.
   *
   * @param queued the most requests that will wait for it
   */
  ImportedRule bucket(long permits, Duration window, long burst, long queued) {
    long least = Math.max(1, permits);
    long wide = MOST_WINDOW.toMillis() / Math.max(1, window.toMillis());
    long wanted = Math.max(parts(queued, least), parts(burst, least * MOST_BURST));
    long times = Math.max(1, Math.min(wide, wanted));
    rate(permits * times, window.multipliedBy(times));
    return field("algorithm", "token-bucket").field("burst", burst);
  }

  private static long parts(long of, long each) {
    return of / each + (of % each == 0 ? 0 : 1);
  }

  /** Sets a field of {@code rate_limit}. */
  ImportedRule field(String name, Object text) {
    fields.add(name + ": " + text);
    return this;
  }

  /** Returns whether no comment says that a part is missing. */
  boolean isCarriedOver() {
    return carriedOver;
  }

  boolean isShadow() {
    return shadow;
  }

  List<Level> levels() {
    return levels;
  }

  /** Returns the key of the first entry. */
  String key() {
    return levels.get(0).key();
  }

  /** Returns the entries in the form {@code key=value,key2}. */
  String descriptor() {
    return levels.stream()
        .map(each -> each.value() == null ? each.key() : each.key() + "=" + each.value())
        .collect(Collectors.joining(","));
  }

  List<String> comments() {
    return comments;
  }

  List<String> fields() {
    return fields;
  }

  /** Returns a window as rules have it. */
  static String text(Duration window) {
    long millis = window.toMillis();
    return millis % MILLIS_IN_A_SECOND == 0 ? millis / MILLIS_IN_A_SECOND + "s" : millis + "ms";
  }
}
