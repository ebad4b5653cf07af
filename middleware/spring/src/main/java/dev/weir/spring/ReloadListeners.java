package dev.weir.spring;

import dev.weir.engine.ReloadListener;
import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The listeners for changes of rules. Safe for use by many threads. */
final class ReloadListeners {
  private final List<ReloadListener> all = new CopyOnWriteArrayList<>();

  ReloadListeners(List<ReloadListener> listeners) {
    all.add(ReloadListener.logged());
    all.addAll(listeners);
  }

  /** Adds a listener, which is called from the next change on. */
  void add(ReloadListener listener) {
    all.add(listener);
  }

  /** Returns one listener that calls all of them. */
  ReloadListener asOne() {
    return new ReloadListener() {
      @Override
      public void applied(
          long revision, RuleSet rules, List<String> changes, List<Problem> warnings) {
        all.forEach(each -> each.applied(revision, rules, changes, warnings));
      }

      @Override
      public void refused(long revision, List<Problem> problems) {
        all.forEach(each -> each.refused(revision, problems));
      }

      @Override
      public void failed(String what, Throwable error) {
        all.forEach(each -> each.failed(what, error));
      }
    };
  }
}
