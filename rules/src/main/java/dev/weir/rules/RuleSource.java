package dev.weir.rules;

import dev.weir.rules.internal.parse.RuleFilesSource;
import java.nio.file.Path;
import java.util.List;

/**
 * Where rules come from, first at the start and then whenever they change. Safe for use by several
 * threads.
 */
public interface RuleSource extends AutoCloseable {
  /** What becomes of rules that have changed. Its methods are called by one thread at a time. */
  interface Taker {
    /**
     * Puts changed rules in force, if they can be.
     *
     * @param loaded the new content, good or broken
     * @return why they are not in force; empty if they are
     */
    List<Problem> changed(Rules.Loaded loaded);

    /** Hears of an error that is not in the rules; the source goes on. */
    void failed(Throwable error);
  }

  /** Returns rule files and folders as a source. */
  static RuleSource files(List<Path> paths, RuleDefaults defaults) {
    return new RuleFilesSource(paths, defaults);
  }

  /** Reads the rules as they are now; that there are none to be read is a problem among others. */
  Rules.Loaded load();

  /**
   * Reports changes from now on, on a thread of the source's own. Called once.
   *
   * @param current the rules in force, as they were loaded from here; if there are others already,
   *     that is reported like any change
   */
  void follow(RuleSet current, Taker taker);

  /** Ends the reports, in a bounded time. May be called again. */
  @Override
  void close();
}
