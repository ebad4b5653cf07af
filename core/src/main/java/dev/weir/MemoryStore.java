package dev.weir;

import dev.weir.internal.UncertainCause;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store in this process, with its state in compact tables. Decides on the caller's thread, in
 * time order for each key. Nothing is allocated for a decision, except when a key's state is new or
 * grows, and while a change of rules is remembered.
 */
public final class MemoryStore implements LocalStore {
  /*
   * Two ways lead to a decision. The usual one reads each key's slot under an optimistic stamp, so
   * a refusal needs no lock at all: FastPath for one charge, ColocatedPath for the quotas of a
   * limiter, JointPath for others. Rare cases (a policy has changed, there is no room, a charge may
   * wait, one name is charged twice) go the other one: SlowPath locks all of their keys and charges
   * everything or nothing. Where the keys are: a name has a PolicyHistory, which has a Table for each
   * Shape; a table is in a Directory, alone or beside those of other names; a directory has Segments,
   * which are the locks; and a segment has slots, where a Meter reads and writes.
   */

  /** The number of keys that a store holds by default: about 100 MiB of small states. */
  public static final long DEFAULT_MAX_KEYS = 1L << 22;

  /**
   * The number of slots searched before a new key is refused for want of room: a bound on the cost
   * of a flood.
   */
  static final int FORGET_WHEN_FULL = 64;

  private final ConcurrentHashMap<String, PolicyHistory> histories = new ConcurrentHashMap<>();
  private final Fingerprint fingerprint;
  private volatile Budget budget;
  private volatile Calendar calendar;
  private final Object saving = new Object();
  private final Object beginning = new Object();
  private @Nullable Image image;
  private int images;
  private @Nullable Journal journal;

  /** The folder of this store alone, if it has one. */
  private @Nullable StateFolder folder;

  private volatile long unknownBeforeNanos = Meter.LONG_AGO;

  /** The names whose tables are to share directories. Guarded by {@link #beginning}. */
  private final ColocatedNames colocated = new ColocatedNames();

  /** There while the past of this store is being read, and requests cannot be decided. */
  private volatile @Nullable UnreadPast unread;

  public MemoryStore() {
    this(DEFAULT_MAX_KEYS);
  }

  /**
   * Creates a store whose states may take {@link #defaultMaxBytes} bytes.
   *
   * @param maxKeys how many keys may have state at once; the policy determines the treatment of one
   *     more, and a live key is never forgotten for it
   */
  public MemoryStore(long maxKeys) {
    this(maxKeys, defaultMaxBytes());
  }

  /**
   * Creates a store.
   *
   * @param maxBytes how many bytes all states together may take, at least 1
   */
  public MemoryStore(long maxKeys, long maxBytes) {
    this(maxKeys, maxBytes, Fingerprint.random(), new Calendar());
  }

  /** Creates an empty store with the fingerprints of another. */
  MemoryStore(long maxKeys, long maxBytes, Fingerprint fingerprint) {
    this(maxKeys, maxBytes, fingerprint, new Calendar());
  }

  private MemoryStore(long maxKeys, long maxBytes, Fingerprint fingerprint, Calendar calendar) {
    Check.range("maxKeys", maxKeys, 1, Long.MAX_VALUE / 2);
    Check.range("maxBytes", maxBytes, 1, Long.MAX_VALUE / 2);
    this.budget = new Budget(maxKeys, maxBytes);
    this.fingerprint = fingerprint;
    this.calendar = calendar;
  }

  /** Returns a builder of a store with its options. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder of a store with its options. Not safe for use by several threads. */
  public static final class Builder {
    private long maxKeys = DEFAULT_MAX_KEYS;
    private long maxBytes = defaultMaxBytes();
    private @Nullable Path journal;
    private @Nullable StateDurability durability;
    private AfterCrash afterCrash = AfterCrash.DENY;

    private Builder() {}

    /**
     * Sets how many keys may have state at once, at least 1. Default: {@value
     * MemoryStore#DEFAULT_MAX_KEYS}.
     */
    public Builder maxKeys(long maxKeys) {
      this.maxKeys = Check.range("maxKeys", maxKeys, 1, Long.MAX_VALUE / 2);
      return this;
    }

    /**
     * Sets how many bytes all states together may take, at least 1. Default: {@link
     * MemoryStore#defaultMaxBytes()}.
     */
    public Builder maxBytes(long maxBytes) {
      this.maxBytes = Check.range("maxBytes", maxBytes, 1, Long.MAX_VALUE / 2);
      return this;
    }

    /**
     * Sets the folder that keeps the counts, over an orderly end, which is {@link
     * MemoryStore#close}, and over the death of the process at any instant: see {@link
     * StateFolder}. {@link #durability} is the choice of ends. It is made if it is not there, and
     * belongs to one store at a time. Limiters of such a store have to decide by {@link
     * Ticker#system()}. Default: none, counts are forgotten.
     */
    public Builder journal(Path folder) {
      this.journal = Check.notNull("folder", folder);
      return this;
    }

