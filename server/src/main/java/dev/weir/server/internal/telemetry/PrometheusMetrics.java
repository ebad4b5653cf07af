package dev.weir.server.internal.telemetry;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.metrics.data.SummaryData;
import io.opentelemetry.sdk.metrics.data.SummaryPointData;
import io.opentelemetry.sdk.metrics.export.MetricProducer;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The metrics for Prometheus in the form of OpenTelemetry: under the same names, except that a
 * counter's has no {@code _total}. Safe for use by many threads.
 */
final class PrometheusMetrics implements MetricProducer {
  private static final InstrumentationScopeInfo SCOPE = InstrumentationScopeInfo.create("dev.weir");

  private final long startNanos = Clock.getDefault().now();
  private volatile @Nullable PrometheusRegistry registry;

  /** Sets the registry whose metrics are read from now on. */
  void from(PrometheusRegistry source) {
    registry = source;
  }

  @Override
  public Collection<MetricData> produce(Resource resource) {
    PrometheusRegistry from = registry;
    List<MetricData> all = new ArrayList<>();
    if (from != null) {
      long nowNanos = Clock.getDefault().now();
      for (MetricSnapshot family : from.scrape()) {
        ConvertedMetrics converted = converted(family, nowNanos);
        if (converted != null && !converted.data().getPoints().isEmpty()) {
          all.add(new Family(resource, family, converted));
        }
      }
    }
    return all;
  }

  private record ConvertedMetrics(MetricDataType type, String suffix, Data<?> data) {}

  /** Returns a family's values; null for kinds that neither Weir nor the JVM's metrics have. */
  private @Nullable ConvertedMetrics converted(MetricSnapshot family, long nowNanos) {
    if (family instanceof CounterSnapshot counter) {
      return new ConvertedMetrics(
          MetricDataType.DOUBLE_SUM,
          "",
          SumData.createDoubleSumData(
              true,
              AggregationTemporality.CUMULATIVE,
              points(counter.getDataPoints(), nowNanos, point -> point.getValue())));
    }
    if (family instanceof GaugeSnapshot gauge) {
      return gauge("", points(gauge.getDataPoints(), nowNanos, point -> point.getValue()));
    }
    if (family instanceof InfoSnapshot info) {
      return gauge("_info", points(info.getDataPoints(), nowNanos, point -> 1));
    }
    if (family instanceof HistogramSnapshot histogram) {
      List<HistogramPointData> points =
          histogram.getDataPoints().stream()
              .filter(HistogramSnapshot.HistogramDataPointSnapshot::hasClassicHistogramData)
              .map(point -> histogram(point, nowNanos))
              .toList();
      return new ConvertedMetrics(
          MetricDataType.HISTOGRAM,
          "",
          HistogramData.create(AggregationTemporality.CUMULATIVE, points));
    }
    if (family instanceof SummarySnapshot summary) {
      List<SummaryPointData> points =
          summary.getDataPoints().stream().map(point -> summary(point, nowNanos)).toList();
      return new ConvertedMetrics(MetricDataType.SUMMARY, "", SummaryData.create(points));
    }
    return null;
  }

  private static ConvertedMetrics gauge(String suffix, List<DoublePointData> points) {
    return new ConvertedMetrics(
        MetricDataType.DOUBLE_GAUGE, suffix, GaugeData.createDoubleGaugeData(points));
  }

  /** Returns the points of a family; unknown values, such as an unknown load, are left out. */
  private <T extends DataPointSnapshot> List<DoublePointData> points(
      List<T> points, long nowNanos, ToDoubleFunction<T> value) {
    List<DoublePointData> all = new ArrayList<>();
    for (T point : points) {
      double number = value.applyAsDouble(point);
      if (!Double.isNaN(number)) {
        all.add(
            DoublePointData.create(
                startNanos, nowNanos, attributes(point.getLabels()), number, List.of()));
      }
    }
    return all;
  }

  private HistogramPointData histogram(
      HistogramSnapshot.HistogramDataPointSnapshot point, long nowNanos) {
    ClassicHistogramBuckets buckets = point.getClassicBuckets();
    List<Double> bounds = new ArrayList<>();
    List<Long> counts = new ArrayList<>();
    for (int i = 0; i < buckets.size(); i++) {
      counts.add(buckets.getCount(i));
      if (buckets.getUpperBound(i) != Double.POSITIVE_INFINITY) {
        bounds.add(buckets.getUpperBound(i));
      }
    }
    return HistogramPointData.create(
        startNanos,
        nowNanos,
        attributes(point.getLabels()),
        point.getSum(),
        false,
        0,
        false,
        0,
        bounds,
        counts);
  }

  private SummaryPointData summary(SummarySnapshot.SummaryDataPointSnapshot point, long nowNanos) {
    return SummaryPointData.create(
        startNanos,
        nowNanos,
        attributes(point.getLabels()),
        point.getCount(),
        point.getSum(),
        List.of());
  }

  private static Attributes attributes(Labels labels) {
    AttributesBuilder attributes = Attributes.builder();
    for (int i = 0; i < labels.size(); i++) {
      attributes.put(labels.getName(i), labels.getValue(i));
    }
    return attributes.build();
  }

  /** A family of the page for Prometheus. */
  private record Family(Resource resource, MetricSnapshot source, ConvertedMetrics converted)
      implements MetricData {
    @Override
    public Resource getResource() {
      return resource;
    }

    @Override
    public InstrumentationScopeInfo getInstrumentationScopeInfo() {
      return SCOPE;
    }

    @Override
    public String getName() {
      return source.getMetadata().getPrometheusName() + converted.suffix();
    }

    @Override
    public String getDescription() {
      String help = source.getMetadata().getHelp();
      return help == null ? "" : help;
    }

    @Override
    public String getUnit() {
      String name = source.getMetadata().getPrometheusName();
      return name.endsWith("_seconds") ? "s" : name.endsWith("_bytes") ? "By" : "";
    }

    @Override
    public MetricDataType getType() {
      return converted.type();
    }

    @Override
    public Data<?> getData() {
      return converted.data();
    }
  }
}
