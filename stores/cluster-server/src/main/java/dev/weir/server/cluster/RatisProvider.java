package dev.weir.server.cluster;

import dev.weir.cluster.Cluster;
import dev.weir.cluster.ClusterClient;
import dev.weir.cluster.ClusterSettings;
import dev.weir.cluster.ClusterSettings.TlsFiles;
import dev.weir.server.ClusterBackups;
import dev.weir.server.ClusterMembership;
import dev.weir.server.ClusterProvider;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.settings.StoreUri;
import dev.weir.server.settings.StartException;
import dev.weir.shared.ClusterMember;
import dev.weir.shared.SharedStore;
import dev.weir.shared.StoreSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The provider of clusters whose logs Apache Ratis replicates. */
public final class RatisProvider implements ClusterProvider {
  /** Creates the provider; called by {@link java.util.ServiceLoader}. */
  public RatisProvider() {}

  @Override
  public ClusterMembership join(ServerSettings settings, StoreSettings store, Consumer<String> log)
      throws StartException, InterruptedException {
    Cluster cluster;
    try {
      cluster = Cluster.open(clusterSettings(settings, store, log));
    } catch (IOException e) {
      throw failure(settings, e);
    }
    try {
      cluster.form();
    } catch (InterruptedException e) {
      cluster.close();
      throw e;
    } catch (IOException e) {
      cluster.close();
      throw failure(settings, e);
    }
    return new Membership(cluster, cluster.store(store));
  }

  @Override
  public SharedStore connect(
      ServerSettings settings, StoreUri uri, StoreSettings store, Consumer<String> log)
      throws StartException, InterruptedException {
    ClusterClient client;
    try {
      client =
          ClusterClient.builder(settings.clusterName(), uri.seeds())
              .tls(tls(settings))
              .ticker(store.clocks().monotonic())
              .log(log)
              .open();
    } catch (IOException e) {
      throw new StartException(settings.source(Settings.STORE) + ": " + e.getMessage(), e);
    }
    try {
      client.join();
    } catch (InterruptedException e) {
      client.close();
      throw e;
    }
    return client.store(store);
  }

  @Override
  public ClusterBackups backups() {
    return new BackupFiles();
  }

  private static StartException failure(ServerSettings settings, IOException e) {
    String message = String.valueOf(e.getMessage());
    boolean folder = message.startsWith(settings.clusterFolder().orElseThrow() + ": ");
    String name =
        folder ? settings.folderSource(Settings.CLUSTER_DIR) : settings.source(Settings.CLUSTER);
    return new StartException(name + ": " + message, e);
  }

  private static ClusterSettings clusterSettings(
      ServerSettings settings, StoreSettings store, Consumer<String> log) {
    ClusterMember self = settings.clusterMember().orElseThrow();
    ClusterSettings.Builder builder =
        ClusterSettings.builder(self, settings.clusterFolder().orElseThrow())
            .members(settings.value(Settings.CLUSTER))
            .size(settings.value(Settings.CLUSTER_SIZE))
            .zone(settings.value(Settings.CLUSTER_ZONE).orElse(""))
            .tls(tls(settings))
            .groups(settings.value(Settings.CLUSTER_GROUPS))
            .replicas(settings.value(Settings.CLUSTER_REPLICAS))
            .levelMost(settings.value(Settings.CLUSTER_LEVEL_MAX))
            .maxKeys(settings.value(Settings.MAX_KEYS))
            .maxBytes(settings.value(Settings.MAX_MEMORY))
            .clocks(store.clocks())
            .electionTimeout(settings.value(Settings.CLUSTER_ELECTION_TIMEOUT))
            .maxSkew(settings.value(Settings.CLUSTER_MAX_SKEW))
            .log(log);
    settings.clusterListen().ifPresent(builder::listen);
    return builder.build();
  }

  private static @Nullable TlsFiles tls(ServerSettings settings) {
    Optional<Path> certificate = settings.value(Settings.CLUSTER_TLS_CERT);
    return certificate.isEmpty()
        ? null
        : new TlsFiles(
            certificate.get(),
            settings.value(Settings.CLUSTER_TLS_KEY).orElseThrow(),
            settings.value(Settings.CLUSTER_TLS_CA).orElseThrow());
  }
}
