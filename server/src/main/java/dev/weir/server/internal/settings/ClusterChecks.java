package dev.weir.server.internal.settings;

import dev.weir.shared.ClusterMember;
import dev.weir.shared.Resolver;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** The checks of the settings of a cluster's member. */
final class ClusterChecks {
  private static final List<Setting<?>> OF_THE_CLUSTER =
      List.of(
          Settings.CLUSTER_SIZE,
          Settings.CLUSTER_NAME,
          Settings.CLUSTER_LISTEN,
          Settings.CLUSTER_ADVERTISE,
          Settings.CLUSTER_ZONE,
          Settings.CLUSTER_DIR,
          Settings.CLUSTER_GROUPS,
          Settings.CLUSTER_REPLICAS,
          Settings.CLUSTER_ELECTION_TIMEOUT,
          Settings.CLUSTER_LEVEL_MAX,
          Settings.CLUSTER_MAX_SKEW,
          Settings.CLUSTER_TLS_CERT,
          Settings.CLUSTER_TLS_KEY,
          Settings.CLUSTER_TLS_CA,
          Settings.CLUSTER_INSECURE);

  /** The settings that also matter to a server that is not a member. */
  private static final List<Setting<?>> OF_ASKING =
      List.of(
          Settings.CLUSTER_NAME,
          Settings.CLUSTER_TLS_CERT,
          Settings.CLUSTER_TLS_KEY,
          Settings.CLUSTER_TLS_CA,
          Settings.CLUSTER_INSECURE);

  private static final List<Setting<?>> OF_REDIS =
      List.of(
          Settings.STORE_PASSWORD_FILE,
          Settings.STORE_PREFIX,
          Settings.STORE_REPLICAS,
          Settings.STORE_AFTER_CRASH);

  private ClusterChecks() {}

  /** Checks a server that uses a cluster without being its member. */
  private static void checkAsking(
      ServerSettings settings, StoreUri store, List<String> problems, List<String> warnings) {
    boolean files = settings.value(Settings.CLUSTER_TLS_CERT).isPresent();
    if (store.clusterByTls() != files) {
      problems.add(
          settings.source(Settings.STORE)
              + ": "
              + store
              + (files ? " beside " : " without ")
              + Settings.CLUSTER_TLS_CERT.flag()
              + " (expected: weirs:// with the files for TLS, weir:// without)");
      return;
    }
    checkTls(settings, Settings.STORE, store.seeds(), problems, warnings);
    for (Setting<?> setting : OF_REDIS) {
      if (settings.written(setting)) {
        warnings.add(settings.source(setting) + ": has no effect with " + store);
      }
    }
  }

