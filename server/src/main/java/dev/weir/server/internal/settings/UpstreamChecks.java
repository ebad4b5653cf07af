package dev.weir.server.internal.settings;

import dev.weir.FailureMode;
import java.util.List;
import java.util.Optional;

/** The checks of the settings of a server that calls another one. */
final class UpstreamChecks {
  /**
   * The settings that must not be given: the limits, and all that decides them, are the other
   * server's.
   */
  private static final List<Setting<?>> OF_THE_OTHER =
      List.of(
          Settings.RULES,
          Settings.DATA_DIR,
          Settings.CONFIG_STORE,
          Settings.ADMIN_PORT,
          Settings.STORE,
          Settings.THROTTLE_STORE,
          Settings.SHADOW_MODE,
          Settings.LOCAL_SHARE,
          Settings.LOAD_SIGNAL,
          Settings.MAX_LEASES,
          Settings.HOLD_KEY_FILE,
          Settings.HOLD_LIFE);

  private static final List<Setting<?>> OF_THE_UPSTREAM =
      List.of(Settings.UPSTREAM_TOKEN_FILE, Settings.UPSTREAM_TLS_CA, Settings.UPSTREAM_TIMEOUT);

  private UpstreamChecks() {}

  static void check(ServerSettings settings, List<String> problems, List<String> warnings) {
    settings.checkReadable(Settings.UPSTREAM_TOKEN_FILE, problems);
    settings.checkReadable(Settings.UPSTREAM_TLS_CA, problems);
    Optional<UpstreamUri> upstream = settings.value(Settings.UPSTREAM);
    if (upstream.isEmpty()) {
      for (Setting<?> setting : OF_THE_UPSTREAM) {
        if (settings.written(setting)) {
          warnings.add(
              settings.source(setting) + ": has no effect without " + Settings.UPSTREAM.flag());
        }
      }
      return;
    }
    String beside = ": beside " + settings.source(Settings.UPSTREAM);
    for (Setting<?> setting : OF_THE_OTHER) {
      if (settings.written(setting)) {
        problems.add(
            settings.source(setting)
                + beside
                + " (expected: one of them; with "
                + Settings.UPSTREAM.flag()
                + ", "
                + setting.flag()
                + " is the other server's)");
      }
    }
    if (settings.value(Settings.ON_FAILURE) == FailureMode.LOCAL) {
      problems.add(
          settings.source(Settings.ON_FAILURE) + ": local" + beside + " (expected: deny or allow)");
    }
    if (!upstream.get().tls() && settings.value(Settings.UPSTREAM_TLS_CA).isPresent()) {
      problems.add(
          settings.source(Settings.UPSTREAM_TLS_CA)
              + ": with a connection that is not secured (expected: "
              + Settings.UPSTREAM.flag()
              + " weirs://...)");
    }
    settings.checkShorter(Settings.UPSTREAM_TIMEOUT, Settings.REQUEST_TIMEOUT, problems);
    settings.checkShorter(Settings.UPSTREAM_TIMEOUT, Settings.IDLE_TIMEOUT, problems);
  }
}
