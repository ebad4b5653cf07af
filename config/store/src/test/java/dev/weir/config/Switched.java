package dev.weir.config;

import dev.weir.config.rows.Items;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Items of one database, until a test replaces that by another. */
public final class Switched implements Items {
  public volatile Items to;

  public Switched(Items to) {
    this.to = to;
  }

  @Override
  public Limits limits() {
    return to.limits();
  }

  @Override
  public State state() {
    return to.state();
  }

  @Override
  public boolean transact(State expected, State next, List<Write> writes) {
    return to.transact(expected, next, writes);
  }

  @Override
  public List<@Nullable Item> get(String table, List<byte[]> keys) {
    return to.get(table, keys);
  }

  @Override
  public List<Item> scan(String table, byte[] from, byte @Nullable [] end, int limit) {
    return to.scan(table, from, end, limit);
  }

  @Override
  public void put(String table, byte[] key, byte[] value, long version) {
    to.put(table, key, value, version);
  }

  @Override
  public void delete(String table, byte[] key) {
    to.delete(table, key);
  }

  @Override
  public long wallNanos() {
    return to.wallNanos();
  }

  @Override
  public void close() {
    to.close();
  }
}
