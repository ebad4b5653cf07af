package dev.weir.cluster.internal.log;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.ratis.metrics.LongCounter;
import org.apache.ratis.metrics.MetricRegistries;
import org.apache.ratis.metrics.MetricRegistryInfo;
import org.apache.ratis.metrics.RatisMetricRegistry;
import org.apache.ratis.metrics.Timekeeper;
import org.apache.ratis.util.TimeDuration;

/**
 * A registry that switches Ratis's metrics off. They would be a dozen histograms per group, updated
 * for each entry and read by nobody, and Ratis does not run without a provider. Ratis finds this
 * class as a service.
 */
public final class RatisMetricsOff extends MetricRegistries {
  private static final Timekeeper.Context NO_TIME = () -> 0;

  /** Creates the registry; called by Ratis. */
  public RatisMetricsOff() {}

  @Override
  public RatisMetricRegistry create(MetricRegistryInfo info) {
    return new Registry(info);
  }

  @Override
  public boolean remove(MetricRegistryInfo key) {
    return false;
  }

  @Override
  public Optional<RatisMetricRegistry> get(MetricRegistryInfo info) {
    return Optional.empty();
  }

  @Override
  public Set<MetricRegistryInfo> getMetricRegistryInfos() {
    return Set.of();
  }

  @Override
  public Collection<RatisMetricRegistry> getMetricRegistries() {
    return List.of();
  }

  @Override
  public void clear() {
    // There are none.
  }

  @Override
  public void addReporterRegistration(
      Consumer<RatisMetricRegistry> reporter, Consumer<RatisMetricRegistry> stop) {
    // There is nothing to report.
  }

  @Override
  public void enableJmxReporter() {
    // There is nothing to report.
  }

  @Override
  public void enableConsoleReporter(TimeDuration rate) {
    // There is nothing to report.
  }

  private record Registry(MetricRegistryInfo info) implements RatisMetricRegistry {
    @Override
    public Timekeeper timer(String name) {
      return () -> NO_TIME;
    }

    @Override
    public LongCounter counter(String name) {
      return new Counter();
    }

    @Override
    public boolean remove(String name) {
      return false;
    }

    @Override
    public <T> void gauge(String name, Supplier<Supplier<T>> gauge) {
      // It is never read.
    }

    @Override
    public MetricRegistryInfo getMetricRegistryInfo() {
      return info;
    }
  }

  /** A working counter, since Ratis reads some of its own. */
  private static final class Counter implements LongCounter {
    private final AtomicLong count = new AtomicLong();

    @Override
    public void inc(long n) {
      count.addAndGet(n);
    }

    @Override
    public void dec(long n) {
      count.addAndGet(-n);
    }

    @Override
    public long getCount() {
      return count.get();
    }
  }
}
