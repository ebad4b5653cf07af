package dev.weir.cluster.internal.state;

import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.LevelException;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.state.KnownPolicies.Use;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The head of an image of a {@link Replica}, before its keys.
 *
 * @param level at which it is written
 * @param nowNanos the group's time
 * @param sum of all decisions
 * @param tick the last one
 * @param map null in all groups but group 0
 * @param latestChargeNanos the latest instant for which permits were ever charged
 */
public record ReplicaHead(
    int level,
    long nowNanos,
    long sum,
    Replica.Tick tick,
    @Nullable ClusterMap map,
    long latestChargeNanos,
    GroupSlots slots,
    List<Use> policies) {
  private static final int MAGIC = 0x57454948; // WEIH: an image of level 1

  private static final int MAGIC_WITH_LEVEL = 0x5745494c; // WEIL: its level is the next number

  /** Writes the head; the keys follow it. */
  void write(DataOutputStream out) throws IOException {
    if (level == Levels.FIRST) {
      out.writeInt(MAGIC);
    } else {
      out.writeInt(MAGIC_WITH_LEVEL);
      out.writeInt(level);
    }
    out.writeLong(nowNanos);
    out.writeLong(sum);
    out.writeLong(tick.index());
    out.writeLong(tick.sum());
    byte[] written = map == null ? new byte[0] : map.toBytes();
    out.writeInt(written.length);
    out.write(written);
    out.writeLong(latestChargeNanos);
    slots.write(out);
    out.writeInt(policies.size());
    for (Use each : policies) {
      out.writeInt(each.policy().bytes().length);
      out.write(each.policy().bytes());
      out.writeLong(each.lastNanos());
    }
  }

  /**
   * Reads a head; the keys follow it.
   *
   * @throws IOException if it is none, or damaged
   * @throws LevelException if its level is not one of {@code able}
   */
  public static ReplicaHead read(DataInputStream in, Levels able) throws IOException {
    int magic = in.readInt();
    if (magic != MAGIC && magic != MAGIC_WITH_LEVEL) {
      throw new IOException("no image of a group (expected: one, which begins with WEI)");
    }
    int level = magic == MAGIC ? Levels.FIRST : in.readInt();
    able.check(level, "image of a group");
    try {
      long now = in.readLong();
      long sum = in.readLong();
      Replica.Tick tick = new Replica.Tick(in.readLong(), in.readLong());
      byte[] mapped = in.readNBytes(in.readInt());
      ClusterMap map = mapped.length == 0 ? null : ClusterMap.read(new ByteReader(mapped, 0));
      long latest = in.readLong();
      GroupSlots slots = GroupSlots.read(in);
      int count = in.readInt();
      List<Use> policies = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        ClusterPolicy policy = ClusterPolicy.read(in.readNBytes(in.readInt()));
        policies.add(new Use(policy, in.readLong()));
      }
      return new ReplicaHead(level, now, sum, tick, map, latest, slots, policies);
    } catch (RuntimeException e) { // Thrown for numbers that no group can have.
      throw new IOException("damaged: " + e.getMessage(), e);
    }
  }
}
