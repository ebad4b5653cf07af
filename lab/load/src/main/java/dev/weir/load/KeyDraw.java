package dev.weir.load;

import dev.weir.internal.Choice;
import dev.weir.rules.ShareText;
import dev.weir.traffic.Zipf;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A draw of the keys of requests: numbers below {@code keys}, or from {@code keys} on for the share
 * to be refused. Not safe for use by many threads.
 */
public final class KeyDraw {
  /** The number of keys that are refused: so few that the limit of each is soon used up. */
  public static final int EXHAUSTED_KEYS = 8;

  private static final long SEED = 20_261_101;

  private final SplittableRandom random;
  private final int keys;
  private final long exhaustedMillionths;
  private final @Nullable Zipf zipf;
  private final @Nullable AtomicLong turn;

  /** The distribution of drawn keys. */
  public enum Kind {
    /** All keys, with equal probability. */
    UNIFORM,
    /** All keys, of which the k-th most frequent is drawn 1/k as often as the first. */
    ZIPF,
    /** All keys, one after the other, over all connections. */
    IN_TURN;

    @Override
    public String toString() {
      return Choice.text(this);
    }
  }

  /**
   * @param number the number of the draw: different numbers draw differently, the same number draws
   *     the same in every run
   * @param turn the number of keys that were drawn in turn, by all draws that share it
   */
  KeyDraw(Kind kind, int keys, long exhaustedMillionths, int number, AtomicLong turn) {
    this.random = new SplittableRandom(SEED + number);
    this.keys = keys;
    this.exhaustedMillionths = exhaustedMillionths;
    this.zipf = kind == Kind.ZIPF ? new Zipf(keys, 1) : null;
    this.turn = kind == Kind.IN_TURN ? turn : null;
  }

  long next() {
    if (exhaustedMillionths > 0 && random.nextInt((int) ShareText.WHOLE) < exhaustedMillionths) {
      return (long) keys + random.nextInt(EXHAUSTED_KEYS);
    }
    if (turn != null) {
      return turn.getAndIncrement() % keys;
    }
    return zipf == null ? random.nextInt(keys) : zipf.draw(random) - 1;
  }
}