    /**
     * Sets the ends after which nothing is missing, for a store with a {@link #journal}. Default:
     * {@link StateDurability#PROCESS}. With {@link StateDurability#MACHINE} the store is to be made
     * by {@link #buildAnswering}.
     */
    public Builder durability(StateDurability durability) {
      this.durability = Check.notNull("durability", durability);
      return this;
    }

    /**
     * Sets what becomes of limits if the machine has ended, or the journal failed. Default: {@link
     * AfterCrash#DENY}.
     */
    public Builder afterCrash(AfterCrash afterCrash) {
      this.afterCrash = Check.notNull("afterCrash", afterCrash);
      return this;
    }

    /**
     * Returns the store. If it has a folder, this waits until its counts are read.
     *
     * @throws IOException if the folder of the journal cannot be used, or another store uses it
     * @throws IllegalStateException if the durability is {@link StateDurability#MACHINE}, since
     *     this store answers before its journal is on the disk; or if there is one without a
     *     journal
     */
    public MemoryStore build() throws IOException {
      if (durability == StateDurability.MACHINE) {
        throw new IllegalStateException(
            "durability: MACHINE (expected: PROCESS or NONE; or buildAnswering, whose store answers"
                + " when its journal is on the disk)");
      }
      return (MemoryStore) buildAnswering();
    }

    /**
     * Returns the store as its limiters have to use it: with {@link StateDurability#MACHINE} one
     * that answers as {@link StateFolder#answering} describes, otherwise the store itself. A method
     * of a limiter that returns its decision waits for the answer, and {@link
     * RateLimiter#tryAcquireAsync} does not. {@link Store#close} saves the counts and ends the
     * answering.
     *
     * @throws IOException if the folder of the journal cannot be used, or another store uses it
     * @throws IllegalStateException if there is a durability without a journal
     */
    public Store buildAnswering() throws IOException {
      if (journal == null) {
        if (durability != null) {
          throw new IllegalStateException(
              "durability: " + durability + " without a journal (expected: a folder for one)");
        }
        return new MemoryStore(maxKeys, maxBytes);
      }
      StateFolder kept =
          StateFolder.builder(journal)
              .durability(durability == null ? StateDurability.PROCESS : durability)
              .afterCrash(afterCrash)
              .bySystemTime()
              .open();
      try {
        MemoryStore store = kept.store("limits", "its own", maxKeys, maxBytes);
        Store answering = kept.answering(store);
        kept.begin();
        store.folder = kept;
        return answering;
      } catch (IOException | RuntimeException e) {
        kept.close();
        throw e;
      }
    }
  }

  /**
   * Returns a store with room for all keys, whose fingerprints are another store's; the keys must
   * be bounded elsewhere.
   */
  public static MemoryStore unbounded(Fingerprint fingerprint) {
    long most = Long.MAX_VALUE / 2;
    return new MemoryStore(most, most, Check.notNull("fingerprint", fingerprint), new Calendar());
  }

  /**
   * Returns a store that continues another one from the instant at which its image was saved. All
   * counts of the image are kept, even if they exceed the bounds; then no new key has room until
   * there are fewer.
   *
   * <p>Policies are put in force by {@link #bind} as for a new store. State under names that are
   * not bound again, or under other algorithms or windows, stays as long as it can matter, as after
   * a change of rules.
   *
   * @param image what {@link #save} has written, read up to its end and not closed
   * @param maxKeys as for a new store
   * @param maxBytes as for a new store
   * @param knownNanos a time that the clock by which the image was saved has reached by now: the
   *     time of {@code save} plus the time that is known to have passed since
   * @param nowNanos the time now by the clock by which this store will decide
   * @throws IOException if the image cannot be read, is damaged, or has another format
   */
  public static MemoryStore restored(
      InputStream image, long maxKeys, long maxBytes, long knownNanos, long nowNanos)
      throws IOException {
    return read(
        new StateImage.Reader(image, clamp(knownNanos), clamp(nowNanos)), maxKeys, maxBytes);
  }

  /**
   * Returns a store in the state that another one had at the instant at which its image was begun:
   * it gives the same answers to the same calls at the same times. A replica of a state machine can
   * thus continue another one. Unlike with {@link #restored}, the policies that were in force are
   * in force again, and need no {@link #bind}; {@link #rebound} gives bindings for them.
   *
   * <p>The answers are the same as long as each store has room for every key, no policy bounds its
   * keys, and the time never goes back; they do not depend on which other keys that had reset were
   * forgotten.
   *
   * @param image as for {@link #restored}
   * @param maxKeys as for a new store
   * @param maxBytes as for a new store
   * @throws IOException if the image cannot be read, is damaged, or has another format; or if keys
   *     were counted together for want of room, and the bounds are not those of that store
   */
  public static MemoryStore resumed(InputStream image, long maxKeys, long maxBytes)
      throws IOException {
    return read(StateImage.Reader.exactly(image), maxKeys, maxBytes);
  }

