package dev.weir;

/** The states of the keys of one shape: plain, concurrent, and forgetting what has rested. */
final class Table {
  /** Locks a table: a few for each core of a common machine. A power of two. */
  private static final int STRIPES = 16;

  final Shape shape;
  final Meter meter;

  /** The state of a key that has never been seen; only to be read. */
  final long[] fresh;

  private final Stripe[] stripes = new Stripe[STRIPES];
  private int hand;

  Table(Shape shape, Budget budget) {
    this.shape = shape;
    this.meter = shape.meter();
    this.fresh = meter.fresh();
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new Stripe(meter, budget);
    }
  }

  /** Returns the stripe of a key. The low bits of a fingerprint choose its slot there. */
  Stripe stripe(long fingerprint) {
    return stripes[(int) (fingerprint >>> 60)];
  }

  /** Forgets what has rested, in one stripe after the other as it is called. */
  synchronized void forgetSome(long nowNanos) {
    hand = (hand + 1) % STRIPES;
    Stripe stripe = stripes[hand];
    stripe.lock();
    try {
      stripe.forget(nowNanos, stripe.capacity());
    } finally {
      stripe.unlock();
    }
  }

  void clear() {
    for (Stripe stripe : stripes) {
      stripe.lock();
      try {
        stripe.clear();
      } finally {
        stripe.unlock();
      }
    }
  }
}
