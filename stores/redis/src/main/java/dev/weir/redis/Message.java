package dev.weir.redis;

import dev.weir.Charges.Role;
import dev.weir.Policy;
import dev.weir.shared.Call;
import dev.weir.shared.Reply;
import dev.weir.shared.SharedBinding;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** One call of the script being written: its keys, policies and requests. */
final class Message implements Call {
  /** The sender of a written message. */
  interface Sender {
    CompletionStage<? extends Reply> send(byte[][] keys, byte[] message);
  }

  /** A mark in place of a time: the script uses Redis's own. */
  static final long NO_TIME = -(1L << 53);

  private static final int ASK = 1;
  private static final int SOME = 2;
  private static final int RECORD = 3;
  private static final int REFUND = 4;
  private static final int RESET = 5;
  private static final int RENEW = 6;

  /**
   * The most permits that are sent: no policy has more, and multiples of the number are still
   * exact.
   */
  private static final long MOST_PERMITS = 1L << 33;

  private static final int NOT_QUEUED = -1;

  private static final long NANOS_PER_MICRO = 1_000;

  private final Sender sender;
  private final MessageWriter policies = new MessageWriter();
  private final MessageWriter requests = new MessageWriter();
  private final Map<SharedBinding, Integer> policyNumbers = new HashMap<>();
  private final Map<ByteBuffer, Integer> keyNumbers = new HashMap<>();
  private final List<byte[]> keys = new ArrayList<>();

  Message(Sender sender) {
    this.sender = sender;
  }

  @Override
  public void decideMany(int charges, boolean peeking, boolean queued, long maxWaitNanos) {
    long wait = queued ? maxWaitNanos / NANOS_PER_MICRO : NOT_QUEUED;
    requests.add(ASK).add(charges).add(peeking ? 1 : 0).add(wait);
  }

  @Override
  public void charge(SharedBinding binding, long fingerprint, long permits, Role role) {
    target(binding, fingerprint).add(Math.min(permits, MOST_PERMITS)).add(number(role));
  }

  private static int number(Role role) {
    return switch (role) {
      case REQUIRED -> 0;
      case ANY -> 1;
      case OPTIONAL -> 2;
      case REPORTED -> 3;
      case REPORTED_SHADOW -> 4;
    };
  }

  @Override
  public void decideOne(SharedBinding binding, long fingerprint, long permits, long count) {
    requests.add(SOME);
    target(binding, fingerprint).add(permits).add(count);
  }

  @Override
  public void record(SharedBinding binding, long fingerprint, long permits) {
    requests.add(RECORD);
    target(binding, fingerprint).add(permits);
  }

  @Override
  public void refund(
      SharedBinding binding, long fingerprint, long permits, long atNanos, long resetNanos) {
    requests.add(REFUND);
    target(binding, fingerprint)
        .add(permits)
        .add(Math.floorDiv(atNanos, NANOS_PER_MICRO))
        .add(Math.floorDiv(resetNanos, NANOS_PER_MICRO))
        .add(Math.floorMod(resetNanos, NANOS_PER_MICRO));
  }

  @Override
  public void reset(SharedBinding binding, long fingerprint) {
    requests.add(RESET);
    target(binding, fingerprint).add(0);
  }

  @Override
  public void renew(SharedBinding binding, long fingerprint, long atNanos) {
    requests.add(RENEW);
    target(binding, fingerprint).add(0).add(Math.floorDiv(atNanos, NANOS_PER_MICRO));
  }

  /**
   * Returns a call that counts one permit of one key, even if it does not fit, and so always
   * writes.
   */
  static byte[] ofOnePermit(Policy policy) {
    MessageWriter writer = new MessageWriter().add(NO_TIME).add(1);
    for (long number : RedisCode.numbers(policy)) {
      writer.add(number);
    }
    return writer.add(RECORD).add(1).add(1).add(1).toBytes();
  }

  private MessageWriter target(SharedBinding binding, long fingerprint) {
    byte[] key = RedisCode.of(binding).key(fingerprint);
    Integer number = keyNumbers.get(ByteBuffer.wrap(key));
    if (number == null) {
      keys.add(key);
      number = keys.size();
      keyNumbers.put(ByteBuffer.wrap(key), number);
    }
    return requests.add(number).add(policy(binding));
  }

  private int policy(SharedBinding binding) {
    return policyNumbers.computeIfAbsent(
        binding,
        added -> {
          for (long value : RedisCode.of(added).numbers()) {
            policies.add(value);
          }
          return policyNumbers.size() + 1;
        });
  }

  @Override
  public CompletionStage<? extends Reply> send(long nowNanos) {
    long now = nowNanos == SHARDS_TIME ? NO_TIME : Math.floorDiv(nowNanos, NANOS_PER_MICRO);
    return sender.send(keys(), toBytes(now));
  }

  byte[][] keys() {
    return keys.toArray(new byte[0][]);
  }

  /** Returns the script's argument, for a time of the caller's or {@link #NO_TIME}. */
  byte[] toBytes(long nowMicros) {
    return new MessageWriter()
        .add(nowMicros)
        .add(policyNumbers.size())
        .addAll(policies)
        .addAll(requests)
        .toBytes();
  }
}
