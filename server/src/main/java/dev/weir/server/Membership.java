package dev.weir.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.Ticker;
import dev.weir.cluster.Cluster;
import dev.weir.cluster.ClusterSettings;
import dev.weir.cluster.ClusterSettings.ClusterMember;
import dev.weir.cluster.ClusterSettings.TlsFiles;
import dev.weir.cluster.ClusterStatus;
import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.ClusterStatus.MemberStatus;
import dev.weir.cluster.ClusterStore;
import dev.weir.server.door.FewLines;
import dev.weir.server.door.Logs;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;
import dev.weir.server.settings.StartException;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.StoreSettings;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/** Makes this server a member of a cluster. */
final class Membership {
  private static final JsonFactory JSON = new JsonFactory();
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private Membership() {}

  /**
   * Takes part in the cluster that the settings name; waits until it is formed.
   *
   * @return the store, which ends the membership when it is closed
   * @throws StartException if the folder, the port or a certificate cannot be used, or the members
   *     do not agree
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  static SharedStore open(ServerSettings settings, Ticker ticker)
      throws StartException, InterruptedException {
    ClusterMember self = settings.clusterMember().orElseThrow();
    FewLines lines = new FewLines(ticker);
    Consumer<String> log = line -> lines.write(Level.INFO, line);
    Cluster cluster;
    try {
      cluster = Cluster.open(clusterSettings(settings, self, ticker, log));
    } catch (IOException e) {
      throw new StartException(Settings.CLUSTER.flag() + ": " + e.getMessage(), e);
    }
    try {
      cluster.form();
    } catch (InterruptedException e) {
      cluster.close();
      throw e;
    } catch (IOException e) {
      cluster.close();
      throw new StartException(Settings.CLUSTER.flag() + ": " + e.getMessage(), e);
    }
    SharedStore.Warnings warnings = new SharedStore.Warnings(new FewLines(ticker));
    ClusterStore store =
        cluster.store(
            new StoreSettings(
                "cluster",
                settings.value(Settings.STORE_TIMEOUT).toNanos(),
                new Clocks(Ticker.system(), Ticker.wall()),
                false,
                line -> lines.write(Level.INFO, "store: " + line),
                warnings,
                new Counters()));
    List<String> names =
        settings.value(Settings.CLUSTER).stream().map(ClusterMember::name).toList();
    return new SharedStore(
        store,
        store::metrics,
        store::problem,
        "the cluster of " + String.join(", ", names),
        "the cluster's",
        () -> json(cluster.status()),
        new FewLines(ticker),
        warnings);
  }

  private static ClusterSettings clusterSettings(
      ServerSettings settings, ClusterMember self, Ticker ticker, Consumer<String> log) {
    InetSocketAddress listen =
        settings
            .value(Settings.CLUSTER_LISTEN)
            .orElseGet(() -> InetSocketAddress.createUnresolved(self.host(), self.port()));
    return new ClusterSettings(
        self.name(),
        settings.value(Settings.CLUSTER),
        new InetSocketAddress(listen.getHostString(), listen.getPort()),
        settings.clusterFolder().orElseThrow(),
        settings.value(Settings.CLUSTER_GROUPS),
        settings.value(Settings.CLUSTER_ELECTION_TIMEOUT),
        settings.value(Settings.MAX_KEYS),
        settings.value(Settings.MAX_MEMORY),
        tls(settings),
        ticker,
        log);
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

  /** Returns how a cluster is, as {@code GET /cluster} shows it. */
  private static String json(ClusterStatus status) {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = JSON.createGenerator(text)) {
      out.writeStartObject();
      out.writeStringField("cluster", status.cluster());
      out.writeStringField("health", status.health().name().toLowerCase(Locale.ROOT));
      out.writeStringField("by", status.by());
      out.writeNumberField("groups", status.groups());
      out.writeArrayFieldStart("members");
      for (MemberStatus member : status.members()) {
        out.writeStartObject();
        out.writeStringField("name", member.name());
        out.writeBooleanField("up", member.up());
        out.writeArrayFieldStart("groups");
        for (GroupStatus group : member.groups()) {
          write(group, out);
        }
        out.writeEndArray();
        out.writeEndObject();
      }
      out.writeEndArray();
      out.writeEndObject();
    } catch (IOException e) {
      Logs.LOG.log(Level.FINE, "cluster: status", e);
      throw new UncheckedIOException(e);
    }
    return text + "\n";
  }

  private static void write(GroupStatus group, JsonGenerator out) throws IOException {
    out.writeStartObject();
    out.writeNumberField("group", group.group());
    out.writeStringField("leader", group.leader());
    out.writeBooleanField("leads", group.leads());
    out.writeNumberField("term", group.term());
    out.writeNumberField("committed", group.committed());
    out.writeNumberField("applied", group.applied());
    out.writeNumberField("log_bytes", group.logBytes());
    out.writeNumberField("keys", group.keys());
    out.writeNumberField("state_bytes", group.bytes());
    out.writeStringField(
        "time",
        Instant.ofEpochSecond(
                Math.floorDiv(group.timeNanos(), NANOS_PER_SECOND),
                Math.floorMod(group.timeNanos(), NANOS_PER_SECOND))
            .toString());
    out.writeNumberField("compared_at", group.tick());
    out.writeStringField("sum", Long.toHexString(group.sum()));
    out.writeBooleanField("diverged", group.diverged());
    out.writeNumberField("refused_early", group.sieved());
    out.writeEndObject();
  }
}
