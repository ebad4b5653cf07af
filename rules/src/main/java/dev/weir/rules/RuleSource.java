package dev.weir.rules;

import dev.weir.rules.internal.parse.RuleFilesSource;
import java.nio.file.Path;
import java.util.List;

/**
 * A source of rules, which are read first at the start and then whenever they change. Safe for use
 * by several threads.
 */
public interface RuleSource extends AutoCloseable {
  /** A receiver of rules that have changed. Its methods are called by one thread at a time. */
  interface Taker {
    /**
     * Puts changed rules in force, if possible.
     *
     * @param loaded the new content, good or broken
     * @return why they are not in force; empty if they are
     */
    List<Problem> changed(Rules.LoadResult loaded);

    /** Receives an error that is not in the rules; the source continues. */
    void failed(Throwable error);
  }

  /** Returns a source of rule files and folders. */
  static RuleSource files(List<Path> paths, RuleDefaults defaults) {
    return new RuleFilesSource(paths, defaults);
  }

  /** Reads the rules as they are now. Rules that cannot be read are reported as a problem. */
  Rules.LoadResult load();

  /**
   * Reports changes from now on, on a thread of the source. Called once.
   *
   * @param current the rules in force, as they were loaded from here; if they differ already, that
   *     is reported like any change
   */
  void follow(RuleSet current, Taker taker);

  /** Ends the reports, in a bounded time. May be called again. */
  @Override
  void close();
}
