package dev.weir.cluster.internal.state;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.shared.PolicyCode;
import dev.weir.shared.SharedBinding;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A policy in the replicas' form: the numbers that matter to its keys' state, and the name of the
 * keys. Two are equal if their bytes are equal. Immutable.
 */
public final class ClusterPolicy implements PolicyCode {
  /** The algorithms by the numbers with which they are written; the order must never change. */
  private static final Algorithm[] ALGORITHMS = {
    Algorithm.SLIDING_WINDOW_LOG,
    Algorithm.SLIDING_WINDOW_BUCKETS,
    Algorithm.SLIDING_WINDOW_COUNTER,
    Algorithm.FIXED_WINDOW,
    Algorithm.TOKEN_BUCKET,
    Algorithm.LEAKY_BUCKET,
    Algorithm.CONCURRENCY
  };

  private static final long NANOS_PER_MICRO = 1_000;

  private final String name;
  private final Policy policy;

  /** The policy in force under the name, whose state a variant uses; null if this is no variant. */
  private final @Nullable ClusterPolicy base;

  private final byte[] bytes;

  private ClusterPolicy(String name, Policy policy, @Nullable ClusterPolicy base) {
    this.name = name;
    this.policy = policy;
    this.base = base;
    ByteWriter out = new ByteWriter().writeText(name);
    write(policy, out);
    out.writeByte(base == null ? 0 : 1);
    if (base != null) {
      write(base.policy, out);
    }
    this.bytes = out.toBytes();
  }

  /**
   * Returns the replicas' form of a policy, counted for as long as its permits may be granted
   * elsewhere.
   */
  public static ClusterPolicy of(String name, Policy policy) {
    return new ClusterPolicy(name, counted(policy), null);
  }

  /** Returns the replicas' form of another policy that uses the state of this one's keys. */
  public ClusterPolicy variant(Policy other) {
    return new ClusterPolicy(name, counted(other), base == null ? this : base);
  }

  /** Reads a policy that {@link #bytes} returned. */
  public static ClusterPolicy read(byte[] bytes) {
    ByteReader in = new ByteReader(bytes, 0);
    String name = in.readText();
    Policy policy = readPolicy(in);
    ClusterPolicy base = in.readByte() == 0 ? null : new ClusterPolicy(name, readPolicy(in), null);
    if (!in.atEnd()) {
      throw new IllegalArgumentException("policy: bytes after its end");
    }
    return new ClusterPolicy(name, policy, base);
  }

  private static Policy counted(Policy policy) {
    Algorithm algorithm = SharedBinding.countedAlgorithm(policy);
    Quota quota =
        new Quota(policy.quota().permits(), whole(SharedBinding.countedWindowNanos(policy)));
    Policy.Builder builder = Policy.builder(quota).algorithm(algorithm);
    if (algorithm.granular()) {
      builder.granularity(Duration.ofNanos(whole(policy.granularityNanos())));
    }
    if (algorithm.bucket()) {
      builder.burst(policy.burst());
    }
    return builder.build();
  }

  /** Returns the next whole microsecond: the replicas' instants are whole microseconds. */
  private static long whole(long nanos) {
    return -Math.floorDiv(-nanos, NANOS_PER_MICRO) * NANOS_PER_MICRO;
  }

  private static void write(Policy policy, ByteWriter out) {
    out.writeByte(Arrays.asList(ALGORITHMS).indexOf(policy.algorithm()));
    out.writeNumber(policy.quota().permits());
    out.writeNumber(policy.quota().windowNanos());
    out.writeNumber(policy.burst());
    out.writeNumber(policy.granularityNanos());
  }

  private static Policy readPolicy(ByteReader in) {
    int code = in.readByte();
    if (code >= ALGORITHMS.length) {
      throw new IllegalArgumentException(
          "policy: algorithm " + code + " (expected: 0.." + (ALGORITHMS.length - 1) + ")");
    }
    Algorithm algorithm = ALGORITHMS[code];
    Quota quota = new Quota(in.readNumber(), in.readNumber());
    long burst = in.readNumber();
    long granularity = in.readNumber();
    Policy.Builder builder = Policy.builder(quota).algorithm(algorithm);
    if (algorithm.granular()) {
      builder.granularity(Duration.ofNanos(granularity));
    }
    if (algorithm.bucket()) {
      builder.burst(burst);
    }
    return builder.build();
  }

  String name() {
    return name;
  }

  public Policy policy() {
    return policy;
  }

  @Nullable ClusterPolicy base() {
    return base;
  }

  /** Returns whether it counts seats, which replicas do from {@link Levels#SEATS} on. */
  public boolean countsSeats() {
    return policy.algorithm() == Algorithm.CONCURRENCY || (base != null && base.countsSeats());
  }

  /**
   * Returns the time after its last use for which the state of a key can matter, in nanoseconds.
   */
  long memoryNanos() {
    long own = policy.shape().memoryNanos();
    return base == null ? own : Math.max(own, base.memoryNanos());
  }

  /** Returns the written form of the policy; not to be changed. */
  byte[] bytes() {
    return bytes;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ClusterPolicy same && Arrays.equals(bytes, same.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return name + ": " + policy;
  }
}
