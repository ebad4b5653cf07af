package dev.weir.cli;

import java.util.SplittableRandom;

/**
 * Draws the keys that are asked for: numbers below {@code keys}, or for the exhausted share numbers
 * from there on. Not safe for use by many threads.
 */
final class KeyDraw {
  /** So few that every one of them is used up soon. */
  static final int EXHAUSTED_KEYS = 8;

  private static final long SEED = 20_261_101;

  private final SplittableRandom random;
  private final long keys;
  private final double exhaustedShare;
  private final boolean zipf;

  /*
   * Zipf's law with exponent 1, for any number of keys in no memory: rejection-inversion [Hörmann, Derflinger 1996],
   * under the hat 1/x with its integral ln x.
   */
  private final double low;
  private final double high;
  private final double squeeze;

  /** How keys are drawn. */
  enum Kind {
    /** Every key is as likely. */
    UNIFORM("uniform"),
    /** The k-th most frequent key is asked for 1/k as often as the first. */
    ZIPF("zipf");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    static Kind of(String text) {
      for (Kind kind : values()) {
        if (kind.text.equals(text)) {
          return kind;
        }
      }
      throw new IllegalArgumentException("--draw: " + text + " (expected: uniform or zipf)");
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /**
   * @param number draws of different numbers differ; those of one are the same in every run
   */
  KeyDraw(Kind kind, long keys, double exhaustedShare, int number) {
    this.random = new SplittableRandom(SEED + number);
    this.keys = keys;
    this.exhaustedShare = exhaustedShare;
    this.zipf = kind == Kind.ZIPF;
    this.low = Math.log(1.5) - 1;
    this.high = Math.log(keys + 0.5);
    this.squeeze = 2 - Math.exp(Math.log(2.5) - 0.5);
  }

  long next() {
    if (exhaustedShare > 0 && random.nextDouble() < exhaustedShare) {
      return keys + random.nextInt(EXHAUSTED_KEYS);
    }
    return zipf ? zipf() - 1 : random.nextLong(keys);
  }

  /** Returns a rank from 1 to {@code keys}. */
  private long zipf() {
    while (true) {
      double area = high + random.nextDouble() * (low - high);
      double x = Math.exp(area);
      long rank = Math.max(1, Math.min(keys, (long) (x + 0.5)));
      if (rank - x <= squeeze || area >= Math.log(rank + 0.5) - 1.0 / rank) {
        return rank;
      }
    }
  }
}
