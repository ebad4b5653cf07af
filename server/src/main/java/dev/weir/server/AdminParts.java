package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.admin.AdminHandler;
import dev.weir.engine.Engine;
import dev.weir.replay.DryRun;
import dev.weir.replay.DryRuns;
import dev.weir.replay.Masking;
import dev.weir.replay.RecordedTraffic;
import dev.weir.server.internal.deciding.RequestRecorder;
import dev.weir.server.internal.rules.Configuration;
import dev.weir.server.internal.rules.StoredConfiguration;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import java.util.Optional;

/**
 * The parts of a server for its administration; all are empty if there is no port for it.
 *
 * @param handler the handler of requests for administration
 * @param observation the decisions kept for the dashboard
 * @param traffic the recorder of the ports' requests, for dry runs
 */
record AdminParts(
    Optional<AdminHandler> handler,
    Optional<Observation> observation,
    Optional<RecordedTraffic> traffic) {
  /** The parts of a server without administration. */
  static final AdminParts NONE =
      new AdminParts(Optional.empty(), Optional.empty(), Optional.empty());

  /** Opens the parts of a server; {@link #NONE} if it has no port or no store for them. */
  static AdminParts open(
      ServerSettings settings,
      Engine engine,
      Configuration configuration,
      Administration administration,
      Ticker ticker) {
    Optional<StoredConfiguration> stored = configuration.stored();
    if (stored.isEmpty() || settings.value(Settings.ADMIN_PORT).isEmpty()) {
      return NONE;
    }
    Optional<RecordedTraffic> traffic =
        settings.value(Settings.RECORD_TRAFFIC)
            ? Optional.of(new RecordedTraffic(ticker, settings.value(Settings.RECORD_MEMORY)))
            : Optional.empty();
    Observation observation = Observation.open(settings, engine, stored.get(), ticker);
    try {
      AdminHandler handler =
          administration.handler(
              new AdminInputs(
                  settings,
                  ticker,
                  engine,
                  stored.get(),
                  observation.observed(),
                  traffic.map(AdminParts::dryRuns)));
      return new AdminParts(Optional.of(handler), Optional.of(observation), traffic);
    } catch (RuntimeException | Error e) {
      observation.close();
      throw e;
    }
  }

  private static DryRuns dryRuns(RecordedTraffic traffic) {
    return new DryRuns(traffic, Masking.random(), DryRun.Limits.DEFAULTS);
  }

  /** Returns the recorder of requests. */
  RequestRecorder recorder() {
    return traffic.<RequestRecorder>map(to -> to::add).orElse(RequestRecorder.NONE);
  }

  /** Begins to observe. */
  void begin() {
    observation.ifPresent(Observation::begin);
  }
}
