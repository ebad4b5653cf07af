package dev.weir.server.internal.settings;

import java.util.List;

/** The checks of the settings of the configuration store and of administration. */
final class ConfigChecks {
  private static final String STORE =
      Settings.DATA_DIR.flag() + " or " + Settings.CONFIG_STORE.flag();

  private static final List<Setting<?>> OF_THE_STORE =
      List.of(
          Settings.CONFIG_STORE_PASSWORD_FILE,
          Settings.CONFIG_LAST_KNOWN,
          Settings.CONFIG_MAX_STALE,
          Settings.LIMITS_TIMEOUT,
          Settings.LIMITS_CACHE,
          Settings.NODE_NAME);

  private static final List<Setting<?>> OF_THE_PORT =
      List.of(
          Settings.ADMIN_HOST,
          Settings.ADMIN_HOSTS,
          Settings.NO_RESET,
          Settings.RECORD_TRAFFIC,
          Settings.RECORD_MEMORY,
          Settings.SHOW_KEYS,
          Settings.NO_HOT_KEYS);

  private final ServerSettings settings;
  private final List<String> problems;
  private final List<String> warnings;

  private ConfigChecks(ServerSettings settings, List<String> problems, List<String> warnings) {
    this.settings = settings;
    this.problems = problems;
    this.warnings = warnings;
  }

  static void check(ServerSettings settings, List<String> problems, List<String> warnings) {
    ConfigChecks checks = new ConfigChecks(settings, problems, warnings);
    checks.store();
    checks.port();
  }

  private void store() {
    settings.checkReadable(Settings.CONFIG_STORE_PASSWORD_FILE, problems);
    if (settings.configStore().isEmpty()) {
      idle(OF_THE_STORE, STORE);
      return;
    }
    if (settings.value(Settings.DATA_DIR).isPresent()) {
      if (settings.value(Settings.CONFIG_STORE).isPresent()) {
        problems.add(
            settings.source(Settings.DATA_DIR)
                + ": beside "
                + settings.source(Settings.CONFIG_STORE)
                + " (expected: one of them; with "
                + Settings.CONFIG_STORE.flag()
                + ", "
                + Settings.CONFIG_LAST_KNOWN.flag()
                + " names the file to start with)");
      }
      idle(List.of(Settings.CONFIG_STORE_PASSWORD_FILE), Settings.CONFIG_STORE.flag());
    }
    // Otherwise connections would be closed while they wait for a customer's limits.
    settings.checkShorter(Settings.LIMITS_TIMEOUT, Settings.REQUEST_TIMEOUT, problems);
    settings.checkShorter(Settings.LIMITS_TIMEOUT, Settings.IDLE_TIMEOUT, problems);
  }

  private void port() {
    if (settings.value(Settings.ADMIN_PORT).isEmpty()) {
      idle(OF_THE_PORT, Settings.ADMIN_PORT.flag());
      return;
    }
    int port = settings.value(Settings.ADMIN_PORT).get();
    if (settings.configStore().isEmpty()) {
      problems.add(
          settings.source(Settings.ADMIN_PORT)
              + ": "
              + port
              + " without a configuration store (expected: "
              + STORE
              + ", where rules, limits and tokens are kept)");
    }
    if (port != 0
        && (port == settings.value(Settings.PORT).orElse(0)
            || port == settings.value(Settings.GRPC_PORT).orElse(0)
            || port == settings.value(Settings.RESP_PORT).orElse(0))) {
      problems.add(
          settings.source(Settings.ADMIN_PORT) + ": " + port + " (expected: a port of its own)");
    }
    if (!settings.loopback(Settings.ADMIN_HOST) && settings.value(Settings.TLS_CERT).isEmpty()) {
      if (settings.value(Settings.INSECURE)) {
        warnings.add(
            settings.source(Settings.INSECURE)
                + ": tokens for administration cross the network in plain text, to "
                + settings.value(Settings.ADMIN_HOST));
      } else {
        problems.add(
            settings.source(Settings.ADMIN_HOST)
                + ": "
                + settings.value(Settings.ADMIN_HOST)
                + " can be reached from other machines (expected: --tls-cert, so that nobody reads"
                + " tokens on their way, or --insecure)");
      }
    }
  }

  private void idle(List<Setting<?>> without, String need) {
    for (Setting<?> setting : without) {
      if (settings.written(setting)) {
        warnings.add(settings.source(setting) + ": has no effect without " + need);
      }
    }
  }
}
