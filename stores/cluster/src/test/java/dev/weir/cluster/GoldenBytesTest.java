package dev.weir.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Charges.Role;
import dev.weir.Fingerprint;
import dev.weir.cluster.internal.map.Charter;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.Maps;
import dev.weir.cluster.internal.map.Placement;
import dev.weir.cluster.internal.map.Roster;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerHello;
import dev.weir.cluster.internal.state.ClusterPolicy;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.Entries;
import dev.weir.cluster.internal.state.Entries.Charge;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.GroupSlots;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.cluster.internal.state.SlotEntry;
import dev.weir.cluster.internal.state.SlotEntry.Verb;
import dev.weir.testkit.FakeTicker;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The formats of members of level 1, byte for byte: while some members are newer, members of that
 * level read what the newer ones write, and the reverse.
 *
 * <p>The files were written once, by {@code -Dweir.golden=src/test/resources/dev/weir/cluster}, and
 * must never be written again: a change that fails here belongs to a new level.
 */
class GoldenBytesTest {
  private static final String TEXTS = "level-1.txt";
  private static final String IMAGE = "level-1-image.gz";
  private static final long SECOND = Policies.SECOND;
  private static final UUID CLUSTER = new UUID(0x0123456789abcdefL, 0x1122334455667788L);
  private static final UUID BOOT = new UUID(5, 6);
  private static final long KEY = 0x00f0_1234_5678_9abcL;
  private static final long OTHER_KEY = 0x8ff0_1234_5678_9abcL;
  private static final int COMING_SLOT = 4_095;

  @TempDir private Path folder;

  private static Replica replica() {
    return new Replica(
            Fingerprint.seeded(1, 2),
            new GroupSlots(slot -> slot != COMING_SLOT),
            new ClusterTime(new FakeTicker()),
            Runnable::run,
            line -> {})
        .beginningWith(Maps.of(2, "a", "b", "c"));
  }

  /** Returns the messages between members, which are not applied. */
  private static Map<String, byte[]> messages() {
    Map<String, byte[]> all = new LinkedHashMap<>();
    Levels one = new Levels(1, 1);
    all.put("hello", new PeerHello(CLUSTER, "a", BOOT, "ask", true, one).encode());
    all.put("hello-guest", new PeerHello(CLUSTER, "edge", BOOT, "ask", false, one).encode());
    ByteWriter member = new ByteWriter();
    new Member("a", "a.internal", 7946, BOOT, "z1").write(member);
    all.put("member", member.toBytes());
    ByteWriter charter = new ByteWriter();
    new Charter(CLUSTER, Maps.of(2, "a", "b", "c").members(), 2, 3, 7, 8, true).write(charter);
    all.put("charter", charter.toBytes());
    all.put("map", Maps.of(2, "a", "b", "c").toBytes());
    return all;
  }

  /**
   * Returns the entries in the order in which they are applied, each a second after the one before.
   */
  private static Map<String, byte[]> entries() {
    ClusterPolicy log =
        ClusterPolicy.of("log", Policies.of(Algorithm.SLIDING_WINDOW_LOG, 10, 10 * SECOND));
    ClusterPolicy bucket =
        ClusterPolicy.of("bucket", Policies.of(Algorithm.TOKEN_BUCKET, 5, SECOND));
    ClusterPolicy fixed =
        ClusterPolicy.of("fixed", Policies.of(Algorithm.FIXED_WINDOW, 5, 60 * SECOND));
    ClusterMap map = Maps.of(2, "a", "b", "c");
    Map<String, byte[]> all = new LinkedHashMap<>();
    all.put(
        "decide-many",
        Entries.entry(
            Entries.decideMany(
                false,
                new Charge(log, KEY, 3, Role.REQUIRED),
                new Charge(bucket, KEY, 1, Role.OPTIONAL),
                new Charge(fixed, OTHER_KEY, 2, Role.ANY)),
            Entries.decideMany(true, new Charge(log, KEY, 9, Role.REQUIRED))));
    all.put("decide-one", Entries.entry(Entries.decideOne(log, KEY, 2, 5)));
    all.put(
        "queued", Entries.entry(Entries.queued(SECOND, new Charge(bucket, KEY, 5, Role.REQUIRED))));
    all.put("record", Entries.entry(Entries.record(fixed, OTHER_KEY, 9)));
    all.put("refund", Entries.entry(Entries.refund(log, KEY, 1, 2 * SECOND, 12 * SECOND)));
    all.put("reset", Entries.entry(Entries.reset(bucket, KEY)));
    all.put("probe", Entry.probe());
    all.put("tick", Entry.tick(0, 0));
    all.put("freeze", SlotEntry.of(Verb.FREEZE, Placement.slot(KEY), 2).toEntry());
    all.put("moved", Entries.entry(Entries.decideOne(log, KEY, 1, 1)));
    all.put("install", SlotEntry.install(COMING_SLOT, 2, new byte[] {1, 2, 3}, 0, 9).toEntry());
    all.put("activate", SlotEntry.activate(COMING_SLOT, 2, 77, SECOND).toEntry());
    all.put("map-entry", Entry.map(1, Roster.joined(map, Maps.member("d", "zone-d"))));
    int i = 0;
    for (byte[] each : all.values()) {
      Entry.stamp(each, ++i * SECOND);
    }
    return all;
  }

