package dev.weir.client.internal.lease;

import dev.weir.Fingerprint;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The states of a bounded number of keys, without the keys' texts. A look-up takes no lock and
 * usually allocates nothing. Safe for use by many threads.
 */
public final class Keys {
  /*
   * Why a table by hand? A map needs an object for every look-up. Here a key is found by two
   * fingerprints of its parts under random seeds, 128 bits together. Two keys that share both would
   * spend each other's leases; with 128 bits none ever will. The second fingerprint is computed
   * only if the first leads to a key. The texts are not kept, because the sender of a request
   * chooses their length.
   *
   * Most requests have one of few domains and first keys. If that beginning is short, its part of
   * both fingerprints is found among the last ones.
   *
   * Keys are added and removed under one lock, which happens about as rarely as a call. A chain
   * that loses a key keeps the keys after it, so a thread that walks the chain misses none.
   */
  public static final int MOST = 65_536;

  /** The approximate bytes of a key with its lease and its denial. */
  private static final long KEY_BYTES = 512;

  /** The part of the heap (a quarter) that all keys together may take. */
  private static final int HEAP_PART = 4;

  private static final int BUCKETS = 1 << 16;

  /**
   * The number of buckets in which a key with an ended denial is searched for; after them any
   * denial may go.
   */
  private static final int LOOKED_THROUGH = 1_024;

  /** The number of buckets in which any key to remove is searched for. */
  private static final int MOST_LOOKED_THROUGH = 2 * LOOKED_THROUGH;

  /** The number of beginnings that are kept; a power of two. */
  private static final int BEGINNINGS = 64;

  /** The longest domain and key that are kept; longer ones are rare. */
  private static final int MAX_BEGINNING = 64;

  /** The fingerprints of a domain and the key of a first entry. */
  private record KeyPrefix(String domain, String key, long first, long second) {
    boolean is(String otherDomain, String otherKey) {
      return key.equals(otherKey) && domain.equals(otherDomain);
    }
  }

  private final Fingerprint first;
  private final Fingerprint second;
  private final int most;
  private final AtomicReferenceArray<@Nullable Key> heads = new AtomicReferenceArray<>(BUCKETS);

  /** Written without a lock on purpose: an element is immutable, and compared before it is used. */
  private final @Nullable KeyPrefix[] beginnings = new KeyPrefix[BEGINNINGS];

  private int size;
  private int hand;

  public Keys(Fingerprint first, Fingerprint second, int most) {
    this.first = first;
    this.second = second;
    this.most = most;
  }

  /** Returns the most keys that a client keeps in this process. */
  public static int most() {
    return (int) Math.min(MOST, Runtime.getRuntime().maxMemory() / HEAP_PART / KEY_BYTES);
  }

  private KeyPrefix beginning(String domain, List<Entry> entries) {
    String key = entries.isEmpty() ? "" : entries.get(0).key();
    int slot = (31 * domain.hashCode() + key.hashCode()) & (BEGINNINGS - 1);
    KeyPrefix known = beginnings[slot];
    if (known != null && known.is(domain, key)) {
      return known;
    }
    KeyPrefix made =
        new KeyPrefix(
            domain,
            key,
            first.add(first.add(0, domain), key),
            second.add(second.add(0, domain), key));
    if (domain.length() <= MAX_BEGINNING && key.length() <= MAX_BEGINNING) {
      beginnings[slot] = made;
    }
    return made;
  }

  private static long rest(Fingerprint fingerprint, long beginning, List<Entry> entries) {
    if (entries.isEmpty()) {
      return beginning;
    }
    long hash = fingerprint.add(beginning, entries.get(0).value());
    for (int i = 1; i < entries.size(); i++) {
      Entry entry = entries.get(i);
      hash = fingerprint.add(fingerprint.add(hash, entry.key()), entry.value());
    }
    return hash;
  }

  /** Returns the state of a descriptor's key, or null. */
  @Nullable
  public Key find(String domain, Descriptor descriptor) {
    List<Entry> entries = descriptor.entries();
    KeyPrefix beginning = beginning(domain, entries);
    return find(rest(first, beginning.first, entries), beginning, entries);
  }

  private @Nullable Key find(long hash, KeyPrefix beginning, List<Entry> entries) {
    long check = 0;
    boolean checked = false;
    for (Key key = heads.get(bucket(hash)); key != null; key = key.next) {
      if (key.hash == hash) {
        check = checked ? check : rest(second, beginning.second, entries);
        checked = true;
        if (key.check == check) {
          return key;
        }
      }
    }
    return null;
  }

  /**
   * Returns the state of a descriptor's key, a new one if there was none; null if there is no room.
   */
  @Nullable
  public Key obtain(String domain, Descriptor descriptor, Flight.Desk desk) {
    List<Entry> entries = descriptor.entries();
    KeyPrefix beginning = beginning(domain, entries);
    long hash = rest(first, beginning.first, entries);
    Key known = find(hash, beginning, entries);
    return known != null ? known : add(hash, beginning, entries, desk);
  }

  private synchronized @Nullable Key add(
      long hash, KeyPrefix beginning, List<Entry> entries, Flight.Desk desk) {
    Key known = find(hash, beginning, entries);
    if (known != null) {
      return known;
    }
    if (size >= most && !dropOne(desk)) {
      return null;
    }
    Key key = new Key(hash, rest(second, beginning.second, entries), desk);
    int bucket = bucket(hash);
    key.next = heads.get(bucket);
    heads.set(bucket, key);
    size++;
    return key;
  }

  /**
   * Removes a key that holds nothing; the search goes round the table. The removed key costs at
   * most one call later.
   */
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
          key.forget(desk.endings());
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
