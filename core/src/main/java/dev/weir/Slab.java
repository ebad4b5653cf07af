package dev.weir;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The states of a segment's keys whose lengths vary: blocks in pages that many keys share, so that
 * there is no object per key.
 *
 * <p>Guarded by its segment's lock, as the slots are: values that are read without it may be
 * anything, but do no harm.
 */
final class Slab {
  /*
   * How is Slab designed, and why? A garbage collector that copies young objects, and visits all
   * that it marks, takes time for each object. With an array for each key there are a million of
   * them; there are only some thousand pages, and they hold no references.
   *
   *   page    the Lengths of a state's parts, then blocks of those lengths
   *   block   the fingerprint of its key, then the state
   *
   * A page has states of the same lengths for as long as it exists. All pages of them are full except
   * the last: when a block is freed, the last block is moved into its place at once, and the slot
   * of that block's key, found by its fingerprint, gets the new place. So there are no lists of
   * free blocks, and no holes to be found again: the waste of a length is a part of one page, in
   * whatever order blocks were freed. The last page begins small and doubles, so that a table of
   * few keys is small as well. A state too long to share a page has one of its own, which is then
   * moved by its reference.
   *
   * A place is a page's number, in the upper half, and the state's offset in the page, never 0. A
   * reader without the lock may have a place that holds something else by now. It finds no page, or
   * one in which a state of the page's lengths begins at that offset: the page itself holds them
   * and never changes them, so no step reads past the end.
   */

  /** The longs that blocks of a page take: 8 KiB. */
  private static final int PAGE_LONGS = 1 << 10;

  /**
   * The size from which on a slab is split with its segment: a bound on the bytes moved at once.
   */
  private static final long MAX_SHARED_BYTES = 1 << 21;

  /**
   * The length up to which there are blocks of each length; beyond it, 32 lengths in each doubling.
   */
  private static final int ANY_LENGTH = 128;

  private static final int LENGTHS_BITS = 5;

  private static final int HEADER_BYTES = 16;
  private static final int REFERENCE_BYTES = 4;

  private static final long[][] NO_PAGES = {};

  /** The blocks of the same lengths. */
  private static final class Blocks {
    final long lengths;
    final int longs;
    final int perPage;
    int count;

    /** The numbers of the pages of these lengths. */
    int[] pages = {0};

    Blocks(long lengths) {
      this.lengths = lengths;
      this.longs = Lengths.total(lengths);
      this.perPage = Math.max(1, PAGE_LONGS / (1 + longs));
    }

    long place(int block) {
      return (long) pages[block / perPage] << 32 | (2 + block % perPage * (1 + longs));
    }

    int lastPage() {
      return pages[count / perPage];
    }

    boolean shared() {
      return perPage > 1;
    }
  }

  private final List<Blocks> kinds = new ArrayList<>(2);
  private long[] @Nullable [] pages = NO_PAGES;

  /** A number below which no page is missing. */
  private int missing;

  private long bytes;
  private long sharedBytes;

  /** Returns the least length of blocks, at least {@code longs}. */
  static int fitting(int longs) {
    if (longs <= ANY_LENGTH) {
      return longs;
    }
    int step = Integer.highestOneBit(longs - 1) >> LENGTHS_BITS;
    return (longs + step - 1) & -step;
  }

  /** Returns how many longs each state in a page takes. */
  static int blockLongs(long[] page) {
    return Lengths.total(page[0]);
  }

  /** Returns the bytes of the pages and of the references to them. */
  long bytes() {
    return bytes;
  }

  /** Returns whether this slab is so large that it should be halved. */
  boolean isLarge() {
    return sharedBytes >= MAX_SHARED_BYTES;
  }

  /** Returns about how many bytes one more state will take. */
  long bytesToAdd(long lengths) {
    Blocks blocks = find(lengths);
    int longs = Lengths.total(lengths);
    if (blocks == null) {
      return pageBytes(1, longs);
    }
    int room = lastRoom(blocks);
    if (room == 0) {
      return pageBytes(firstRoom(blocks), longs);
    }
    long more = Math.min(room, blocks.perPage - room);
    return blocks.count % blocks.perPage < room ? 0 : more * (1 + longs) * Long.BYTES;
  }

