package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.admin.AdminApi;
import dev.weir.admin.AdminHandler;
import dev.weir.server.internal.rules.RuleFileTexts;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A factory of the handler of requests for administration. */
interface Administration {
  /** Returns the handler of a server. */
  AdminHandler handler(AdminInputs inputs);

  /** Returns Weir's own handler. */
  static AdminHandler api(AdminInputs inputs) {
    ServerSettings settings = inputs.settings();
    List<String> hosts = new ArrayList<>(settings.value(Settings.ADMIN_HOSTS));
    hosts.add(settings.value(Settings.ADMIN_HOST));
    AdminApi.Builder builder =
        AdminApi.builder(inputs.configuration().store(), inputs.engine())
            .hosts(hosts)
            .resets(!settings.value(Settings.NO_RESET))
            .observed(inputs.observed())
            .tickers(inputs.ticker(), Ticker.wall());
    List<Path> files = settings.value(Settings.RULES);
    if (!files.isEmpty()) {
      builder.ruleFiles(() -> RuleFileTexts.read(files));
    }
    inputs.dryRuns().ifPresent(runs -> builder.dryRuns(runs, inputs.configuration().policies()));
    return builder.build();
  }
}
