package dev.weir.server.internal.telemetry;

import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.metrics.ServerMetrics;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Setting;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.settings.StartException;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.net.URI;
import java.util.Map;
import java.util.Optional;

/**
 * The OpenTelemetry of a server: the metrics for Prometheus, and spans of requests whose callers
 * trace them, by OTLP over HTTP. Safe for use by many threads.
 */
public final class Telemetry implements AutoCloseable {
  /*
   * What is configured where? The setting names the collector. All else is configured by the
   * variables that OpenTelemetry has in every language, read by its own library: OTEL_SERVICE_NAME,
   * OTEL_RESOURCE_ATTRIBUTES, OTEL_EXPORTER_OTLP_HEADERS, OTEL_METRIC_EXPORT_INTERVAL,
   * OTEL_TRACES_SAMPLER and others. Some defaults differ here: a span is made only if the caller
   * has decided to trace, and OTLP goes over HTTP, for which Java's own client is enough.
   */
  private static final Map<String, String> DEFAULTS =
      Map.of(
          "otel.service.name", "weir",
          "otel.exporter.otlp.protocol", "http/protobuf",
          "otel.traces.exporter", "otlp",
          "otel.metrics.exporter", "otlp",
          "otel.logs.exporter", "none",
          "otel.traces.sampler", "parentbased_always_off");

  /** The telemetry of a server that sends none. */
  public static final Telemetry NONE =
      new Telemetry(Tracing.OFF, new PrometheusMetrics(), () -> {});

  private final Tracing tracing;
  private final PrometheusMetrics metrics;
  private final Runnable end;

  private Telemetry(Tracing tracing, PrometheusMetrics metrics, Runnable end) {
    this.tracing = tracing;
    this.metrics = metrics;
    this.end = end;
  }

  /**
   * Starts the parts that the settings name; returns {@link #NONE} if there are none.
   *
   * @throws StartException if a variable cannot be used
   */
  public static Telemetry start(ServerSettings settings) throws StartException {
    Setting<Optional<URI>> setting = Settings.OTLP;
    Optional<URI> collector = settings.value(setting);
    return collector.isEmpty() ? NONE : start(collector.get(), settings.source(setting));
  }

  private static Telemetry start(URI collector, String source) throws StartException {
    PrometheusMetrics metrics = new PrometheusMetrics();
    Map<String, String> endpoint = Map.of("otel.exporter.otlp.endpoint", collector.toString());
    try {
      OpenTelemetrySdk sdk =
          AutoConfiguredOpenTelemetrySdk.builder()
              .disableShutdownHook()
              .addPropertiesSupplier(() -> DEFAULTS)
              .addPropertiesCustomizer(given -> endpoint)
              .addResourceCustomizer((resource, given) -> resource.merge(version()))
              .addMeterProviderCustomizer(
                  (provider, given) -> provider.registerMetricProducer(metrics))
              .build()
              .getOpenTelemetrySdk();
      return new Telemetry(Tracing.of(sdk), metrics, sdk::close);
    } catch (ConfigurationException | IllegalArgumentException | IllegalStateException e) {
      throw new StartException(source + ": OpenTelemetry: " + e.getMessage(), e);
    }
  }

  private static Resource version() {
    return Resource.create(
        Attributes.of(AttributeKey.stringKey("service.version"), ServerMetrics.version()));
  }

  /** Returns the source of spans. */
  public Tracing tracing() {
    return tracing;
  }

  /** Sends these metrics from now on. */
  public void metrics(PrometheusRegistry registry) {
    metrics.from(registry);
  }

  /** Sends all remaining data, and ends; a collector that does not answer delays it. */
  @Override
  public void close() {
    end.run();
  }
}
