package dev.weir.client.internal.lease;

import dev.weir.Fingerprint;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What a client knows of keys, a bounded number of them and none of their texts. Looking for one
 * takes no lock, and most times allocates nothing. Safe for use by many threads.
 */
public final class Keys {
  /*
   * Why a table by hand? A map would want an object for every question. Here a key is found by two
   * fingerprints of its parts under random seeds, 128 bits together: two keys that share both must
   * not spend each other's leases, and none ever will. The second is made only where the first
   * leads to a key. The texts are not kept, as the sender of a request chooses how long they are.
   *
   * Most requests have one of few domains and first keys, so their part of both fingerprints is
   * found again among the last ones, if it is short.
   *
   * Keys are added and dropped under one lock, which is as rare as a call; a chain that loses a key
   * keeps its next ones, so a thread that walks it misses none.
   */
  public static final int MOST = 65_536;

  /** About what a key takes, with its lease and its denial. */
  private static final long KEY_BYTES = 512;

  /** All keys together take at most this part (a quarter) of the heap. */
  private static final int HEAP_PART = 4;

  private static final int BUCKETS = 1 << 16;

  /** In so many buckets a key is looked for whose denial is over; then any denial may go. */
  private static final int LOOKED_THROUGH = 1_024;

  /** In so many a key is looked for at all. */
  private static final int MOST_LOOKED_THROUGH = 2 * LOOKED_THROUGH;

  /** Beginnings that are remembered; a power of two. */
  private static final int BEGINNINGS = 64;

  /** Longer domains and keys are rare, and not remembered. */
  private static final int MAX_BEGINNING = 64;

  /** The fingerprints of a domain and the key of a first entry. */
  private record Beginning(String domain, String key, long first, long second) {
    boolean is(String otherDomain, String otherKey) {
      return key.equals(otherKey) && domain.equals(otherDomain);
    }
  }

  private final Fingerprint first;
  private final Fingerprint second;
  private final int most;
  private final AtomicReferenceArray<@Nullable Key> heads = new AtomicReferenceArray<>(BUCKETS);

  /** Written without a lock on purpose: an element is immutable, and compared before it is used. */
  private final @Nullable Beginning[] beginnings = new Beginning[BEGINNINGS];

  private int size;
  private int hand;

  public Keys(Fingerprint first, Fingerprint second, int most) {
    this.first = first;
    this.second = second;
    this.most = most;
  }

  /** Returns how many keys a client keeps in this process. */
  public static int most() {
    return (int) Math.min(MOST, Runtime.getRuntime().maxMemory() / HEAP_PART / KEY_BYTES);
  }

  private Beginning beginning(String domain, List<Entry> entries) {
    String key = entries.isEmpty() ? "" : entries.get(0).key();
    int slot = (31 * domain.hashCode() + key.hashCode()) & (BEGINNINGS - 1);
    Beginning known = beginnings[slot];
    if (known != null && known.is(domain, key)) {
      return known;
    }
    Beginning made =
        new Beginning(
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

  /** Returns what is known of a descriptor, or null. */
  @Nullable
  public Key find(String domain, Descriptor descriptor) {
    List<Entry> entries = descriptor.entries();
    Beginning beginning = beginning(domain, entries);
    return find(rest(first, beginning.first, entries), beginning, entries);
  }

  private @Nullable Key find(long hash, Beginning beginning, List<Entry> entries) {
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

  /** Returns the key of a descriptor, a new one if there was none; null if there is no room. */
  @Nullable
  public Key obtain(String domain, Descriptor descriptor, Flight.Desk desk) {
    List<Entry> entries = descriptor.entries();
    Beginning beginning = beginning(domain, entries);
    long hash = rest(first, beginning.first, entries);
    Key known = find(hash, beginning, entries);
    return known != null ? known : add(hash, beginning, entries, desk);
  }

  private synchronized @Nullable Key add(
      long hash, Beginning beginning, List<Entry> entries, Flight.Desk desk) {
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