  /** Applies the entries; returns the replies. */
  private static Map<String, byte[]> applied(Replica replica, Map<String, byte[]> entries) {
    Map<String, byte[]> replies = new LinkedHashMap<>();
    entries.forEach(
        (name, entry) ->
            replies.put("reply-to-" + name, replica.apply(replies.size() + 1, entry.clone())));
    return replies;
  }

  private byte[] image(Replica replica, String name) throws Exception {
    Path file = folder.resolve(name);
    replica.image(file).toCompletableFuture().join();
    return Files.readAllBytes(file);
  }

  private static Map<String, byte[]> golden() throws Exception {
    Map<String, byte[]> all = new LinkedHashMap<>();
    try (InputStream in =
        Objects.requireNonNull(GoldenBytesTest.class.getResourceAsStream(TEXTS))) {
      for (String line : new String(in.readAllBytes(), UTF_8).lines().toList()) {
        String[] parts = line.split(" ", -1);
        all.put(parts[0], HexFormat.of().parseHex(parts[1]));
      }
    }
    return all;
  }

  private static byte[] goldenImage() throws Exception {
    try (InputStream in =
        new GZIPInputStream(
            Objects.requireNonNull(GoldenBytesTest.class.getResourceAsStream(IMAGE)))) {
      return in.readAllBytes();
    }
  }

  @Test
  void messagesEntriesAndReplies_areWrittenAsEver() throws Exception {
    Replica replica = replica();
    Map<String, byte[]> all = messages();
    all.putAll(entries());
    all.putAll(applied(replica, entries()));
    String target = System.getProperty("weir.golden");
    if (target != null) {
      write(Path.of(target), all, image(replica, "written"));
    }
    assertThat(all.keySet()).isEqualTo(golden().keySet());
    golden().forEach((name, bytes) -> assertThat(all.get(name)).as(name).isEqualTo(bytes));
  }

  private static void write(Path target, Map<String, byte[]> all, byte[] image) throws Exception {
    StringBuilder lines = new StringBuilder();
    all.forEach(
        (name, bytes) ->
            lines.append(name).append(' ').append(HexFormat.of().formatHex(bytes)).append('\n'));
    Files.writeString(target.resolve(TEXTS), lines);
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(target.resolve(IMAGE)))) {
      out.write(image);
    }
  }

  @Test
  void messages_areReadAsEver() throws Exception {
    Map<String, byte[]> golden = golden();
    for (String name : List.of("hello", "hello-guest")) {
      byte[] hello = Objects.requireNonNull(golden.get(name));
      assertThat(PeerHello.decode(hello).encode()).isEqualTo(hello);
      assertThat(PeerHello.decode(hello).cluster()).isEqualTo(CLUSTER);
      assertThat(PeerHello.decode(hello).levels()).isEqualTo(new Levels(1, 1));
    }
    byte[] map = Objects.requireNonNull(golden.get("map"));
    assertThat(ClusterMap.read(new ByteReader(map, 0))).isEqualTo(Maps.of(2, "a", "b", "c"));
    ByteReader charter = new ByteReader(Objects.requireNonNull(golden.get("charter")), 0);
    assertThat(Charter.read(charter))
        .isEqualTo(new Charter(CLUSTER, Maps.of(2, "a", "b", "c").members(), 2, 3, 7, 8, true));
    ByteReader member = new ByteReader(Objects.requireNonNull(golden.get("member")), 0);
    assertThat(Member.read(member)).isEqualTo(new Member("a", "a.internal", 7946, BOOT, "z1"));
  }

  @Test
  void image_isWrittenAndReadAsEver() throws Exception {
    byte[] golden = goldenImage();
    Replica replica = replica();
    applied(replica, entries());
    assertThat(image(replica, "applied")).isEqualTo(golden);
    Path file = Files.write(folder.resolve("golden"), golden);
    Replica restored = replica();
    restored.restore(file);
    assertThat(image(restored, "restored")).isEqualTo(golden);
  }
}