  /**
   * Returns a store whose past is not there yet. Until {@link #takeOver} it decides nothing: each
   * charge is {@link Reason#UNCERTAIN}, and its policy's failure mode answers. Nothing is counted,
   * given back or forgotten.
   *
   * @param fingerprint that of the store which is read
   */
  static MemoryStore unread(Fingerprint fingerprint, long maxKeys, long maxBytes) {
    MemoryStore store = new MemoryStore(maxKeys, maxBytes, fingerprint);
    store.unread = new UnreadPast();
    return store;
  }

  /**
   * Goes on as a store that was read, which is not used any more and has no open image. Its journal
   * has begun, if it is to have one: this store decides from here on.
   *
   * @throws IllegalStateException if the policies that were bound meanwhile cannot be put in force;
   *     this store goes on without its past then
   */
  void takeOver(MemoryStore read, long nowNanos) {
    synchronized (beginning) {
      UnreadPast past = Objects.requireNonNull(unread);
      if (!Arrays.equals(fingerprint.seed(), read.fingerprint.seed())) {
        throw new IllegalStateException("store: other fingerprints (expected: those of the image)");
      }
      past.putInForce(read, nowNanos);
      read.colocated.addAll(colocated);
      read.moveTables();
      budget = read.budget;
      calendar = read.calendar;
      unknownBeforeNanos = read.unknownBeforeNanos;
      images = read.images;
      journal = read.journal;
      histories.putAll(read.histories);
      past.shown()
          .forEach(
              shown -> {
                PolicyHistory known = read.histories.get(shown.name());
                shown.takeOver(known == null ? newHistory(shown.name()) : known);
                if (known != null) {
                  histories.put(shown.name(), shown);
                }
              });
      unread = null; // Last: until here a request of several names is not decided.
    }
  }

  private static MemoryStore read(StateImage.Reader reader, long maxKeys, long maxBytes)
      throws IOException {
    MemoryStore store = new MemoryStore(maxKeys, maxBytes, reader.fingerprint(), reader.calendar());
    store.unknownBeforeNanos = reader.unknownBeforeNanos();
    for (PolicyHistory each = reader.next(store.budget); each != null; ) {
      store.histories.put(each.name(), each);
      store.colocated.restored(each.name());
      each = reader.next(store.budget);
    }
    return store;
  }

  /**
   * Writes an image of all states, from which {@link #restored} makes a store that continues this
   * one. Other threads may decide meanwhile, and wait for at most the copying of one segment; the
   * image then has only a part of what they admit. So an image is complete only if nothing was
   * decided while it was written, nor after that.
   *
   * <p>It has no keys, only fingerprints and their seed: a reader of the image can find out whether
   * a given key was used, and choose keys that collide.
   *
   * @param image is written to, flushed, and not closed
   * @return how many keys were written
   * @throws IllegalStateException if an image was begun that is still open
   */
  public long save(OutputStream image) throws IOException {
    synchronized (saving) {
      try (Image taken = beginImage()) {
        return taken.write(image);
      }
    }
  }

  /**
   * Begins an image of this instant, to be written while this store goes on. For a store whose
   * requests are decided by one thread. That thread makes this call between two requests, and from
   * then on calls {@link Image#before} before it changes a key. This call copies no keys.
   *
   * @throws IllegalStateException if an image was begun that is still open
   */
  public Image beginImage() {
    synchronized (beginning) {
      if (image != null) {
        throw new IllegalStateException("store: has an open image (expected: none)");
      }
      images++;
      if (journal != null) {
        journal.begin(images);
      }
      image =
          new Image(
              this, images, histories.values(), fingerprint, calendar.write(), unknownBeforeNanos);
      return image;
    }
  }

  /**
   * Begins to journal every change, before any decision. What is here now has to be in an image
   * before the journal alone can be relied on.
   */
  void journal(Journal begun) {
    synchronized (beginning) {
      journal = begun;
      images = begun.epoch();
      histories.values().forEach(each -> each.journaled(begun));
    }
  }

  /** Numbers images from another one on, which was the last. */
  void images(int last) {
    synchronized (beginning) {
      images = last;
    }
  }

  /** Returns whether a name has a table of a shape. */
  boolean hasTable(String name, Shape shape) {
    PolicyHistory history = histories.get(name);
    return history != null && history.has(shape);
  }

  /** Returns the table of a name and a policy, for what a journal has counted under it. */
  Table tableOf(String name, Policy policy) {
    return histories.computeIfAbsent(name, this::newHistory).tableOf(policy);
  }

