package dev.weir.server.cluster;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.Ticker;
import dev.weir.cluster.Cluster;
import dev.weir.cluster.ClusterStatus;
import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.ClusterStatus.MemberStatus;
import dev.weir.cluster.ClusterStore;
import dev.weir.cluster.SlotsStatus;
import dev.weir.internal.Choice;
import dev.weir.server.ClusterMembership;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.metrics.Families;
import dev.weir.shared.SharedStore;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.logging.Level;

/** A server as the member of a cluster. Safe for use by many threads. */
final class Membership implements ClusterMembership {
  private static final JsonFactory JSON = new JsonFactory();
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private final Cluster cluster;
  private final ClusterStore store;

  /**
   * Creates the membership of a cluster.
   *
   * @param cluster already formed
   * @param store of the cluster; closing it ends the membership
   */
  Membership(Cluster cluster, ClusterStore store) {
    this.cluster = cluster;
    this.store = store;
  }

  @Override
  public SharedStore store() {
    return store;
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

  @Override
  public void awaitCaughtUp() throws InterruptedException {
    CatchUpLimit.await(Ticker.system(), cluster::led, cluster::caughtUp);
  }

  @Override
  public void addMetrics(Families to) {
    ClusterFamilies.add(to, cluster.metrics());
  }

  private static String json(ClusterStatus status) {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = JSON.createGenerator(text)) {
      out.writeStartObject();
      out.writeStringField("cluster", status.cluster());
      out.writeStringField("health", Choice.name(status.health()));
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
