package dev.weir.bench;

import java.util.stream.DoubleStream;

/** The median of the results of several rounds: one bad round does not move it. */
public final class Median {
  private Median() {}

  /** Returns the median, of an even number of values the mean of the middle two. */
  public static double of(DoubleStream values) {
    double[] sorted = values.sorted().toArray();
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }
}
