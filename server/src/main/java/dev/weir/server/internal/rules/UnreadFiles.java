package dev.weir.server.internal.rules;

import dev.weir.rules.RuleFiles;
import dev.weir.server.internal.log.LogEvent;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import java.nio.file.Files;
import java.util.List;
import java.util.logging.Level;

/**
 * The files that envoyproxy/ratelimit would read and Weir does not, in a folder that is named by
 * that service's variables.
 */
final class UnreadFiles {
  /** The most files that are named. */
  private static final int MAX_LOGGED = 50;

  private UnreadFiles() {}

  /** Logs them, if there are any. */
  static void log(ServerSettings settings) {
    if (!settings.source(Settings.RULES).equals("RUNTIME_ROOT")) {
      return;
    }
    List<String> unread =
        settings.value(Settings.RULES).stream()
            .flatMap(folder -> RuleFiles.unread(folder, MAX_LOGGED).stream())
            .map(path -> path + (Files.isDirectory(path) ? ": a folder" : ": another name"))
            .toList();
    if (!unread.isEmpty()) {
      LogEvent.of(
              Level.WARNING,
              "rules_unread",
              "rules: not read, though envoyproxy/ratelimit reads them (expected: *.yaml and *.yml in"
                  + " the folder itself)\n"
                  + String.join("\n", unread))
          .with("files", unread)
          .log();
    }
  }
}