  static void check(ServerSettings settings, List<String> problems, List<String> warnings) {
    List<ClusterMember> members = settings.value(Settings.CLUSTER);
    StoreUri store = settings.value(Settings.STORE).orElse(null);
    boolean asks = false;
    if (members.isEmpty() && store != null && !store.seeds().isEmpty()) {
      asks = true;
      checkAsking(settings, store, problems, warnings);
    }
    if (members.isEmpty()) {
      for (Setting<?> setting : OF_THE_CLUSTER) {
        if (settings.written(setting) && !(asks && OF_ASKING.contains(setting))) {
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
    settings
        .clusterFolder()
        .filter(folder -> folder.toString().contains(","))
        .ifPresent(
            folder ->
                problems.add(
                    settings.source(Settings.CLUSTER_DIR)
                        + ": "
                        + folder
                        + " (expected: a path without a comma)"));
    boolean byDns = members.get(0).standsForAll();
    if (byDns && settings.value(Settings.CLUSTER_SIZE) == 0) {
      problems.add(
          settings.source(Settings.CLUSTER)
              + ": "
              + members.get(0).name()
              + " (expected: "
              + Settings.CLUSTER_SIZE.flag()
              + " too, the number of members that form the cluster)");
    } else if (!byDns && settings.written(Settings.CLUSTER_SIZE)) {
      warnings.add(
          settings.source(Settings.CLUSTER_SIZE)
              + ": has no effect where "
              + Settings.CLUSTER.flag()
              + " names the members");
    }
    if (self(settings).isEmpty()) {
      problems.add(
          settings.written(Settings.CLUSTER_NAME)
              ? settings.source(Settings.CLUSTER_NAME)
                  + ": "
                  + settings.value(Settings.CLUSTER_NAME).orElse("")
                  + " (expected: one of "
                  + names(members)
                  + ", or "
                  + Settings.CLUSTER_ADVERTISE.flag()
                  + " too)"
              : settings.source(Settings.CLUSTER)
                  + ": none of "
                  + names(members)
                  + " is this machine's name (expected: "
                  + Settings.CLUSTER_NAME.flag()
                  + " with one of them)");
    }
    checkTls(settings, Settings.CLUSTER, members, problems, warnings);
  }

  private static String names(List<ClusterMember> members) {
    return String.join(", ", members.stream().map(ClusterMember::name).toList());
  }

  private static void checkTls(
      ServerSettings settings,
      Setting<?> by,
      List<ClusterMember> members,
      List<String> problems,
      List<String> warnings) {
    List<Setting<Optional<Path>>> files =
        List.of(Settings.CLUSTER_TLS_CERT, Settings.CLUSTER_TLS_KEY, Settings.CLUSTER_TLS_CA);
    long given = files.stream().filter(each -> settings.value(each).isPresent()).count();
    files.forEach(each -> settings.checkReadable(each, problems));
    if (given > 0 && given < files.size()) {
      problems.add(
          settings.source(by)
              + ": "
              + given
              + " of the files for TLS (expected: "
              + String.join(", ", files.stream().map(Setting::flag).toList())
              + ", or none)");
    }
    if (given == 0
        && !Stream.concat(members.stream(), self(settings).stream())
            .allMatch(ClusterChecks::loopback)) {
      if (settings.value(Settings.CLUSTER_INSECURE)) {
        warnings.add(
            settings.source(Settings.CLUSTER_INSECURE)
                + ": whoever reaches a member's port can change every count");
      } else {
        problems.add(
            settings.source(by)
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

  /** Returns the cluster member that this server is. */
  static Optional<ClusterMember> self(ServerSettings settings) {
    List<ClusterMember> members = settings.value(Settings.CLUSTER);
    String name = settings.value(Settings.CLUSTER_NAME).orElseGet(ClusterChecks::hostName);
    if (!members.isEmpty() && members.get(0).standsForAll()) {
      return newcomer(settings)
          .or(
              () ->
                  name.isEmpty() ? Optional.empty() : Optional.of(memberOf(members.get(0), name)));
    }
    return members.stream()
        .filter(each -> each.name().equals(name) || each.host().equals(name))
        .filter(each -> each.name().equals(name) || !settings.written(Settings.CLUSTER_NAME))
        .findFirst()
        .or(() -> newcomer(settings))
        .or(() -> members.size() == 1 ? Optional.of(members.get(0)) : Optional.empty());
  }

  /** Returns a member that joins a cluster whose seeds do not name it. */
  private static Optional<ClusterMember> newcomer(ServerSettings settings) {
    String name = settings.value(Settings.CLUSTER_NAME).orElseGet(ClusterChecks::hostName);
    return name.isEmpty()
        ? Optional.empty()
        : settings
            .value(Settings.CLUSTER_ADVERTISE)
            .map(each -> new ClusterMember(name, each.getHostString(), each.getPort()));
  }

  /** Returns a member behind a name of the DNS that does not have an address of its own. */
  private static ClusterMember memberOf(ClusterMember all, String name) {
    boolean kubernetes = System.getenv("KUBERNETES_SERVICE_HOST") != null;
    // A pod of a StatefulSet has this name for as long as it exists, and its address until it ends.
    String host = kubernetes ? hostName() + "." + all.host() : hostAddress();
    return new ClusterMember(name, host, all.port());
  }

  private static String hostAddress() {
    Resolver unused = Resolver.system(); // To be set before the first DNS query.
    try {
      return InetAddress.getLocalHost().getHostAddress();
    } catch (UnknownHostException e) {
      return InetAddress.getLoopbackAddress().getHostAddress();
    }
  }

  static String hostName() {
    Resolver unused = Resolver.system(); // To be set before the first DNS query.
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "";
    }
  }
}
