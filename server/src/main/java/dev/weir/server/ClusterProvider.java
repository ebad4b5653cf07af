package dev.weir.server;

import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.StoreUri;
import dev.weir.server.settings.StartException;
import dev.weir.shared.SharedStore;
import dev.weir.shared.StoreSettings;
import java.util.ServiceLoader;
import java.util.function.Consumer;

/**
 * The connection of a server to a cluster of Weir's own servers. {@link ServiceLoader} finds it
 * through the thread's context class loader; {@code weir-server-cluster} contains it.
 */
public interface ClusterProvider {
  /**
   * Returns the provider that is on the class path.
   *
   * @throws StartException if there is none
   */
  static ClusterProvider find() throws StartException {
    return ServiceLoader.load(ClusterProvider.class)
        .findFirst()
        .orElseThrow(
            () ->
                new StartException(
                    "weir-server-cluster: not on the class path (expected: this jar, and the jars"
                        + " that it needs)"));
  }

  /**
   * Joins the cluster that the settings name, as the member that they name, and waits until the
   * cluster is formed.
   *
   * @param store settings of the store that decides in the cluster
   * @param log receives messages for an operator, one line each
   * @throws StartException if the folder, the port or a certificate cannot be used, or the members
   *     do not agree
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  ClusterMembership join(ServerSettings settings, StoreSettings store, Consumer<String> log)
      throws StartException, InterruptedException;

  /**
   * Connects to a cluster without becoming its member, and waits until one of its members answers.
   *
   * @param uri some of the members
   * @param store settings of the store that decides in the cluster
   * @param log receives messages for an operator, one line each
   * @return the store, which closes the connections when it is closed
   * @throws StartException if a certificate cannot be used
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  SharedStore connect(
      ServerSettings settings, StoreUri uri, StoreSettings store, Consumer<String> log)
      throws StartException, InterruptedException;

  /** Returns the backups of clusters. */
  ClusterBackups backups();
}
