package dev.weir.server;

import dev.weir.engine.Engine;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.telemetry.Statsd;
import dev.weir.server.internal.telemetry.Telemetry;
import dev.weir.server.settings.StartException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.Optional;

/** The senders of data to other systems: telemetry and statsd. Safe for use by many threads. */
record DataSenders(Telemetry telemetry, Optional<Statsd> statsd) implements AutoCloseable {
  /**
   * Starts the senders that the settings name.
   *
   * @throws StartException if one cannot be configured
   */
  static DataSenders start(ServerSettings settings, Engine engine) throws StartException {
    return new DataSenders(
        Telemetry.start(settings),
        settings.value(Settings.STATSD).map(server -> Statsd.start(server, engine::metrics)));
  }

  Tracing tracing() {
    return telemetry.tracing();
  }

  /** Returns whether there is a sender. */
  boolean exist() {
    return telemetry.tracing().isOn() || statsd.isPresent();
  }

  /** Sends these metrics from now on, if telemetry is configured. */
  void metrics(PrometheusRegistry registry) {
    telemetry.metrics(registry);
  }

  /** Sends all remaining data, and ends; receivers that do not answer delay it. */
  @Override
  public void close() {
    statsd.ifPresent(Statsd::close);
    telemetry.close();
  }
}
