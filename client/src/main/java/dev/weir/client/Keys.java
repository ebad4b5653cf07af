package dev.weir.client;

import dev.weir.Fingerprint;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What a client knows of keys, a bounded number of them. Looking for one allocates nothing and
 * takes no lock. Safe for use by many threads.
 */
final class Keys {
  /*
   * Why a table by hand? A map would want an object for every question. Here a key is found by the
   * seeded hash of its parts, and compared whole: two keys that share a hash must not spend each
   * other's leases. Keys are added and dropped under one lock, which is as rare as a call; a chain
   * that loses a key keeps its next ones, so a thread that walks it misses none.
   */
  /** About 20 MB of them. */
  static final int MOST = 65_536;

  private static final int BUCKETS = 1 << 16;

  /** In so many buckets a key is looked for whose denial is over; then any denial may go. */
  private static final int LOOKED_THROUGH = 1_024;

  /** In so many a key is looked for at all. */
  private static final int MOST_LOOKED_THROUGH = 2 * LOOKED_THROUGH;

  private final Fingerprint fingerprint;
  private final int most;
  private final AtomicReferenceArray<@Nullable Key> heads = new AtomicReferenceArray<>(BUCKETS);
  private int size;
  private int hand;

  Keys(Fingerprint fingerprint, int most) {
    this.fingerprint = fingerprint;
    this.most = most;
  }

  long hash(String domain, Descriptor descriptor) {
    long hash = fingerprint.add(0, domain);
    List<Entry> entries = descriptor.entries();
    for (int i = 0; i < entries.size(); i++) {
      Entry entry = entries.get(i);
      hash = fingerprint.add(fingerprint.add(hash, entry.key()), entry.value());
    }
    return hash;
  }

  /** Returns what is known of a descriptor, or null. */
  @Nullable Key find(String domain, Descriptor descriptor) {
    return find(hash(domain, descriptor), domain, descriptor);
  }

  private @Nullable Key find(long hash, String domain, Descriptor descriptor) {
    for (Key key = heads.get(bucket(hash)); key != null; key = key.next) {
      if (key.hash == hash && key.is(domain, descriptor)) {
        return key;
      }
    }
    return null;
  }

  /** Returns the key of a descriptor, a new one if there was none; null if there is no room. */
  @Nullable Key obtain(String domain, Descriptor descriptor, Flight.Desk desk) {
    long hash = hash(domain, descriptor);
    Key known = find(hash, domain, descriptor);
    return known != null ? known : add(hash, domain, descriptor, desk);
  }

  private synchronized @Nullable Key add(
      long hash, String domain, Descriptor descriptor, Flight.Desk desk) {
    Key known = find(hash, domain, descriptor);
    if (known != null) {
      return known;
    }
    if (size >= most && !dropOne(desk)) {
      return null;
    }
    Key key = new Key(hash, domain, descriptor, desk);
    int bucket = bucket(hash);
    key.next = heads.get(bucket);
    heads.set(bucket, key);
    size++;
    return key;
  }

  /** Forgets a key that holds nothing, in turn. That costs a call at most. */
  private boolean dropOne(Flight.Desk desk) {
    for (int i = 0; i < MOST_LOOKED_THROUGH; i++) {
      hand = (hand + 1) & (BUCKETS - 1);
      Key before = null;
      for (Key key = heads.get(hand); key != null; key = key.next) {
        if (key.idle(desk.clocks(), i >= LOOKED_THROUGH)) {
          if (before == null) {
            heads.set(hand, key.next);
          } else {
            before.next = key.next;
          }
          size--;
          return true;
        }
        before = key;
      }
    }
    return false;
  }

  private static int bucket(long hash) {
    return (int) (hash ^ (hash >>> 32)) & (BUCKETS - 1);
  }
}
