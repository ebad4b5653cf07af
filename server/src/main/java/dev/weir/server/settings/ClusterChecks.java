package dev.weir.server.settings;

import dev.weir.cluster.ClusterSettings.ClusterMember;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What the settings of a cluster's member demand of each other. */
final class ClusterChecks {
  private static final List<Setting<?>> OF_THE_CLUSTER =
      List.of(
          Settings.CLUSTER_NAME,
          Settings.CLUSTER_LISTEN,
          Settings.CLUSTER_DIR,
          Settings.CLUSTER_GROUPS,
          Settings.CLUSTER_ELECTION_TIMEOUT,
          Settings.CLUSTER_TLS_CERT,
          Settings.CLUSTER_TLS_KEY,
          Settings.CLUSTER_TLS_CA,
          Settings.CLUSTER_INSECURE);

  private ClusterChecks() {}

  static void check(ServerSettings settings, List<String> problems, List<String> warnings) {
    List<ClusterMember> members = settings.value(Settings.CLUSTER);
    if (members.isEmpty()) {
      for (Setting<?> setting : OF_THE_CLUSTER) {
        if (settings.written(setting)) {
          warnings.add(
              settings.source(setting) + ": has no effect without " + Settings.CLUSTER.flag());
        }
      }
      return;
    }
    for (Setting<?> other : List.of(Settings.STORE, Settings.UPSTREAM)) {
      if (settings.written(other)) {
        problems.add(
            settings.source(other)
                + ": beside "
                + settings.source(Settings.CLUSTER)
                + " (expected: one of them)");
      }
    }
    if (settings.clusterFolder().isEmpty()) {
      problems.add(
          settings.source(Settings.CLUSTER)
              + ": without a folder (expected: "
              + Settings.CLUSTER_DIR.flag()
              + " too)");
    }
    if (self(settings).isEmpty()) {
      problems.add(
          settings.written(Settings.CLUSTER_NAME)
              ? settings.source(Settings.CLUSTER_NAME)
                  + ": "
                  + settings.value(Settings.CLUSTER_NAME).orElse("")
                  + " (expected: one of "
                  + names(members)
                  + ")"
              : settings.source(Settings.CLUSTER)
                  + ": none of "
                  + names(members)
                  + " is this machine's name (expected: "
                  + Settings.CLUSTER_NAME.flag()
                  + " with one of them)");
    }
    checkTls(settings, members, problems, warnings);
  }

  private static String names(List<ClusterMember> members) {
    return String.join(", ", members.stream().map(ClusterMember::name).toList());
  }

  private static void checkTls(
      ServerSettings settings,
      List<ClusterMember> members,
      List<String> problems,
      List<String> warnings) {
    List<Setting<Optional<Path>>> files =
        List.of(Settings.CLUSTER_TLS_CERT, Settings.CLUSTER_TLS_KEY, Settings.CLUSTER_TLS_CA);
    long given = files.stream().filter(each -> settings.value(each).isPresent()).count();
    files.forEach(each -> settings.checkReadable(each, problems));
    if (given > 0 && given < files.size()) {
      problems.add(
          settings.source(Settings.CLUSTER)
              + ": "
              + given
              + " of the files for TLS (expected: "
              + String.join(", ", files.stream().map(Setting::flag).toList())
              + ", or none)");
    }
    if (given == 0 && !members.stream().allMatch(ClusterChecks::loopback)) {
      if (settings.value(Settings.CLUSTER_INSECURE)) {
        warnings.add(
            settings.source(Settings.CLUSTER_INSECURE)
                + ": whoever reaches a member's port can change every count");
      } else {
        problems.add(
            settings.source(Settings.CLUSTER)
                + ": members on other machines (expected: "
                + Settings.CLUSTER_TLS_CERT.flag()
                + " with its key and CA, or "
                + Settings.CLUSTER_INSECURE.flag()
                + ")");
      }
    }
  }

  private static boolean loopback(ClusterMember member) {
    String host = member.host().toLowerCase(Locale.ROOT);
    return host.equals("localhost") || host.equals("[::1]") || host.matches("127(\\.\\d{1,3}){3}");
  }

  /** Returns which of the members this server is. */
  static Optional<ClusterMember> self(ServerSettings settings) {
    List<ClusterMember> members = settings.value(Settings.CLUSTER);
    String name = settings.value(Settings.CLUSTER_NAME).orElseGet(ClusterChecks::hostName);
    return members.stream()
        .filter(each -> each.name().equals(name) || each.host().equals(name))
        .filter(each -> each.name().equals(name) || !settings.written(Settings.CLUSTER_NAME))
        .findFirst()
        .or(() -> members.size() == 1 ? Optional.of(members.get(0)) : Optional.empty());
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "";
    }
  }
}
