package dev.weir.redis;

import dev.weir.Batch;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.Limit;
import dev.weir.Policy;
import dev.weir.Store;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** A store in Redis or Valkey, shared by many processes. Safe for use by many threads. */
public final class RedisStore implements Store {
  private RedisStore(Builder builder) {
    Objects.requireNonNull(builder);
  }

  /**
   * Returns a builder of a store.
   *
   * @param uri {@code redis://[user:password@]host[:port][/database]}, {@code rediss://} for TLS,
   *     {@code redis-sentinel://host[:port][,host...][/database]#master}, {@code
   *     redis-cluster://host[:port][,host...]}
   * @throws IllegalArgumentException if it is none of these
   */
  public static Builder builder(String uri) {
    return new Builder(uri);
  }

  @Override
  public Fingerprint fingerprint() {
    return Fingerprint.shared();
  }

  @Override
  public Limit limit(String name, Policy policy, long nowNanos) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void retire(String name, long nowNanos) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void refund(
      Limit limit,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void expire(long nowNanos) {}

  @Override
  public long keys() {
    return 0;
  }

  @Override
  public long maxKeys() {
    return Long.MAX_VALUE;
  }

  @Override
  public long bytes() {
    return 0;
  }

  @Override
  public long maxBytes() {
    return Long.MAX_VALUE;
  }

  /** Returns what the store has counted since it began; a snapshot. */
  public RedisMetrics metrics() {
    return new RedisMetrics(available(), 0, 0, 0, 0, 0, java.util.Map.of(), 0, 0, 0);
  }

  /** Returns whether Redis can be asked now: connected, and not given up on for the moment. */
  public boolean available() {
    return false;
  }

  @Override
  public void close() {}

  /** Collects a store's options. Not safe for use by several threads. */
  public static final class Builder {
    private Builder(String uri) {
      Objects.requireNonNull(uri);
    }

    /** Sets what the names of all keys begin with. Default: {@code weir}. */
    public Builder prefix(String prefix) {
      return this;
    }

    /**
     * Sets how long a decision may take, 1 ms to 60 s; then it is answered as its policy says.
     * Default: 100 ms.
     */
    public Builder timeout(Duration timeout) {
      return this;
    }

    /**
     * Sets how many replicas must have a decision before it is answered; those that do not in time
     * make it uncertain. 0 to 16; default: 0.
     */
    public Builder replicas(int replicas) {
      return this;
    }

    /** Sets who is told, in one line each, of what an operator should know. Default: nobody. */
    public Builder log(Consumer<? super String> log) {
      return this;
    }

    /**
     * Returns the store. It connects by itself, now or whenever Redis is there, and again after
     * every loss.
     */
    public RedisStore build() {
      return new RedisStore(this);
    }
  }
}
