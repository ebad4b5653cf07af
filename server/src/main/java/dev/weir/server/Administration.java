package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.admin.AdminHandler;
import dev.weir.config.ConfigStore;
import dev.weir.config.FollowerStatus;
import dev.weir.engine.Engine;
import dev.weir.server.settings.ServerSettings;
import java.util.function.Supplier;

/** Makes what answers requests for administration. */
interface Administration {
  /**
   * Returns the handler of a server.
   *
   * @param status how far the server has followed the store
   */
  AdminHandler handler(
      ConfigStore store,
      Engine engine,
      Supplier<FollowerStatus> status,
      ServerSettings settings,
      Ticker ticker);
}
