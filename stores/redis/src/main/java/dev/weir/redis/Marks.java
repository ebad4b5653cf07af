package dev.weir.redis;

import dev.weir.AfterCrash;
import dev.weir.Ticker;
import dev.weir.shared.Loss;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The store's marks, one for each slot, as this process last saw them. Safe for use by many
 * threads.
 */
final class Marks {
  /*
   * How is this designed, and why? Each call reads and checks the mark of its slot in the same step
   * in which it decides. So no decision is made on counts that a process knows to be lost, a
   * decision takes no second round trip, and all processes agree on the instant of the loss: it is
   * in the store. A look now and then, or after a reconnection, would find a FLUSHALL late, and
   * each process at another time. In a cluster, a call has the keys of one slot alone; so each
   * slot has a mark, whose name has a tag of that slot.
   *
   * A process that has not called the store yet knows no mark, and cannot tell a new store from one
   * that has lost everything. If such a process is the first to call after a loss, the next call of
   * a process that knew the old mark records the loss, and until then nothing is refused.
   */

  /** The names that are tried for all slots: 40 a slot, so that one in 10^17 remains without. */
  private static final int MOST_TAGS = 40 * SlotHash.SLOT_COUNT;

  /** Losses within this time are one: the slots of a node lose their marks together. */
  private static final long ONE_LOSS_NANOS = 60_000_000_000L;

  /** The age up to which a process reports a loss that happened before its first call. */
  private static final long RECENT_MICROS = Duration.ofDays(1).toNanos() / 1_000;

  private final LinkSettings settings;
  private final Ticker ticker;

  /** The names by slot; null for a slot without a mark. */
  private final byte[] @Nullable [] names;

  private final AtomicReferenceArray<Mark> known;
  private long reportedNanos;
  private boolean reported;

  private Marks(LinkSettings settings, byte[] @Nullable [] names) {
    this.settings = settings;
    this.names = names;
    ticker = settings.ticker();
    known = new AtomicReferenceArray<>(names.length);
  }

  /** Returns the only mark of a store without slots. */
  static Marks ofOne(LinkSettings settings) {
    return new Marks(settings, new byte[][] {name(settings, "mark")});
  }

  /** Returns the marks of all slots of a cluster. */
  static Marks ofSlots(LinkSettings settings) {
    byte[] @Nullable [] names = new byte[SlotHash.SLOT_COUNT][];
    int missing = names.length;
    for (int tag = 0; tag < MOST_TAGS && missing > 0; tag++) {
      byte[] name = name(settings, "mark{" + tag + "}");
      int slot = SlotHash.getSlot(name);
      if (names[slot] == null) {
        names[slot] = name;
        missing--;
      }
    }
    return new Marks(settings, names);
  }

  private static byte[] name(LinkSettings settings, String rest) {
    return (settings.prefix() + ":" + rest).getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the mark's name in Redis; null if the slot has none. */
  byte @Nullable [] name(int slot) {
    return settings.marked() ? names[slot] : null;
  }

  /** Returns the argument of a call that reads the mark. */
  byte[] argument(int slot) {
    Mark mark = known.get(slot);
    return (mark == null ? Mark.UNKNOWN : mark).toBytes(settings.afterCrash());
  }

  /** Returns the reply to a call, which reports a mark that is new to this process. */
  RedisReply reply(int slot, byte[] bytes) {
    return new RedisReply(bytes, (mark, nowMicros) -> received(slot, mark, nowMicros));
  }

  private void received(int slot, Mark mark, long nowMicros) {
    Mark before = known.getAndUpdate(slot, old -> newer(old, mark) ? mark : old);
    boolean isNew =
        before == null
            ? mark.lost() > 0 && nowMicros - mark.lost() < RECENT_MICROS
            : mark.lost() > before.lost();
    if (isNew && isFirst()) {
      settings.store().counters().lost(Loss.COUNTS, 1);
      settings.store().warnings().accept(line(mark));
    }
  }

  /** Returns whether a mark is not one that a later reply has overtaken. */
  private static boolean newer(@Nullable Mark old, Mark mark) {
    return old == null
        || mark.born() > old.born()
        || mark.lost() > old.lost()
        || (mark.born() == old.born() && mark.beat() > old.beat());
  }

  private synchronized boolean isFirst() {
    long now = ticker.nanos();
    boolean first = !reported || now - reportedNanos >= ONE_LOSS_NANOS;
    if (first) {
      reported = true;
      reportedNanos = now;
    }
    return first;
  }

  private String line(Mark mark) {
    Instant at = Instant.EPOCH.plus(mark.lost(), ChronoUnit.MICROS).truncatedTo(ChronoUnit.MILLIS);
    return "the store lost its counts, noticed at "
        + at
        + " by its clock: it came back empty or older than it was (a restart without a file, an"
        + " empty replica, FLUSHALL, a copy); "
        + (settings.afterCrash() == AfterCrash.DENY
            ? "after-crash deny: each key of a lost slot is refused until its window has passed"
                + " since then; amnesty would end that"
            : "after-crash amnesty: each key of a lost slot has its whole quota again");
  }
}
