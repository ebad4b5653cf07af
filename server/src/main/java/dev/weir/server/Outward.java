package dev.weir.server;

import dev.weir.engine.Engine;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.telemetry.Statsd;
import dev.weir.server.internal.telemetry.Telemetry;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;
import dev.weir.server.settings.StartException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The senders of data to other systems: telemetry and statsd. Safe for use by many threads. */
final class Outward implements AutoCloseable {
  private final @Nullable Telemetry telemetry;
  private final List<Statsd> statsd = new ArrayList<>(1);

  private Outward(@Nullable Telemetry telemetry) {
    this.telemetry = telemetry;
  }

  /**
   * Starts the senders that the settings name.
   *
   * @throws StartException if one cannot be configured
   */
  static Outward start(ServerSettings settings, Engine engine) throws StartException {
    Outward outward = new Outward(Telemetry.start(settings));
    settings
        .value(Settings.STATSD)
        .ifPresent(server -> outward.statsd.add(Statsd.start(server, engine::metrics)));
    return outward;
  }

  Tracing tracing() {
    return telemetry == null ? Tracing.OFF : telemetry.tracing();
  }

  /** Returns whether there is a sender. */
  boolean sends() {
    return telemetry != null || !statsd.isEmpty();
  }

  /** Sends these metrics from now on, if telemetry is configured. */
  void metrics(PrometheusRegistry registry) {
    if (telemetry != null) {
      telemetry.metrics(registry);
    }
  }

  /** Sends all remaining data, and ends; receivers that do not answer delay it. */
  @Override
  public void close() {
    statsd.forEach(Statsd::close);
    if (telemetry != null) {
      telemetry.close();
    }
  }
}