  private static long pageBytes(int blocks, int longs) {
    return HEADER_BYTES + Long.BYTES * (1 + blocks * (1L + longs));
  }

  private static long bytes(long[] page) {
    return HEADER_BYTES + Long.BYTES * (long) page.length;
  }

  /** Returns how many blocks a page has room for. */
  private static int room(long[] page) {
    return (page.length - 1) / (1 + blockLongs(page));
  }

  /** Returns the page of a place. */
  long[] page(long place) {
    return page((int) (place >>> 32));
  }

  private long[] page(int number) {
    long[] page = pages[number];
    if (page == null) {
      throw new IllegalStateException("page " + number + ": is missing");
    }
    return page;
  }

  /** Returns the page of a place, without the lock; null if no state can be there any more. */
  long @Nullable [] glimpse(long place) {
    long[] @Nullable [] all = pages;
    int number = (int) (place >>> 32);
    long[] page = number < all.length ? all[number] : null;
    int offset = (int) place;
    return page != null && offset > 0 && offset + blockLongs(page) <= page.length ? page : null;
  }

  /** Reads the first and the last long of the state at a place, without the lock. */
  long touch(long place) {
    long[] page = glimpse(place);
    return page == null ? 0 : page[(int) place] ^ page[(int) place + blockLongs(page) - 1];
  }

  /** Returns the fingerprint of the key whose state is at a place. */
  long owner(long place) {
    return page(place)[(int) place - 1];
  }

  /** Returns a copy of a part of the state at a place. */
  long[] copy(long place, int part) {
    long[] page = page(place);
    int from = (int) place + Lengths.start(page[0], part);
    return Arrays.copyOfRange(page, from, from + Lengths.of(page[0], part));
  }

  /**
   * Adds a key's state.
   *
   * @param s the state, with parts whose lengths are {@linkplain #fitting fitting}
   * @return its place
   */
  long add(long fingerprint, long[] s, long lengths) {
    return add(fingerprint, s, 0, blocks(lengths));
  }

  /**
   * Adds a copy of a state in another slab, and takes over its page if that has no other states.
   */
  long take(Slab from, long place) {
    long[] page = from.page(place);
    Blocks blocks = blocks(page[0]);
    if (blocks.shared()) {
      return add(page[(int) place - 1], page, (int) place, blocks);
    }
    addPage(blocks, page);
    return blocks.place(blocks.count++);
  }

  private long add(long fingerprint, long[] s, int i, Blocks blocks) {
    makeRoom(blocks);
    long place = blocks.place(blocks.count++);
    long[] page = page(place);
    int offset = (int) place;
    page[offset - 1] = fingerprint;
    System.arraycopy(s, i, page, offset, blocks.longs);
    return place;
  }

  private void makeRoom(Blocks blocks) {
    int room = lastRoom(blocks);
    if (room == 0) {
      addPage(blocks, newPage(firstRoom(blocks), blocks));
    } else if (blocks.count % blocks.perPage == room) {
      resizeLast(blocks, Math.min(blocks.perPage, 2 * room));
    }
  }

  /** Returns how many blocks the last page has room for; 0 if it is full or does not exist. */
  private int lastRoom(Blocks blocks) {
    return blocks.count % blocks.perPage == 0 ? 0 : room(page(blocks.lastPage()));
  }

  private static int firstRoom(Blocks blocks) {
    return blocks.count == 0 ? 1 : Math.max(1, blocks.perPage / 4);
  }

  private static long[] newPage(int room, Blocks blocks) {
    long[] page = new long[1 + room * (1 + blocks.longs)];
    page[0] = blocks.lengths;
    return page;
  }

  private void resizeLast(Blocks blocks, int room) {
    int number = blocks.lastPage();
    long[] before = page(number);
    set(number, Arrays.copyOf(before, 1 + room * (1 + blocks.longs)));
    counted(blocks, bytes(page(number)) - bytes(before));
  }

