package dev.weir.load;

import dev.weir.rules.Choice;
import dev.weir.rules.ShareText;
import dev.weir.traffic.Zipf;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Draws the keys of requests: numbers below {@code keys}, or from {@code keys} on for the share to
 * be refused. Not safe for use by many threads.
 */
public final class KeyDraw {
  /** Few enough that the limit of each is soon used up. */
  public static final int EXHAUSTED_KEYS = 8;

  private static final long SEED = 20_261_101;

  private final SplittableRandom random;
  private final int keys;
  private final long exhaustedMillionths;
  private final @Nullable Zipf zipf;
  private final @Nullable AtomicLong turn;

  /** How keys are drawn. */
  public enum Kind {
    /** All keys are equally likely. */
    UNIFORM,
    /** The k-th most frequent key is drawn 1/k as often as the first. */
    ZIPF,
    /** One after the other, over all connections. */
    IN_TURN;

    @Override
    public String toString() {
      return Choice.text(this);
    }
  }

  /**
   * @param number of the draw: different numbers draw differently, the same number draws the same
   *     in every run
   * @param turn how many keys were drawn in turn, by all draws that share it
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
