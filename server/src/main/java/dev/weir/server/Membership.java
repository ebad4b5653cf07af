package dev.weir.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.Ticker;
import dev.weir.cluster.Cluster;
import dev.weir.cluster.ClusterClient;
import dev.weir.cluster.ClusterMetrics;
import dev.weir.cluster.ClusterSettings;
import dev.weir.cluster.ClusterSettings.ClusterMember;
import dev.weir.cluster.ClusterSettings.TlsFiles;
import dev.weir.cluster.ClusterStatus;
import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.ClusterStatus.MemberStatus;
import dev.weir.cluster.ClusterStore;
import dev.weir.cluster.Resolver;
import dev.weir.cluster.SlotsStatus;
import dev.weir.server.door.FewLines;
import dev.weir.server.door.Logs;
import dev.weir.server.http.ClusterPages;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;
import dev.weir.server.settings.StartException;
import dev.weir.server.settings.StoreUri;
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
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/** This server as the member of a cluster. Safe for use by many threads. */
final class Membership implements ClusterPages {
  private static final JsonFactory JSON = new JsonFactory();
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private final Cluster cluster;

  private Membership(Cluster cluster) {
    this.cluster = cluster;
  }

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
    ClusterStore store = cluster.store(storeSettings(settings, lines, warnings));
    List<String> names =
        settings.value(Settings.CLUSTER).stream().map(ClusterMember::name).toList();
    return new SharedStore(
        store,
        store::metrics,
        store::problem,
        "the cluster of " + String.join(", ", names),
        "the cluster's",
        new Membership(cluster),
        new FewLines(ticker),
        warnings);
  }

  @Override
  public String status() {
    return json(cluster.status());
  }

  @Override
  public String change(byte[] body) throws IOException {
    return ClusterChanges.apply(cluster, body);
  }

  @Override
  public CompletionStage<byte[]> backup(byte[] question) {
    return cluster.backup(question);
  }

  /** Waits until this member has decided what the others have, or long enough. */
  void awaitCaughtUp() throws InterruptedException {
    CatchingUp.await(Ticker.system(), cluster::led, cluster::caughtUp);
  }

  /** Returns what this member has counted. */
  ClusterMetrics metrics() {
    return cluster.metrics();
  }

  /**
   * Has a cluster decide without being a member of it; waits until one of its members answers.
   *
   * @return the store, which ends the connections when it is closed
   * @throws StartException if a certificate cannot be used
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  static SharedStore ask(ServerSettings settings, StoreUri uri, Ticker ticker)
      throws StartException, InterruptedException {
    FewLines lines = new FewLines(ticker);
    Consumer<String> log = line -> lines.write(Level.INFO, line);
    ClusterClient client;
    try {
      client =
          ClusterClient.open(
              settings.clusterName(), uri.seeds(), Resolver.system(), tls(settings), ticker, log);
    } catch (IOException e) {
      throw new StartException(Settings.STORE.flag() + ": " + e.getMessage(), e);
    }
    try {
      client.join();
    } catch (InterruptedException e) {
      client.close();
      throw e;
    }
    SharedStore.Warnings warnings = new SharedStore.Warnings(new FewLines(ticker));
    ClusterStore store = client.store(storeSettings(settings, lines, warnings));
    return new SharedStore(
        store,
        store::metrics,
        store::problem,
        uri.toString(),
        "the cluster's",
        null,
        new FewLines(ticker),
        warnings);
  }

  private static StoreSettings storeSettings(
      ServerSettings settings, FewLines lines, SharedStore.Warnings warnings) {
    return new StoreSettings(
        "cluster",
        settings.value(Settings.STORE_TIMEOUT).toNanos(),
        new Clocks(Ticker.system(), Ticker.wall()),
        false,
        line -> lines.write(Level.INFO, "store: " + line),
        warnings,
        new Counters());
  }

  private static ClusterSettings clusterSettings(
      ServerSettings settings, ClusterMember self, Ticker ticker, Consumer<String> log) {
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
            .clocks(new Clocks(ticker, Ticker.wall()))
            .electionTimeout(settings.value(Settings.CLUSTER_ELECTION_TIMEOUT))
            .maxSkew(settings.value(Settings.CLUSTER_MAX_SKEW))
            .log(log);
    listen(settings).ifPresent(builder::listen);
    return builder.build();
  }

  /** Returns where the member listens, if that is not where the others reach it. */
  private static Optional<InetSocketAddress> listen(ServerSettings settings) {
    ClusterMember first = settings.value(Settings.CLUSTER).get(0);
    return settings
        .value(Settings.CLUSTER_LISTEN)
        .or(
            () ->
                first.standsForAll()
                    ? Optional.of(InetSocketAddress.createUnresolved("0.0.0.0", first.port()))
                    : Optional.empty());
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

  private static String json(ClusterStatus status) {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = JSON.createGenerator(text)) {
      out.writeStartObject();
      out.writeStringField("cluster", status.cluster());
      out.writeStringField("health", status.health().name().toLowerCase(Locale.ROOT));
      out.writeStringField("by", status.by());
      out.writeNumberField("epoch", status.epoch());
      out.writeNumberField("level", status.level());
      out.writeFieldName("level_waits_for");
      write(status.levelWaitsFor(), out);
      out.writeNumberField("groups", status.groups());
      out.writeArrayFieldStart("replicas");
      for (List<String> each : status.replicas()) {
        write(each, out);
      }
      out.writeEndArray();
      write(status.slots(), out);
      out.writeArrayFieldStart("members");
      for (MemberStatus member : status.members()) {
        out.writeStartObject();
        out.writeStringField("name", member.name());
        out.writeStringField("zone", member.zone());
        out.writeBooleanField("up", member.up());
        out.writeStringField("problem", member.problem());
        out.writeNumberField("level_most", member.levelMost());
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

  private static void write(SlotsStatus slots, JsonGenerator out) throws IOException {
    out.writeArrayFieldStart("slots");
    for (int each : slots.slots()) {
      out.writeNumber(each);
    }
    out.writeEndArray();
    out.writeNumberField("slots_to_move", slots.toMove());
    out.writeArrayFieldStart("moves");
    for (SlotsStatus.MoveStatus each : slots.moves()) {
      out.writeStartObject();
      out.writeNumberField("slot", each.slot());
      out.writeNumberField("from", each.from());
      out.writeNumberField("to", each.to());
      out.writeStringField("step", each.step());
      out.writeEndObject();
    }
    out.writeEndArray();
  }

  private static void write(List<String> names, JsonGenerator out) throws IOException {
    out.writeStartArray();
    for (String each : names) {
      out.writeString(each);
    }
    out.writeEndArray();
  }

  private static String instant(long nanos) {
    return Instant.ofEpochSecond(
            Math.floorDiv(nanos, NANOS_PER_SECOND), Math.floorMod(nanos, NANOS_PER_SECOND))
        .toString();
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
    out.writeStringField("time", instant(group.timeNanos()));
    out.writeStringField("calendar", instant(group.timeNanos() + group.offsetNanos()));
    out.writeBooleanField("clock_fault", group.clockFault());
    out.writeNumberField("compared_at", group.tick());
    out.writeStringField("sum", Long.toHexString(group.sum()));
    out.writeBooleanField("diverged", group.diverged());
    out.writeNumberField("refused_early", group.sieved());
    out.writeFieldName("voters");
    write(group.voterNames(), out);
    out.writeFieldName("listeners");
    write(group.listenerNames(), out);
    out.writeEndObject();
  }
}