  /**
   * Makes witnesses of all tables, as after a start: policies are put in force by {@link #bind}.
   */
  void retireAll(long nowNanos) {
    histories.values().forEach(each -> each.retire(clamp(nowNanos)));
  }

  void ended(Image ended) {
    synchronized (beginning) {
      image = image == ended ? null : image;
    }
  }

  /**
   * Steps the calendar ahead of the clock, which {@linkplain Algorithm#aligned aligned} windows
   * follow: from the first instant after {@code nowNanos}, they begin where the clock and the
   * offset together are a multiple of their length. Nothing else depends on it. For a store whose
   * requests are decided by one thread, which makes this call between two of them.
   *
   * <p>The calendar is never set back. A step ahead by {@code d} ends a window of length {@code W}
   * early: a time of {@code W} that otherwise holds at most two limits may hold {@code min(2,
   * ceil(d / W))} more, once.
   *
   * @param offsetNanos by how much the calendar is ahead of the clock
   * @param nowNanos not before any other instant that was given to this store
   * @return whether that is later than the calendar was; nothing has changed otherwise
   * @throws IllegalArgumentException if the calendar would show an instant outside {@code ±}{@link
   *     Ticker#HORIZON_NANOS}
   * @throws IllegalStateException if this store has a journal, which has no steps
   */
  public boolean stepCalendar(long offsetNanos, long nowNanos) {
    if (journal != null) {
      throw new IllegalStateException("store: has a journal (expected: none)");
    }
    long now = clamp(nowNanos);
    Check.range("offsetNanos", offsetNanos, -Meter.HORIZON_NANOS - now, Meter.HORIZON_NANOS - now);
    return calendar.step(now + 1, offsetNanos);
  }

  /** Returns by how much the calendar is ahead of the clock; 0 if it was never stepped. */
  public long calendarOffsetNanos() {
    return calendar.offsetNanos();
  }

  /**
   * Writes the states of all keys with fingerprints from {@code first} to {@code last}, as unsigned
   * numbers, with which {@link #lay} continues in another store. Changes nothing. Stores that have
   * decided the same write the same bytes. No request for one of these keys may be decided
   * meanwhile.
   *
   * @param nowNanos the instant from which these keys are no longer decided here
   * @throws IllegalArgumentException if {@code last} is before {@code first}
   * @throws IllegalStateException if the store counts keys without a state of their own: for want
   *     of room, or because its past is not known
   */
  public byte[] lift(long first, long last, long nowNanos) {
    SlotImage lifted;
    synchronized (beginning) { // No table moves meanwhile.
      lifted = SlotImage.of(histories.values(), calendar, first, last, clamp(nowNanos));
    }
    return lifted.toBytes();
  }

  /**
   * Takes over keys that another store has lifted, and continues them at an instant of its own
   * clock: every window then still ends no earlier than it would have. Policies that are not known
   * here are remembered as after a change of rules, until they are bound. No other key is changed;
   * the keys are taken even if there is no room. Requests for these keys are decided by one thread,
   * the one that makes this call.
   *
   * <p>A {@linkplain Algorithm#FIXED_WINDOW fixed window} that this clock would cut short is
   * followed by a pause, in which the keys are admitted nothing: the next one begins as late as it
   * would have.
   *
   * @param lifted what {@link #lift} returned
   * @param nowNanos an instant that really is not before the one at which they were lifted
   * @throws IOException if the bytes are damaged, or of another format; nothing has changed then
   * @throws IllegalStateException if this store has a key of that range; nothing has changed then
   */
  public void lay(byte[] lifted, long nowNanos) throws IOException {
    SlotImage image = SlotImage.read(Check.notNull("lifted", lifted));
    synchronized (beginning) {
      image.layInto(histories, this::newHistory, calendar, clamp(nowNanos));
    }
  }

  /**
   * Forgets all keys with fingerprints from {@code first} to {@code last}, as unsigned numbers:
   * after a lift.
   */
  public void drop(long first, long last) {
    synchronized (beginning) {
      histories.values().forEach(each -> each.drop(first, last));
    }
  }

  /**
   * Marks the time before an instant as unknown: until then any key may have been charged as much
   * as any policy allows. Every key is decided as if it had been, which refuses it until its window
   * has passed, or its bucket has refilled.
   *
   * @throws IllegalStateException if a policy has been bound already
   */
  public void unknownBefore(long nanos) {
    if (!histories.isEmpty()) {
      throw new IllegalStateException("store: in use (expected: one without bindings)");
    }
    unknownBeforeNanos = clamp(nanos);
  }

  /**
   * Treats the past as known, despite {@link #unknownBefore} or an image: permits that were
   * admitted before and are not counted are admitted again.
   */
  public void forgetUnknown() {
    unknownBeforeNanos = Meter.LONG_AGO;
    histories.values().forEach(PolicyHistory::forgetUnknown);
  }

