package dev.weir.config.internal.follow;

import dev.weir.config.ChangeDetails;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.Head;
import dev.weir.config.Rollout;
import dev.weir.config.Rollouts;
import dev.weir.config.follow.FeedListener;
import org.jspecify.annotations.Nullable;

/** Which revision one server is to have in force. Used under its follower's lock. */
public final class RolloutWatch implements FeedListener {
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

  public RolloutWatch(ConfigStore store, String node) {
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
  public Head target(Head head) {
    Head at = head;
    if (outdated) {
      Rollout last = read();
      boolean runs = last != null && last.state() == Rollout.State.RUNNING;
      running = runs ? last : null;
      if (last != null && !runs && last.revision() == head.revision()) {
        // It has just ended, perhaps by a revision that this head does not know yet.
        at = store.head();
      }
    }
    Rollout rollout = running;
    return rollout == null || !rollout.holdsBack(node, at)
        ? at
        : new Head(at.store(), rollout.before(), at.position(), at.hash());
  }

  /** Has the entry read again before the next answer. */
  public void forget() {
    outdated = true;
  }

  private @Nullable Rollout read() {
    try {
      outdated = false;
      return Rollouts.last(store).orElse(null);
    } catch (ConfigException e) {
      if (e.kind() != Kind.DAMAGED) {
        outdated = true;
        throw e;
      }
      LOG.log(System.Logger.Level.WARNING, "{0}; rules are followed without it", e.getMessage());
      return null;
    } catch (RuntimeException | Error e) {
      outdated = true;
      throw e;
    }
  }

  /** Ends the rollout if it is time, and if that is for this server to do. */
  public void judge() {
    if (running != null) {
      running =
          Rollouts.judge(store, node)
              .filter(rollout -> rollout.state() == Rollout.State.RUNNING)
              .orElse(null);
    }
  }
}
