package dev.weir.server.internal.settings;

import dev.weir.FailureMode;
import java.util.List;
import java.util.Optional;

/** The checks of the settings of a shared store, and of its failure. */
final class StoreChecks {
  private static final List<Setting<?>> OF_THE_STORE =
      List.of(
          Settings.STORE_PASSWORD_FILE,
          Settings.STORE_PREFIX,
          Settings.STORE_TIMEOUT,
          Settings.STORE_REPLICAS,
          Settings.STORE_AFTER_CRASH);

  private StoreChecks() {}

  static void check(ServerSettings settings, List<String> problems, List<String> warnings) {
    checkStore(settings, problems, warnings);
    checkOnFailure(settings, problems, warnings);
  }

  private static void checkStore(
      ServerSettings settings, List<String> problems, List<String> warnings) {
    settings.checkReadable(Settings.STORE_PASSWORD_FILE, problems);
    Optional<StoreUri> store = settings.value(Settings.STORE);
    if (!settings.shares()) {
      for (Setting<?> setting : OF_THE_STORE) {
        if (settings.written(setting)) {
          warnings.add(
              settings.source(setting) + ": has no effect without " + Settings.STORE.flag());
        }
      }
      if (settings.sharesThrottle(false)) {
        problems.add(
            settings.source(Settings.THROTTLE_STORE)
                + ": shared (expected: local, or "
                + Settings.STORE.flag()
                + " too)");
      }
      return;
    }
    if (settings.sharesThrottle(true) && settings.written(Settings.THROTTLE_MAX_KEYS)) {
      warnings.add(
          settings.source(Settings.THROTTLE_MAX_KEYS)
              + ": of no effect without "
              + Settings.THROTTLE_STORE.flag()
              + " local");
    }
    int replicas = settings.value(Settings.STORE_REPLICAS);
    try {
      store.filter(uri -> uri.seeds().isEmpty()).ifPresent(uri -> uri.builder().replicas(replicas));
    } catch (IllegalArgumentException e) {
      problems.add(
          settings.source(Settings.STORE_REPLICAS)
              + ": "
              + replicas
              + " (expected: 0 for a cluster)");
    }
    // Otherwise connections would be closed while they wait for the store.
    settings.checkShorter(Settings.STORE_TIMEOUT, Settings.REQUEST_TIMEOUT, problems);
    settings.checkShorter(Settings.STORE_TIMEOUT, Settings.IDLE_TIMEOUT, problems);
  }

  private static void checkOnFailure(
      ServerSettings settings, List<String> problems, List<String> warnings) {
    boolean local = settings.value(Settings.ON_FAILURE) == FailureMode.LOCAL;
    boolean share = settings.value(Settings.LOCAL_SHARE).isPresent();
    if (local && !share) {
      problems.add(
          settings.source(Settings.ON_FAILURE)
              + ": local (expected: "
              + Settings.LOCAL_SHARE.flag()
              + " too, "
              + Settings.LOCAL_SHARE.expected()
              + ")");
    } else if (local && !settings.shares()) {
      warnings.add(
          settings.source(Settings.ON_FAILURE)
              + ": local means deny without "
              + Settings.STORE.flag());
    } else if (share && !local) {
      warnings.add(
          settings.source(Settings.LOCAL_SHARE)
              + ": has no effect without "
              + Settings.ON_FAILURE.flag()
              + " local");
    }
  }
}