  /** Returns fingerprints under a seed of this store's own. */
  @Override
  public Fingerprint fingerprint() {
    return fingerprint;
  }

  /** Returns how many bytes states may take by default: half of the heap. */
  public static long defaultMaxBytes() {
    return Runtime.getRuntime().maxMemory() / 2;
  }

  @Override
  public Binding bind(String name, Policy policy, long nowNanos) {
    Check.notNull("name", name);
    Check.notNull("policy", policy);
    synchronized (beginning) { // An image that is begun has a table, or the journal has all of it.
      UnreadPast past = unread;
      if (past != null) {
        return new MemoryBinding(this, past.bind(newHistory(name), policy), policy);
      }
      PolicyHistory history =
          histories.compute(
              name,
              (key, known) -> {
                PolicyHistory kept = known == null ? newHistory(key) : known;
                kept.putInForce(policy, clamp(nowNanos));
                return kept;
              });
      return new MemoryBinding(this, history, policy);
    }
  }

  /**
   * Keeps the counts of two or three names side by side, so that they share look-ups, locks and
   * memory; nothing is done for more names. The least of their bounds on keys then holds for all;
   * so names of which one sketches are left apart if their bounds differ at that time. Counts that
   * are there are moved if they are few, or were read and {@link #expire} was not called since;
   * otherwise later, at a call of {@link #expire}.
   */
  @Override
  public void colocate(List<Binding> bindings) {
    List<String> names = bindings.stream().map(each -> own(each).name()).distinct().toList();
    if (names.size() < 2 || names.size() > Lengths.MOST_PARTS) {
      return;
    }
    synchronized (beginning) {
      colocated.add(names);
      if (unread == null && image == null) {
        colocated.move(names, histories, budget, calendar);
      }
    }
  }

  private void moveTables() {
    synchronized (beginning) {
      if (image == null) {
        colocated.move(histories, budget, calendar);
      }
    }
  }

  /** Records a change until the past of this store is there; returns false if it is already. */
  private boolean isUnread(Consumer<UnreadPast> change) {
    if (unread == null) {
      return false;
    }
    synchronized (beginning) {
      UnreadPast past = unread;
      if (past != null) {
        change.accept(past);
      }
      return past != null;
    }
  }

  private PolicyHistory newHistory(String name) {
    return new PolicyHistory(name, budget, calendar, unknownBeforeNanos).journaled(journal);
  }

  /**
   * Returns a binding equal to the one that {@link #bind} returned for a name and a policy, in this
   * store or in the one that this one was {@link #resumed} from. Changes nothing: the policy may
   * have left force, and is not put in force again; a request under it is decided as under the
   * earlier binding.
   */
  public Binding rebound(String name, Policy policy) {
    Check.notNull("name", name);
    Check.notNull("policy", policy);
    PolicyHistory known = histories.get(name);
    return new MemoryBinding(this, known == null ? newHistory(name) : known, policy);
  }

  /**
   * Returns a binding equal to the one that {@link #variant} returned for a policy and a binding of
   * this name. Changes nothing.
   *
   * @throws IllegalArgumentException if {@link #variant} throws it
   */
  public Binding reboundVariant(Binding binding, Policy policy) {
    MemoryBinding kept = own(binding);
    checkVariant(kept, Check.notNull("policy", policy));
    return kept.variant(policy);
  }

  @Override
  public Binding variant(Binding binding, Policy policy) {
    Check.notNull("policy", policy);
    MemoryBinding kept = own(binding);
    checkVariant(kept, policy);
    if (isUnread(past -> past.variant(kept, policy))) {
      return kept.variant(policy);
    }
    PolicyHistory history = history(kept);
    if (kept.shape().equals(policy.shape())) {
      history.widen(policy);
    }
    if (history.isUnknown()) {
      history.alsoDecides(policy);
    }
    return kept.variant(policy);
  }

  private static void checkVariant(MemoryBinding kept, Policy policy) {
    if (kept.shape().equals(policy.shape())) {
      return;
    }
    if (kept.policy().algorithm() != Algorithm.TOKEN_BUCKET
        || policy.algorithm() != Algorithm.TOKEN_BUCKET) {
      throw new IllegalArgumentException(
          "policy: "
              + policy.algorithm()
              + " over "
              + policy.quota().window()
              + " (expected: the binding's shape, or two token buckets)");
    }
  }

  /** Returns the history that counts for a binding now. */
  private PolicyHistory history(MemoryBinding binding) {
    PolicyHistory own = binding.history;
    if (own.tables().length > 0) { // A history that was forgotten has none.
      return own;
    }
    PolicyHistory known = histories.get(own.name());
    return known == null ? own : known;
  }

  /** Returns the tables that count for a binding now. */
  ShapeTable[] tables(Binding binding) {
    return history(own(binding)).tables();
  }

