package dev.weir.server.cluster;

import dev.weir.Ticker;
import dev.weir.cluster.ClusterBackup;
import dev.weir.cluster.ClusterRestore;
import dev.weir.server.ClusterBackups;
import dev.weir.shared.ClusterMember;
import java.io.IOException;
import java.nio.file.Path;

/** Backups of clusters, in the format of {@link ClusterBackup}. */
final class BackupFiles implements ClusterBackups {
  @Override
  public Contents take(Path to, Source source, String version, Progress progress)
      throws IOException, InterruptedException {
    return contents(
        ClusterBackup.take(to, source::call, version, Ticker.system(), progress::received));
  }

  @Override
  public RestoredCluster restore(
      Path from, Path folder, ClusterMember self, String zone, boolean trust) throws IOException {
    ClusterBackup backup = ClusterBackup.open(from);
    String cluster = ClusterRestore.into(backup, folder, self, zone, trust, Ticker.system());
    return new RestoredCluster(cluster, contents(backup));
  }

  private static Contents contents(ClusterBackup backup) {
    return new Contents(
        backup.cluster(),
        backup.taken(),
        backup.groups().stream()
            .map(each -> new Group(each.group(), each.index(), each.time(), each.bytes()))
            .toList());
  }
}
