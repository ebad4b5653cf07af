package dev.weir.server;

import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.settings.StoreUri;
import dev.weir.server.settings.ServerOption;
import dev.weir.server.settings.SettingsException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The settings of a server. Each is taken from the first source that has it: the flags, the
 * environment, the settings file, the environment under envoyproxy/ratelimit's name, the default.
 * Immutable.
 */
public final class ServerOptions {
  private final ServerSettings settings;

  ServerOptions(ServerSettings settings) {
    this.settings = settings;
  }

  /**
   * Returns the settings of the given flags.
   *
   * @param flags by {@link ServerOption#name()}
   * @throws SettingsException if a setting is unknown or its value is not accepted
   */
  public static ServerOptions of(Map<String, String> flags) {
    return of(flags, Map.of());
  }

  /**
   * Returns the settings of flags, environment and the settings file that they may name.
   *
   * @param flags by {@link ServerOption#name()}
   * @param environment all variables; those that are not Weir's are ignored
   * @throws SettingsException if a setting is unknown or its value is not accepted; names all
   *     problems at once
   */
  public static ServerOptions of(Map<String, String> flags, Map<String, String> environment) {
    return new ServerOptions(ServerSettings.of(flags, environment));
  }

  /** Returns all settings that there are, in the order in which help shows them. */
  public static List<ServerOption> all() {
    return List.copyOf(Settings.all());
  }

  /** Returns a text without the parts that may be the password of a URI, for display. */
  public static String withoutPasswords(String text) {
    return StoreUri.hidden(text);
  }

  /**
   * Returns the address of the configuration store, or none. It may hold a password, if the user
   * has put one there.
   */
  public Optional<String> configStore() {
    return settings.configStore();
  }

  /** Returns whether limits are counted in a cluster, of which the server may be a member. */
  public boolean usesCluster() {
    return !settings.value(Settings.CLUSTER).isEmpty()
        || settings.value(Settings.STORE).filter(uri -> !uri.seeds().isEmpty()).isPresent();
  }

  ServerSettings settings() {
    return settings;
  }
}
