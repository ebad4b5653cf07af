package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.admin.AdminApi;
import dev.weir.admin.AdminHandler;
import dev.weir.config.ConfigStore;
import dev.weir.engine.Engine;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Makes what answers requests for administration. */
interface Administration {
  /** Returns the handler of a server. */
  AdminHandler handler(ConfigStore store, Engine engine, ServerSettings settings, Ticker ticker);

  /** Returns Weir's own. */
  static AdminHandler api(
      ConfigStore store, Engine engine, ServerSettings settings, Ticker ticker) {
    List<String> hosts = new ArrayList<>(settings.value(Settings.ADMIN_HOSTS));
    hosts.add(settings.value(Settings.ADMIN_HOST));
    AdminApi.Builder builder =
        AdminApi.builder(store, engine)
            .hosts(hosts)
            .resets(!settings.value(Settings.NO_RESET))
            .tickers(ticker, Ticker.wall());
    List<Path> files = settings.value(Settings.RULES);
    if (!files.isEmpty()) {
      builder.ruleFiles(() -> RuleFileTexts.read(files));
    }
    return builder.build();
  }
}