  /** Forgets what a key has used, even if the key has reset. */
  @Override
  public boolean reset(Binding binding, long fingerprint, long nowNanos) {
    if (unread != null) {
      throw new UnsupportedOperationException("reset: the counts are still being read");
    }
    return SlowPath.reset(own(binding), fingerprint, Workspace.own(), clamp(nowNanos));
  }

  @Override
  public void retire(String name, long nowNanos) {
    Check.notNull("name", name);
    if (isUnread(past -> past.retire(name))) {
      return;
    }
    histories.computeIfPresent(
        name,
        (key, history) -> {
          history.retire(clamp(nowNanos));
          return history;
        });
  }

  /**
   * Returns the history that counts for a name, with a table for a policy that is no longer in
   * force: for a request that began before the policy was replaced. The history itself may have
   * been forgotten since and replaced by another; two of one name would each admit the whole quota.
   */
  PolicyHistory reopened(PolicyHistory history, Policy policy, long now) {
    synchronized (beginning) {
      return histories.compute(
          history.name(),
          (key, known) -> {
            PolicyHistory kept = known == null ? history : known;
            if (kept == history || !kept.has(policy.shape())) {
              kept.reopen(policy, now);
            }
            return kept;
          });
    }
  }

  @Override
  public void decide(Charges charges, long nowNanos) {
    Check.notNull("charges", charges);
    long now = clamp(nowNanos);
    for (int i = 0; i < charges.size(); i++) {
      own(charges.binding(i));
    }
    if (charges.size() == 1
        && !charges.queued()
        && !charges.anyReports()
        && charges.permits(0) >= 0) {
      long permits = charges.permits(0);
      long packed =
          FastPath.decide(
              own(charges.binding(0)),
              nonZero(charges.fingerprint(0)),
              Segment.NO_HINT,
              charges.peeking() ? -permits : permits,
              now,
              charges);
      if (packed != FastPath.UNDECIDED) {
        charges.settle();
        return;
      }
    }
    Workspace work = Workspace.own();
    if (charges.size() < 2
        || !(ColocatedPath.decide(charges, now, work.quotas) || work.joint.decide(charges, now))) {
      decideSlowly(charges, work, now);
    }
  }

  /**
   * Decides a request that charges all bindings of a limiter or none, if their quotas can be read
   * at one place.
   *
   * @param bindings of this store, 2 or more
   * @param permits at least 0
   * @return the results, which this thread's next request replaces; or null if the request has to
   *     be decided as {@link Charges}
   */
  @Nullable QuotaResults decideQuotas(
      Binding[] bindings, long fingerprint, long permits, long nowNanos) {
    if (bindings.length > Lengths.MOST_PARTS) {
      return null;
    }
    QuotaResults results = Workspace.own().quotas;
    long key = nonZero(fingerprint);
    long now = clamp(nowNanos);
    return ColocatedPath.decide(bindings, bindings.length, key, permits, false, now, results)
        ? results
        : null;
  }

  private void decideSlowly(Charges charges, Workspace work, long now) {
    if (unread == null) {
      SlowPath.decide(charges, work, now);
    } else {
      UnreadPast.answer(charges, now);
    }
  }

  /**
   * Decides a peek at one key if its state can simply be read: changes nothing at all, while {@link
   * #decide(Charges, long)} may prepare what a charge would need.
   *
   * @param charges one charge that must fit, of at least 0 permits
   * @return false if the key's rule has changed lately or its past is not known; {@code charges}
   *     has no result then
   */
  public boolean glance(Charges charges, long nowNanos) {
    Check.range("charges", charges.size(), 1, 1);
    long permits = Check.range("permits", charges.permits(0), 0, Long.MAX_VALUE);
    long fingerprint = nonZero(charges.fingerprint(0));
    MemoryBinding binding = own(charges.binding(0));
    long packed =
        FastPath.decide(binding, fingerprint, Segment.NO_HINT, -permits, clamp(nowNanos), charges);
    if (packed == FastPath.UNDECIDED) {
      return false;
    }
    charges.settle();
    return true;
  }

  @Override
  public void expect(Charges[] requests, int count) {
    Check.range("count", count, 0, Check.notNull("requests", requests).length);
    // As in a batch: the processor waits for all slots at once, and then for all states.
    long read = 0;
    for (int i = 0; i < count; i++) {
      read ^= touch(requests[i], false);
    }
    for (int i = 0; i < count; i++) {
      read ^= touch(requests[i], true);
    }
    Workspace.own().prefetched(read);
  }