  private void counted(Blocks blocks, long byBytes) {
    bytes += byBytes;
    sharedBytes += blocks.shared() ? byBytes : 0;
  }

  private void addPage(Blocks blocks, long[] page) {
    while (missing < pages.length && pages[missing] != null) {
      missing++;
    }
    if (missing == pages.length) {
      long[] @Nullable [] more = Arrays.copyOf(pages, missing + missing / 2 + 1);
      bytes += (long) REFERENCE_BYTES * (more.length - missing) + (missing == 0 ? HEADER_BYTES : 0);
      VarHandle.releaseFence();
      pages = more;
    }
    int index = blocks.count / blocks.perPage;
    if (index == blocks.pages.length) {
      blocks.pages = Arrays.copyOf(blocks.pages, index + index / 2 + 1);
    }
    blocks.pages[index] = missing;
    set(missing, page);
    counted(blocks, bytes(page));
  }

  private void set(int number, long @Nullable [] page) {
    VarHandle.releaseFence(); // Readers without the lock see the length of its states, or no page.
    pages[number] = page;
  }

  /**
   * Frees the block at a place.
   *
   * @return the fingerprint of the key whose state is there now, or 0
   */
  long free(long place) {
    long[] page = page(place);
    Blocks blocks = blocks(page[0]);
    long last = blocks.place(--blocks.count);
    long moved = last == place ? 0 : owner(last);
    if (moved != 0 && blocks.shared()) {
      System.arraycopy(page(last), (int) last - 1, page, (int) place - 1, 1 + blocks.longs);
    } else if (moved != 0) {
      set((int) (place >>> 32), page(last));
    }
    trim(blocks, (int) (last >>> 32));
    return moved;
  }

  private void trim(Blocks blocks, int last) {
    if (blocks.count % blocks.perPage == 0) {
      counted(blocks, -bytes(page(last)));
      set(last, null);
      missing = Math.min(missing, last);
      if (blocks.count == 0) {
        kinds.remove(blocks);
        dropPages();
      }
      return;
    }
    int room = lastRoom(blocks);
    if (blocks.count % blocks.perPage <= room / 4) {
      resizeLast(blocks, room / 2);
    }
  }

  private void dropPages() {
    if (kinds.isEmpty()) {
      clear();
    }
  }

  /** Forgets all states. */
  void clear() {
    kinds.clear();
    pages = NO_PAGES;
    missing = 0;
    bytes = 0;
    sharedBytes = 0;
  }

  private @Nullable Blocks find(long lengths) {
    for (int i = 0; i < kinds.size(); i++) {
      if (kinds.get(i).lengths == lengths) {
        return kinds.get(i);
      }
    }
    return null;
  }

  private Blocks blocks(long lengths) {
    Blocks found = find(lengths);
    if (found == null) {
      found = new Blocks(lengths);
      kinds.add(found);
    }
    return found;
  }

  /** Returns a copy with the same places, for reading only. */
  Slab copy() {
    Slab copy = new Slab();
    copy.pages = pages.clone();
    for (int i = 0; i < copy.pages.length; i++) {
      long[] page = copy.pages[i];
      copy.pages[i] = page == null ? null : page.clone();
    }
    return copy;
  }

  /**
   * Checks that there are {@code states} states, in pages of which only the last of each kind is
   * not full, and that the bytes are right.
   *
   * @throws IllegalStateException if this slab is broken
   */
  void verify(int states) {
    int counted = 0;
    int used = 0;
    for (Blocks each : kinds) {
      counted += each.count;
      used += (each.count + each.perPage - 1) / each.perPage;
    }
    int found = 0;
    long right = pages.length == 0 ? 0 : HEADER_BYTES + (long) REFERENCE_BYTES * pages.length;
    for (long[] page : pages) {
      found += page == null ? 0 : 1;
      right += page == null ? 0 : bytes(page);
    }
    if (counted != states || used != found || bytes != right) {
      throw new IllegalStateException(
          "states, pages, bytes: %d, %d, %d (expected: %d, %d, %d)"
              .formatted(counted, found, bytes, states, used, right));
    }
  }
}
