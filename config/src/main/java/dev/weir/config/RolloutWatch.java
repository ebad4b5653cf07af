package dev.weir.config;

import dev.weir.config.ConfigException.Kind;
import org.jspecify.annotations.Nullable;

/** Which revision one server is to have in force. Used under its follower's lock. */
final class RolloutWatch implements FeedListener {
  /*
   * Is it read in time? The entry of a rollout is written before its revision, and a feed hands on
   * changes before it says where the head is. So a server that hears of the revision has heard
   * before that there is another entry, and reads it then.
   */

  private static final System.Logger LOG = System.getLogger("dev.weir.config");

  private final ConfigStore store;
  private final String node;
  private volatile boolean outdated = true;
  private @Nullable Rollout running;

  RolloutWatch(ConfigStore store, String node) {
    this.store = store;
    this.node = node;
  }

  @Override
  public void changed(long number, ChangeDetails change) {
    outdated = true;
  }

  @Override
  public void missed(Head head) {
    outdated = true;
  }

  /** Returns the head, at the revision that is to be in force here. */
  Head target(Head head) {
    if (outdated) {
      outdated = false;
      try {
        running = Rollouts.running(store).orElse(null);
      } catch (ConfigException e) {
        if (e.kind() != Kind.DAMAGED) {
          outdated = true;
          throw e;
        }
        LOG.log(System.Logger.Level.WARNING, "{0}; rules are followed without it", e.getMessage());
        running = null;
      }
    }
    Rollout rollout = running;
    return rollout == null || !rollout.holdsBack(node, head)
        ? head
        : new Head(head.store(), rollout.before(), head.position(), head.hash());
  }

  /** Ends the rollout if it is time, and if that is for this server to do. */
  void judge() {
    if (running != null) {
      running =
          Rollouts.judge(store, node)
              .filter(rollout -> rollout.state() == Rollout.State.RUNNING)
              .orElse(null);
    }
  }
}