  /** Reads memory where the slots of a request's keys are, or where their states are. */
  private long touch(Charges charges, boolean states) {
    long read = 0;
    for (int i = 0; i < charges.size(); i++) {
      Binding binding = charges.binding(i);
      Table table = owns(binding) ? own(binding).view().only : null;
      if (table != null && !(states && table.ofWords)) {
        long fingerprint = nonZero(charges.fingerprint(i));
        Segment segment = table.segment(fingerprint);
        read ^= states ? segment.touchState(segment.find(fingerprint)) : segment.touch(fingerprint);
      }
    }
    return read;
  }

  @Override
  public void decide(Batch batch, long nowNanos) {
    Check.notNull("batch", batch);
    long now = clamp(nowNanos);
    Workspace work = Workspace.own();
    int[] hints = work.hints(batch.size());
    // No lock orders these reads of memory, so the processor waits for memory only once.
    work.prefetched(touch(batch));
    find(batch, hints);
    work.prefetched(touchStates(batch, hints));
    for (int i = 0; i < batch.size(); i++) {
      decide(batch, i, hints[i], work, now);
    }
  }

  private long touch(Batch batch) {
    long read = 0;
    for (int from = 0, to; from < batch.size(); from = to) {
      to = endOfRun(batch, from);
      Table table = own(batch.binding(from)).view().only;
      read += table == null ? 0 : table.directory.touch(batch, from, to);
    }
    return read;
  }

  private void find(Batch batch, int[] hints) {
    for (int from = 0, to; from < batch.size(); from = to) {
      to = endOfRun(batch, from);
      Table table = own(batch.binding(from)).view().only;
      if (table == null) {
        Arrays.fill(hints, from, to, Segment.NO_HINT);
      } else {
        table.directory.find(batch, from, to, hints);
      }
    }
  }

  private long touchStates(Batch batch, int[] hints) {
    long read = 0;
    for (int from = 0, to; from < batch.size(); from = to) {
      to = endOfRun(batch, from);
      Table table = own(batch.binding(from)).view().only;
      if (table != null && !table.ofWords) {
        read += table.directory.touchStates(batch, from, to, hints);
      }
    }
    return read;
  }

  /**
   * Returns the end of the run of requests that have the same binding as the one at {@code from}.
   */
  private static int endOfRun(Batch batch, int from) {
    Binding binding = batch.binding(from);
    int to = from + 1;
    while (to < batch.size() && batch.binding(to) == binding) {
      to++;
    }
    return to;
  }

  private void decide(Batch batch, int i, int hint, Workspace work, long now) {
    MemoryBinding binding = own(batch.binding(i));
    long fingerprint = batch.fingerprint(i);
    long permits = batch.permits(i);
    Charges results = batch.isDetailed() ? work.one : null;
    long packed = FastPath.decide(binding, nonZero(fingerprint), hint, permits, now, results);
    if (packed == FastPath.UNDECIDED) {
      packed = decideSlowly(binding, fingerprint, permits, work, now);
    }
    if (results == null) {
      batch.decision(i, packed);
    } else {
      batch.result(i, packed, results.remaining(0), results.resetAfterNanos(0));
    }
    if (packed == PackedDecision.UNCERTAIN) {
      batch.cause(i, UncertainCause.COUNTS);
    }
  }

  @Override
  public Decision decision(Binding binding, long fingerprint, long permits, long nowNanos) {
    Check.range("permits", permits, 0, Long.MAX_VALUE);
    MemoryBinding own = own(binding);
    Charges results = Workspace.own().one;
    long key = nonZero(fingerprint);
    long packed = FastPath.decide(own, key, Segment.NO_HINT, permits, clamp(nowNanos), results);
    return packed == FastPath.UNDECIDED
        ? LocalStore.super.decision(binding, fingerprint, permits, nowNanos)
        : results.decision(0, own.policy(), packed >= 0);
  }

  @Override
  public long decide(Binding binding, long fingerprint, long permits, long nowNanos) {
    Check.range("permits", permits, 0, Long.MAX_VALUE);
    MemoryBinding own = own(binding);
    long now = clamp(nowNanos);
    long packed = FastPath.decide(own, nonZero(fingerprint), Segment.NO_HINT, permits, now, null);
    return packed != FastPath.UNDECIDED
        ? packed
        : decideSlowly(own, fingerprint, permits, Workspace.own(), now);
  }

  /** Decides one charge that must fit, on the slow path; its result stays in {@code work.one}. */
  private long decideSlowly(
      MemoryBinding binding, long fingerprint, long permits, Workspace work, long now) {
    Charges one = work.one.clear().add(binding, fingerprint, permits);
    decideSlowly(one, work, now);
    long packed = one.packed(0);
    one.clear();
    return packed;
  }

