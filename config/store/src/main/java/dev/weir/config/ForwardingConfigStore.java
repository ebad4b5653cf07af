package dev.weir.config;

import dev.weir.config.rows.Tree;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A store that forwards all calls to another one. A store that differs from another in a few
 * respects extends it and overrides those methods. It is as safe for use by many threads as the
 * other store.
 */
public abstract class ForwardingConfigStore implements ConfigStore {
  /**
   * Returns the store that the present call goes to; called once for each call.
   *
   * @throws ConfigException if there is none now, which the call then throws
   */
  protected abstract ConfigStore delegate();

  @Override
  public Head head() {
    return delegate().head();
  }

  @Override
  public Optional<Revision> revision(long number) {
    return delegate().revision(number);
  }

  @Override
  public Map<String, String> texts(Collection<String> hashes) {
    return delegate().texts(hashes);
  }

  @Override
  public Revision commit(long expectedRevision, Tree tree, Collection<String> texts, Cause cause) {
    return delegate().commit(expectedRevision, tree, texts, cause);
  }

  @Override
  public Records records(Collection<Subject> subjects) {
    return delegate().records(subjects);
  }

  @Override
  public List<Change> write(List<RecordWrite> writes, Cause cause) {
    return delegate().write(writes, cause);
  }

  @Override
  public Records list(String domain, String key, String prefix, @Nullable String after, int limit) {
    return delegate().list(domain, key, prefix, after, limit);
  }

  @Override
  public RecordPage all(String domain, @Nullable Subject after, int limit) {
    return delegate().all(domain, after, limit);
  }

  @Override
  public List<Change> changes(long after, int limit) {
    return delegate().changes(after, limit);
  }

  @Override
  public List<Entry> entries() {
    return delegate().entries();
  }

  @Override
  public List<Entry> entries(String kind) {
    return delegate().entries(kind);
  }

  @Override
  public Optional<Change> write(EntryWrite write, Cause cause) {
    return delegate().write(write, cause);
  }

  @Override
  public Change log(String kind, String json, Cause cause) {
    return delegate().log(kind, json, cause);
  }

  @Override
  public List<Node> nodes() {
    return delegate().nodes();
  }

  @Override
  public void beat(Node node) {
    delegate().beat(node);
  }

  @Override
  public void close() {
    delegate().close();
  }
}
