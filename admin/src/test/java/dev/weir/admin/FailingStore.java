package dev.weir.admin;

import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Entry;
import dev.weir.config.EntryWrite;
import dev.weir.config.Head;
import dev.weir.config.Node;
import dev.weir.config.RecordPage;
import dev.weir.config.RecordWrite;
import dev.weir.config.Records;
import dev.weir.config.Revision;
import dev.weir.config.Subject;
import dev.weir.config.rows.Tree;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A store that is away at the test's command, or whose disk is full. */
public final class FailingStore implements ConfigStore {
  private final ConfigStore to;
  public volatile boolean away;
  public volatile boolean full;

  public FailingStore(ConfigStore to) {
    this.to = to;
  }

  private ConfigStore reading() {
    if (away) {
      throw new ConfigException(ConfigException.Kind.UNAVAILABLE, "store: no answer");
    }
    return to;
  }

  private ConfigStore writing() {
    if (full) {
      throw new ConfigException(ConfigException.Kind.FULL, "disk: full");
    }
    return reading();
  }

  @Override
  public Head head() {
    return reading().head();
  }

  @Override
  public Optional<Revision> revision(long number) {
    return reading().revision(number);
  }

  @Override
  public Map<String, String> texts(Collection<String> hashes) {
    return reading().texts(hashes);
  }

  @Override
  public Revision commit(long expectedRevision, Tree tree, Collection<String> texts, Cause cause) {
    return writing().commit(expectedRevision, tree, texts, cause);
  }

  @Override
  public Records records(Collection<Subject> subjects) {
    return reading().records(subjects);
  }

  @Override
  public List<Change> write(List<RecordWrite> writes, Cause cause) {
    return writing().write(writes, cause);
  }

  @Override
  public Records list(String domain, String key, String prefix, @Nullable String after, int limit) {
    return reading().list(domain, key, prefix, after, limit);
  }

  @Override
  public RecordPage all(String domain, @Nullable Subject after, int limit) {
    return reading().all(domain, after, limit);
  }

  @Override
  public List<Change> changes(long after, int limit) {
    return reading().changes(after, limit);
  }

  @Override
  public List<Entry> entries(String kind) {
    return reading().entries(kind);
  }

  @Override
  public Optional<Change> write(EntryWrite write, Cause cause) {
    return writing().write(write, cause);
  }

  @Override
  public Change note(String kind, String json, Cause cause) {
    return writing().note(kind, json, cause);
  }

  @Override
  public List<Node> nodes() {
    return reading().nodes();
  }

  @Override
  public void beat(Node node) {
    reading().beat(node);
  }

  @Override
  public void close() {
    to.close();
  }
}
