package dev.weir.config;

import dev.weir.config.internal.bytes.HexHash;
import java.util.ArrayList;
import java.util.List;

/** A store whose log was tampered with. */
final class Tampered extends WrappedConfigStore {
  /** The ways to tamper with a change. */
  enum How {
    EDITED,
    REHASHED,
    REMOVED,
    CUT_OFF_WITH_ALL_BEHIND,
    REWRITTEN_WITH_ALL_BEHIND
  }

  private final long broken;
  private final How how;

  Tampered(ConfigStore to, long broken, How how) {
    super(to);
    this.broken = broken;
    this.how = how;
  }

  @Override
  public Head head() {
    Head head = super.head();
    List<Change> log = changes(0, MAX_BATCH);
    if (how == How.CUT_OFF_WITH_ALL_BEHIND || how == How.REWRITTEN_WITH_ALL_BEHIND) {
      String hash = log.isEmpty() ? HexHash.NONE : log.get(log.size() - 1).hash();
      return new Head(head.store(), head.revision(), log.size(), hash);
    }
    return head;
  }

  @Override
  public List<Change> changes(long after, int limit) {
    List<Change> changed = new ArrayList<>();
    String previous = HexHash.NONE;
    for (Change change : super.changes(0, MAX_BATCH)) {
      boolean here = change.number() == broken;
      String json = here ? change.json().replace("ops", "oops") : change.json();
      switch (how) {
        case EDITED -> changed.add(new Change(change.number(), json, change.hash()));
        case REHASHED -> {
          String hash = here ? HexHash.chained(previous, json) : change.hash();
          changed.add(new Change(change.number(), json, hash));
        }
        case REMOVED -> {
          if (!here) {
            changed.add(change);
          }
        }
        case CUT_OFF_WITH_ALL_BEHIND -> {
          if (change.number() < broken) {
            changed.add(change);
          }
        }
        case REWRITTEN_WITH_ALL_BEHIND -> {
          changed.add(new Change(change.number(), json, HexHash.chained(previous, json)));
        }
      }
      previous = how == How.REWRITTEN_WITH_ALL_BEHIND ? last(changed) : change.hash();
    }
    return changed.stream().filter(change -> change.number() > after).limit(limit).toList();
  }

  private static String last(List<Change> changes) {
    return changes.get(changes.size() - 1).hash();
  }
}
