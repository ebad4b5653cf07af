package dev.weir.rules.internal.parse;

import dev.weir.rules.Problem;
import dev.weir.rules.RuleDefaults;
import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleSource;
import dev.weir.rules.RuleWatcher;
import dev.weir.rules.Rules;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A source of rule files that are watched. */
public final class RuleFilesSource implements RuleSource {
  private final List<Path> paths;
  private final RuleDefaults defaults;
  private volatile @Nullable RuleWatcher watcher;

  public RuleFilesSource(List<Path> paths, RuleDefaults defaults) {
    this.paths = List.copyOf(paths);
    this.defaults = defaults;
  }

  @Override
  public Rules.LoadResult load() {
    return Rules.load(paths, defaults);
  }

  @Override
  public void follow(RuleSet current, Taker taker) {
    watcher =
        RuleWatcher.start(
            paths,
            current,
            loaded -> {
              List<Problem> unused = taker.changed(loaded);
            },
            taker::failed);
  }

  @Override
  public void close() {
    RuleWatcher started = watcher;
    if (started != null) {
      started.close();
    }
  }
}
