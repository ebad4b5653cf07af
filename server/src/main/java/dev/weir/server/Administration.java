package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.admin.AdminApi;
import dev.weir.admin.AdminHandler;
import dev.weir.admin.Observed;
import dev.weir.config.ConfigStore;
import dev.weir.engine.Engine;
import dev.weir.engine.KeyPolicies;
import dev.weir.replay.DryRuns;
import dev.weir.server.internal.rules.RuleFileTexts;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A factory of the handler of requests for administration. */
interface Administration {
  /** Returns the handler of a server. */
  AdminHandler handler(
      ConfigStore store, Engine engine, ServerSettings settings, Ticker ticker, Known known);

  /**
   * The data that a server has about its traffic.
   *
   * @param observed its decisions
   * @param recorded its requests, or null if they are not recorded
   */
  record Known(Observed observed, @Nullable Recorded recorded) {}

  /**
   * The recorded traffic of a server.
   *
   * @param runs dry runs, which the server closes
   * @param policies the limits of its subjects
   */
  record Recorded(DryRuns runs, KeyPolicies policies) {}

  /** Returns Weir's own handler. */
  static AdminHandler api(
      ConfigStore store, Engine engine, ServerSettings settings, Ticker ticker, Known known) {
    List<String> hosts = new ArrayList<>(settings.value(Settings.ADMIN_HOSTS));
    hosts.add(settings.value(Settings.ADMIN_HOST));
    AdminApi.Builder builder =
        AdminApi.builder(store, engine)
            .hosts(hosts)
            .resets(!settings.value(Settings.NO_RESET))
            .observed(known.observed())
            .tickers(ticker, Ticker.wall());
    List<Path> files = settings.value(Settings.RULES);
    if (!files.isEmpty()) {
      builder.ruleFiles(() -> RuleFileTexts.read(files));
    }
    Recorded recorded = known.recorded();
    if (recorded != null) {
      builder.dryRuns(recorded.runs, recorded.policies);
    }
    return builder.build();
  }
}
