package dev.weir.server.internal.metrics;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Metrics read from counters that are kept elsewhere. A counter's name is given without {@code
 * _total}, which both text formats add.
 */
public final class Families {
  /** The unit of times in nanoseconds, which are shown in seconds. */
  public static final double NANOS_PER_SECOND = 1e9;

  private final List<MetricSnapshot> families = new ArrayList<>();

  /** Returns all families; no name may have been added twice. */
  public MetricSnapshots all() {
    return new MetricSnapshots(families);
  }

  public void counter(String name, String help, long value) {
    counter(name, help, (double) value);
  }

  /** Adds a sum of times, in seconds. */
  public void seconds(String name, String help, long nanos) {
    counter(name, help, nanos / NANOS_PER_SECOND);
  }

  private void counter(String name, String help, double value) {
    families.add(
        CounterSnapshot.builder()
            .name(name)
            .help(help)
            .dataPoint(point(value, Labels.EMPTY))
            .build());
  }

  /** Adds one series for each item; the labels of two items must differ. */
  public <T> void counters(
      String name,
      String help,
      Collection<T> items,
      Function<T, Labels> labels,
      ToLongFunction<T> value) {
    CounterSnapshot.Builder family = CounterSnapshot.builder().name(name).help(help);
    items.forEach(
        item -> family.dataPoint(point((double) value.applyAsLong(item), labels.apply(item))));
    families.add(family.build());
  }

  private static CounterSnapshot.CounterDataPointSnapshot point(double value, Labels labels) {
    return CounterSnapshot.CounterDataPointSnapshot.builder().value(value).labels(labels).build();
  }

  public void gauge(String name, String help, long value) {
    gauge(name, help, (double) value);
  }

  public void gauge(String name, String help, double value) {
    families.add(
        GaugeSnapshot.builder()
            .name(name)
            .help(help)
            .dataPoint(level(value, Labels.EMPTY))
            .build());
  }

  /** Adds one series for each item; the labels of two items must differ. */
  public <T> void gauges(
      String name,
      String help,
      Collection<T> items,
      Function<T, Labels> labels,
      ToLongFunction<T> value) {
    GaugeSnapshot.Builder family = GaugeSnapshot.builder().name(name).help(help);
    items.forEach(
        item -> family.dataPoint(level((double) value.applyAsLong(item), labels.apply(item))));
    families.add(family.build());
  }

  /**
   * Adds one series for each item, with values that need not be whole numbers; the labels of two
   * items must differ.
   */
  public <T> void levels(
      String name,
      String help,
      Collection<T> items,
      Function<T, Labels> labels,
      ToDoubleFunction<T> value) {
    GaugeSnapshot.Builder family = GaugeSnapshot.builder().name(name).help(help);
    items.forEach(item -> family.dataPoint(level(value.applyAsDouble(item), labels.apply(item))));
    families.add(family.build());
  }

  private static GaugeSnapshot.GaugeDataPointSnapshot level(double value, Labels labels) {
    return GaugeSnapshot.GaugeDataPointSnapshot.builder().value(value).labels(labels).build();
  }

  /**
   * Adds a histogram of times.
   *
   * @param counts for each bound, the number of times that are at most this bound and above the one
   *     before; one element more than the bounds, for longer times
   */
  public void histogram(
      String name, String help, List<Long> boundsNanos, List<Long> counts, long sumNanos) {
    families.add(
        HistogramSnapshot.builder()
            .name(name)
            .help(help)
            .dataPoint(
                point(new Histogram(boundsNanos, counts, sumNanos), NANOS_PER_SECOND, Labels.EMPTY))
            .build());
  }

  /**
   * A histogram.
   *
   * @param counts one element more than the bounds, for larger values
   */
  public record Histogram(List<Long> bounds, List<Long> counts, long sum) {}

  /**
   * Adds a histogram with a series for each item; the labels of two items must differ.
   *
   * @param unit the number by which bounds and sums are divided when they are shown
   */
  public <T> void histograms(
      String name,
      String help,
      double unit,
      Collection<T> items,
      Function<T, Labels> labels,
      Function<T, Histogram> value) {
    HistogramSnapshot.Builder family = HistogramSnapshot.builder().name(name).help(help);
    for (T item : items) {
      family.dataPoint(point(value.apply(item), unit, labels.apply(item)));
    }
    families.add(family.build());
  }

  private static HistogramSnapshot.HistogramDataPointSnapshot point(
      Histogram histogram, double unit, Labels labels) {
    ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
    for (int i = 0; i < histogram.bounds().size(); i++) {
      buckets.bucket(histogram.bounds().get(i) / unit, histogram.counts().get(i));
    }
    buckets.bucket(Double.POSITIVE_INFINITY, histogram.counts().get(histogram.bounds().size()));
    return HistogramSnapshot.HistogramDataPointSnapshot.builder()
        .classicHistogramBuckets(buckets.build())
        .sum(histogram.sum() / unit)
        .labels(labels)
        .build();
  }

  /** Adds a series whose value is 1; the name is given without {@code _info}. */
  public void info(String name, String help, Labels labels) {
    families.add(
        InfoSnapshot.builder()
            .name(name)
            .help(help)
            .dataPoint(InfoSnapshot.InfoDataPointSnapshot.builder().labels(labels).build())
            .build());
  }
}
