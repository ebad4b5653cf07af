package dev.weir.config;

import dev.weir.config.rows.Tree;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A store that forwards all calls to another one; tests override some of its methods. */
public class ForwardingConfigStore implements ConfigStore {
  private final ConfigStore to;

  public ForwardingConfigStore(ConfigStore to) {
    this.to = to;
  }

  @Override
  public Head head() {
    return to.head();
  }

  @Override
  public Optional<Revision> revision(long number) {
    return to.revision(number);
  }

  @Override
  public Map<String, String> texts(Collection<String> hashes) {
    return to.texts(hashes);
  }

  @Override
  public Revision commit(long expectedRevision, Tree tree, Collection<String> texts, Cause cause) {
    return to.commit(expectedRevision, tree, texts, cause);
  }

  @Override
  public Records records(Collection<Subject> subjects) {
    return to.records(subjects);
  }

  @Override
  public List<Change> write(List<RecordWrite> writes, Cause cause) {
    return to.write(writes, cause);
  }

  @Override
  public Records list(String domain, String key, String prefix, @Nullable String after, int limit) {
    return to.list(domain, key, prefix, after, limit);
  }

  @Override
  public RecordPage all(String domain, @Nullable Subject after, int limit) {
    return to.all(domain, after, limit);
  }

  @Override
  public List<Change> changes(long after, int limit) {
    return to.changes(after, limit);
  }

  @Override
  public List<Entry> entries(String kind) {
    return to.entries(kind);
  }

  @Override
  public Optional<Change> write(EntryWrite write, Cause cause) {
    return to.write(write, cause);
  }

  @Override
  public Change note(String kind, String json, Cause cause) {
    return to.note(kind, json, cause);
  }

  @Override
  public List<Node> nodes() {
    return to.nodes();
  }

  @Override
  public void beat(Node node) {
    to.beat(node);
  }

  @Override
  public void close() {
    to.close();
  }
}
