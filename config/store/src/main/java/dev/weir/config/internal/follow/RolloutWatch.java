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

/** The revision that one server should have in force. Used under its follower's lock. */
public final class RolloutWatch implements FeedListener {
  /*
   * Is the entry read in time? The entry of a rollout is written before its revision, and a feed
   * reports changes before the head. So a server is notified of the entry before it is notified of
   * the revision, and reads the entry then.
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

  /** Returns the head, with the revision that should be in force here. */
  public Head target(Head head) {
    Head at = head;
    if (outdated) {
      Rollout last = read();
      boolean runs = last != null && last.state() == Rollout.State.RUNNING;
      running = runs ? last : null;
      if (last != null && !runs && last.revision() == head.revision()) {
        // The rollout has just ended, perhaps by a revision that is newer than this head.
        at = store.head();
      }
    }
    Rollout rollout = running;
    return rollout == null || !rollout.holdsBack(node, at)
        ? at
        : new Head(at.store(), rollout.before(), at.position(), at.hash());
  }

  /** Makes the next call of {@link #target} read the entry again. */
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

  /** Ends the rollout if it is time, and if this server is the one to do it. */
  public void judge() {
    if (running != null) {
      running =
          Rollouts.judge(store, node)
              .filter(rollout -> rollout.state() == Rollout.State.RUNNING)
              .orElse(null);
    }
  }
}
