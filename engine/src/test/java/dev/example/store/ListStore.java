package dev.example.store;

import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.LocalStore;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.Ticker;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A store in this process against public types only: one lock, and for every key the list of all
 * admissions. A policy's permits are computed anew from the list for every decision, so a change of
 * policy forgets nothing. Slow, and without a sketch and without reservations: a charge that could
 * wait is refused until it fits.
 */
final class ListStore implements LocalStore {
  /** Sums of many of them are in range, also as the time that a bucket takes to refill. */
  private static final long MOST_REPORTED = 1L << 30;

  private record Rule(ListStore store, String name, Policy policy) implements Binding {}

  private record Key(String name, long fingerprint) {}

  private final Fingerprint fingerprint = Fingerprint.random();
  private final long maxKeys;
  private final Map<Key, List<Admission>> admitted = new HashMap<>();

  /** The policies that each name had; each may remember a key for longer than the others. */
  private final Map<String, List<Policy>> policies = new HashMap<>();

  /** The latest instant, for every name, by which a key that was forgotten had reset. */
  private final Map<String, Long> floors = new HashMap<>();

  private long expiredNanos = Long.MIN_VALUE;

  ListStore(long maxKeys) {
    this.maxKeys = maxKeys;
  }

  @Override
  public Fingerprint fingerprint() {
    return fingerprint;
  }

  @Override
  public synchronized Binding bind(String name, Policy policy, long nowNanos) {
    remember(name, policy);
    return new Rule(this, name, policy);
  }

  private void remember(String name, Policy policy) {
    List<Policy> known = policies.computeIfAbsent(name, n -> new ArrayList<>());
    boolean same =
        known.stream()
            .anyMatch(
                each ->
                    each.shape().equals(policy.shape())
                        && each.quota().permits() == policy.quota().permits());
    if (!same) {
      known.add(policy);
    }
  }

  @Override
  public synchronized Binding variant(Binding binding, Policy policy) {
    Rule rule = own(binding);
    boolean buckets =
        rule.policy().algorithm() == Algorithm.TOKEN_BUCKET
            && policy.algorithm() == Algorithm.TOKEN_BUCKET;
    if (!buckets && !rule.policy().shape().equals(policy.shape())) {
      throw new IllegalArgumentException(
          "policy: (expected: the binding's shape, or two token buckets)");
    }
    remember(rule.name(), policy);
    return new Rule(this, rule.name(), policy);
  }

  @Override
  public void retire(String name, long nowNanos) {}

  private Rule own(Binding binding) {
    if (binding instanceof Rule rule && rule.store() == this) {
      return rule;
    }
    throw new IllegalArgumentException("binding: " + binding + " (expected: one of this store)");
  }

  private static long clamp(long nanos) {
    return Math.max(-Ticker.HORIZON_NANOS, Math.min(Ticker.HORIZON_NANOS, nanos));
  }

  @Override
  public synchronized void decide(Charges charges, long nowNanos) {
    long now = clamp(nowNanos);
    for (int i = 0; i < charges.size(); i++) {
      own(charges.binding(i));
    }
    for (int i = 0; i < charges.size(); i++) {
      check(charges, i, now);
    }
    charges.settle();
    if (charges.peeking()) {
      return;
    }
    findRoom(charges, now);
    charges.settle();
    for (int i = 0; i < charges.size(); i++) {
      if (charges.counted(i)) {
        charge(charges, i, now);
      }
    }
  }

  private Key key(Charges charges, int i) {
    return new Key(charges.binding(i).name(), charges.fingerprint(i));
  }

  private Reading read(Key key, Policy policy, long now) {
    List<Admission> past = admitted.get(key);
    long floor = floors.getOrDefault(key.name(), Long.MIN_VALUE);
    return past == null
        ? new Reading(policy, List.of(), Math.max(now, floor))
        : new Reading(policy, past, now);
  }

  private void check(Charges charges, int i, long now) {
    Key key = key(charges, i);
    Reading reading = read(key, charges.binding(i).policy(), now);
    long also = 0;
    for (int j = 0; j < i; j++) {
      boolean counts = charges.fits(j) || charges.role(j).isReport();
      if (counts && key(charges, j).equals(key)) {
        also += charges.permits(j);
      }
    }
    long permits = charges.permits(i);
    long wanted = permits == 0 && charges.role(i).isReport() ? 1 : permits;
    long wait = permits < 0 ? Decision.NEVER : reading.waitNanos(wanted, also);
    long ahead = reading.atNanos() - now;
    charges.result(
        i,
        permits < 0 ? Reason.INVALID : wait == 0 ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT,
        Math.max(0, reading.remaining() - also),
        wait == 0 || wait > Decision.NEVER - ahead ? wait : wait + ahead,
        reading.resetAfterNanos(),
        reading.atNanos());
  }

