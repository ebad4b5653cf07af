package dev.weir.admin;

import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.EntryWrite;
import dev.weir.config.ForwardingConfigStore;
import dev.weir.config.RecordWrite;
import dev.weir.config.Revision;
import dev.weir.config.rows.Tree;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** A store that is away at the test's command, or whose disk is full. */
public final class FailingStore extends ForwardingConfigStore {
  private final ConfigStore to;
  public volatile boolean away;
  public volatile boolean full;

  public FailingStore(ConfigStore to) {
    this.to = to;
  }

  @Override
  protected ConfigStore delegate() {
    if (away) {
      throw new ConfigException(ConfigException.Kind.UNAVAILABLE, "store: no answer");
    }
    return to;
  }

  private void requireSpace() {
    if (full) {
      throw new ConfigException(ConfigException.Kind.FULL, "disk: full");
    }
  }

  @Override
  public Revision commit(long expectedRevision, Tree tree, Collection<String> texts, Cause cause) {
    requireSpace();
    return super.commit(expectedRevision, tree, texts, cause);
  }

  @Override
  public List<Change> write(List<RecordWrite> writes, Cause cause) {
    requireSpace();
    return super.write(writes, cause);
  }

  @Override
  public Optional<Change> write(EntryWrite write, Cause cause) {
    requireSpace();
    return super.write(write, cause);
  }

  @Override
  public Change log(String kind, String json, Cause cause) {
    requireSpace();
    return super.log(kind, json, cause);
  }

  @Override
  public void close() {
    to.close();
  }
}
