package dev.weir;

/** An order of the slots of an array in which those that follow each other are far apart. */
final class Scatter {
  /*
   * Why not from the first slot to the last? If keys come in the order of their homes, and are
   * added one by one to a smaller array, that is filled from its beginning: all of its keys are
   * there, and each key passes nearly all of them on the way to a free slot.
   *
   * The step is a golden section of the number of slots, so what was passed is spread evenly at any
   * time, and prime to it, so each slot comes once. [Knuth 6.4, theorem S]
   */

  /** The golden section, in units of 2 to the power of -32. */
  private static final long GOLDEN_SECTION = 0x9e37_79b9L;

  private final int width;
  private final int count;
  private final int step;
  private int passed;
  private int at;

  /**
   * Creates the order of an array.
   *
   * @param slots one long, and then the slots
   * @param width the longs of a slot
   */
  Scatter(long[] slots, int width) {
    this.width = width;
    this.count = (slots.length - 1) / width;
    this.step = step(count);
  }

  static int step(int count) {
    int step = Math.max(1, (int) ((count * GOLDEN_SECTION) >>> 32));
    while (commonDivisor(step, count) > 1) {
      step++;
    }
    return step;
  }

  private static int commonDivisor(int a, int b) {
    return b == 0 ? a : commonDivisor(b, a % b);
  }

  /** Returns the place of the next slot in the array; 0 when each has been passed. */
  int next() {
    if (passed == count) {
      return 0;
    }
    passed++;
    int slot = 1 + at * width;
    at += step;
    at -= at >= count ? count : 0;
    return slot;
  }
}