  /** Refuses charges of new keys for which there is no room, required ones last. */
  private void findRoom(Charges charges, long now) {
    long room = maxKeys - admitted.size();
    for (Charges.Role role : Charges.Role.values()) {
      for (int i = 0; i < charges.size(); i++) {
        boolean isNew =
            charges.role(i) == role && charges.counted(i) && !admitted.containsKey(key(charges, i));
        if (isNew && room == 0 && now > expiredNanos) {
          expire(now);
          room = maxKeys - admitted.size();
        }
        if (isNew && room == 0) {
          charges.result(i, Reason.KEY_SPACE_FULL, 0, 1_000_000_000, 0, now);
        } else if (isNew) {
          room--;
        }
      }
    }
  }

  private void charge(Charges charges, int i, long now) {
    Key key = key(charges, i);
    Policy policy = charges.binding(i).policy();
    long at = read(key, policy, now).atNanos();
    List<Admission> past = admitted.computeIfAbsent(key, k -> new ArrayList<>());
    long most = charges.role(i).isReport() ? MOST_REPORTED : Long.MAX_VALUE;
    past.add(new Admission(at, Math.min(charges.permits(i), most), policy));
    Reading after = new Reading(policy, past, at);
    long wait = charges.fits(i) ? 0 : after.waitNanos(1, 0);
    charges.result(
        i,
        charges.reason(i),
        charges.role(i).isReport() ? after.balance() : after.remaining(),
        wait == 0 || wait > Decision.NEVER - (at - now) ? wait : wait + at - now,
        after.resetAfterNanos(),
        at);
  }

  @Override
  public void decide(Batch batch, long nowNanos) {
    Charges one = new Charges();
    for (int i = 0; i < batch.size(); i++) {
      decide(one.clear().add(batch.binding(i), batch.fingerprint(i), batch.permits(i)), nowNanos);
      batch.result(
          i,
          one.reason(0),
          one.remaining(0),
          one.retryAfterNanos(0),
          one.resetAfterNanos(0),
          one.atNanos(0));
      batch.decision(i, one.packed(0));
    }
  }

  @Override
  public long decide(Binding binding, long fingerprint, long permits, long nowNanos) {
    Charges one = new Charges().add(binding, fingerprint, permits);
    decide(one, nowNanos);
    return one.packed(0);
  }

  @Override
  public synchronized long refund(
      Binding binding, long fingerprint, long permits, Decision charged, long nowNanos) {
    Rule rule = own(binding);
    Policy policy = rule.policy();
    List<Admission> past = admitted.get(new Key(rule.name(), fingerprint));
    boolean samePrice = !policy.algorithm().bucket() || charged.limit() == policy.burst();
    if (past == null || !samePrice) {
      return 0;
    }
    long given = 0;
    for (int i = past.size() - 1; i >= 0 && given < permits; i--) {
      Admission each = past.get(i);
      if (each.atNanos() == charged.atNanos()
          && new Reading(policy, past, clamp(nowNanos)).counts(i)) {
        long part = Math.min(permits - given, each.permits());
        past.remove(i);
        if (part < each.permits()) {
          past.add(i, new Admission(each.atNanos(), each.permits() - part, each.policy()));
        }
        given += part;
      }
    }
    return given;
  }

  @Override
  public synchronized boolean reset(Binding binding, long fingerprint, long nowNanos) {
    return admitted.remove(new Key(own(binding).name(), fingerprint)) != null;
  }

  /** Forgets every key that has reset, whichever policy its name had. */
  @Override
  public synchronized void expire(long nowNanos) {
    long now = clamp(nowNanos);
    expiredNanos = now;
    admitted
        .entrySet()
        .removeIf(
            entry -> {
              String name = entry.getKey().name();
              long resetAt = Long.MIN_VALUE;
              for (Policy policy : policies.getOrDefault(name, List.of())) {
                Reading reading = new Reading(policy, entry.getValue(), now);
                resetAt = Math.max(resetAt, reading.atNanos() + reading.resetAfterNanos());
              }
              if (resetAt > now) {
                return false;
              }
              floors.merge(name, resetAt, Math::max);
              return true;
            });
  }

  @Override
  public synchronized long keys() {
    return admitted.size();
  }

  @Override
  public long maxKeys() {
    return maxKeys;
  }

  @Override
  public void close() {}
}
