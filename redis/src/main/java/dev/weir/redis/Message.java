package dev.weir.redis;

import dev.weir.Charges.Role;
import dev.weir.Policy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One call of the script being written: its keys, policies and requests. */
final class Message {
  /** Instead of a time: Redis's own. */
  static final long NO_TIME = -(1L << 53);

  private static final int ASK = 1;
  private static final int SOME = 2;
  private static final int RECORD = 3;
  private static final int REFUND = 4;

  /** No limit is higher, and multiples of it are still exact. */
  static final long MOST_PERMITS = 1L << 33;

  private static final int NOT_QUEUED = -1;

  private final MessageWriter policies = new MessageWriter();
  private final MessageWriter requests = new MessageWriter();
  private final Map<RedisLimit, Integer> policyNumbers = new HashMap<>();
  private final Map<ByteBuffer, Integer> keyNumbers = new HashMap<>();
  private final List<byte[]> keys = new ArrayList<>();

  /** Begins a request of several charges, each to be added by {@link #charge}. */
  void ask(int charges, boolean peeking, boolean queued, long maxWaitNanos) {
    long wait = queued ? maxWaitNanos / Result.NANOS_PER_MICRO : NOT_QUEUED;
    requests.add(ASK).add(charges).add(peeking ? 1 : 0).add(wait);
  }

  void charge(RedisLimit limit, byte[] key, long permits, Role role) {
    target(limit, key).add(Math.min(permits, MOST_PERMITS)).add(number(role));
  }

  private static int number(Role role) {
    return switch (role) {
      case REQUIRED -> 0;
      case ANY -> 1;
      case OPTIONAL -> 2;
    };
  }

  /** Adds a request for permits, as often as they fit, at most {@code count} times. */
  void some(RedisLimit limit, byte[] key, long permits, long count) {
    requests.add(SOME);
    target(limit, key).add(permits).add(count);
  }

  /** Adds permits that are admitted already. */
  void record(RedisLimit limit, byte[] key, long permits) {
    requests.add(RECORD);
    target(limit, key).add(permits);
  }

  /** Adds permits to be given back. */
  void refund(RedisLimit limit, byte[] key, long permits, long atNanos, long resetNanos) {
    requests.add(REFUND);
    target(limit, key)
        .add(permits)
        .add(Math.floorDiv(atNanos, Result.NANOS_PER_MICRO))
        .add(Math.floorDiv(resetNanos, Result.NANOS_PER_MICRO))
        .add(Math.floorMod(resetNanos, Result.NANOS_PER_MICRO));
  }

  /** Returns a call that counts one permit of one key, whether it fits or not, and so writes. */
  static byte[] ofOnePermit(Policy policy) {
    MessageWriter writer = new MessageWriter().add(NO_TIME).add(1);
    for (long number : RedisLimit.numbers(policy)) {
      writer.add(number);
    }
    return writer.add(RECORD).add(1).add(1).add(1).toBytes();
  }

  private MessageWriter target(RedisLimit limit, byte[] key) {
    Integer number = keyNumbers.get(ByteBuffer.wrap(key));
    if (number == null) {
      keys.add(key);
      number = keys.size();
      keyNumbers.put(ByteBuffer.wrap(key), number);
    }
    return requests.add(number).add(policy(limit));
  }

  private int policy(RedisLimit limit) {
    return policyNumbers.computeIfAbsent(
        limit,
        added -> {
          for (long value : added.numbers()) {
            policies.add(value);
          }
          return policyNumbers.size() + 1;
        });
  }

  byte[][] keys() {
    return keys.toArray(new byte[0][]);
  }

  /** Returns the argument of the script, for a time of the caller's or {@link #NO_TIME}. */
  byte[] toBytes(long nowMicros) {
    return new MessageWriter()
        .add(nowMicros)
        .add(policyNumbers.size())
        .addAll(policies)
        .addAll(requests)
        .toBytes();
  }
}