  @Override
  public long refund(
      Binding binding, long fingerprint, long permits, Decision charged, long nowNanos) {
    Check.range("permits", permits, 0, Long.MAX_VALUE);
    Check.notNull("charged", charged);
    MemoryBinding own = own(binding);
    if (unread != null || charged.reason() == Reason.UNCERTAIN) { // Nothing was charged.
      return 0;
    }
    long now = clamp(nowNanos);
    long most = Math.min(permits, Meter.MOST_PERMITS);
    long given = FastPath.refund(own, nonZero(fingerprint), most, charged, now);
    return given != FastPath.UNDECIDED
        ? given
        : SlowPath.refund(own, fingerprint, permits, charged, Workspace.own(), now);
  }

  @Override
  public long refundNewest(Binding binding, long fingerprint, long permits, long nowNanos) {
    Check.range("permits", permits, 0, Long.MAX_VALUE);
    MemoryBinding own = own(binding);
    if (unread != null) { // Nothing was charged.
      return 0;
    }
    return SlowPath.refundNewest(own, fingerprint, permits, Workspace.own(), clamp(nowNanos));
  }

  @Override
  public boolean renew(Binding binding, long fingerprint, Decision charged, long nowNanos) {
    Check.notNull("charged", charged);
    MemoryBinding own = own(binding);
    if (unread != null || charged.reason() == Reason.UNCERTAIN) { // There is no seat.
      return false;
    }
    return SlowPath.renew(own, fingerprint, charged, Workspace.own(), clamp(nowNanos));
  }

  /**
   * Counts permits that were admitted elsewhere, whether they fit or not; also for the policies
   * that the name had before. Permits that fit count as a charge does. Of those that do not fit, a
   * bucket counts at most as many as empty it, so that it is full again a window later; the other
   * algorithms count all of them.
   *
   * @param permits at least 0
   * @return the key's state after that, as a peek at no permits would return it: allowed, with what
   *     remains and when it resets; or, if there is no room for the key, refused for {@link
   *     Reason#KEY_SPACE_FULL}, and nothing was counted
   * @throws IllegalArgumentException if the binding is not this store's or the permits are negative
   * @throws IllegalStateException if a {@link StateFolder} still reads this store's counts
   */
  public Decision record(Binding binding, long fingerprint, long permits, long nowNanos) {
    Check.range("permits", permits, 0, Long.MAX_VALUE);
    if (unread != null) {
      throw new IllegalStateException("store: its counts are still being read (expected: read)");
    }
    return SlowPath.record(own(binding), fingerprint, permits, Workspace.own(), clamp(nowNanos));
  }

  private MemoryBinding own(Binding binding) {
    if (binding instanceof MemoryBinding memory && memory.store() == this) {
      return memory;
    }
    throw new IllegalArgumentException("binding: " + binding + " (expected: one of this store)");
  }

  /**
   * Returns a fingerprint other than 0, which marks a free slot. Sharing a limit with the key
   * beside it can only deny.
   */
  static long nonZero(long fingerprint) {
    return fingerprint == 0 ? 1 : fingerprint;
  }

  @Override
  public void expire(long nowNanos) {
    long now = clamp(nowNanos);
    Iterator<String> names = histories.keySet().iterator();
    while (names.hasNext()) {
      histories.computeIfPresent(
          names.next(), (n, history) -> history.expire(now) ? null : history);
    }
    synchronized (beginning) {
      colocated.sweep(histories.keySet());
      moveTables();
    }
  }

  @Override
  public long keys() {
    return budget.keys();
  }

  @Override
  public long maxKeys() {
    return budget.maxKeys();
  }

  @Override
  public long maxBytes() {
    return budget.maxBytes();
  }

  @Override
  public long bytes() {
    return budget.bytes();
  }

  /**
   * Checks the invariants of the tables: that every key can be found, and that the sums of keys and
   * bytes are right. For tests and for bug reports: it reads every slot, and no request may be
   * decided meanwhile.
   *
   * @throws IllegalStateException if a table is broken
   */
  public void verify() {
    long keys = 0;
    long bytes = 0;
    Set<Directory> joint = new HashSet<>();
    for (PolicyHistory history : histories.values()) {
      long[] found = history.verify();
      keys += found[0];
      bytes += found[1];
      for (ShapeTable each : history.tables()) {
        if (!each.table().directory.isOfOne() && joint.add(each.table().directory)) {
          long[] shared = each.table().directory.verify();
          each.table().budget().verify(shared[0], shared[1]);
          keys += shared[0];
          bytes += shared[1];
        }
      }
    }
    budget.verify(keys, bytes);
  }

  /**
   * Closes the store. One with a {@linkplain Builder#journal journal} saves its counts; nothing may
   * be decided any more.
   *
   * @throws UncheckedIOException if they cannot be saved; the journal has them all the same, unless
   *     a line has said otherwise
   */
  @Override
  public void close() {
    StateFolder kept = folder;
    if (kept != null) {
      try (kept) {
        kept.save();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static long clamp(long nanos) {
    return Math.max(-Meter.HORIZON_NANOS, Math.min(Meter.HORIZON_NANOS, nanos));
  }
}
