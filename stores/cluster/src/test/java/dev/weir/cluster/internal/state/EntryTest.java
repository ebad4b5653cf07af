package dev.weir.cluster.internal.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.Algorithm;
import dev.weir.Charges.Role;
import dev.weir.Fingerprint;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.LevelException;
import dev.weir.cluster.internal.state.Entries.Op;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Entries that are read as they were written; damaged ones are refused or valid. */
class EntryTest {
  private static final Fingerprint FINGERPRINT = Fingerprint.seeded(1, 2);

  @Test
  void randomOperations_areReadAsWritten() {
    int runs = 2_000;
    SplittableRandom random = Trials.random("entries round trip", runs);
    for (int i = 0; i < runs; i++) {
      List<Op> operations = Entries.random(random, random.nextInt(8));
      assertThat(Entries.read(Entries.entry(operations))).isEqualTo(operations);
    }
  }

  @Test
  void equalPolicies_areWrittenOnce() {
    ClusterPolicy policy =
        ClusterPolicy.of("rule", Policies.of(Algorithm.SLIDING_WINDOW_LOG, 3, Policies.SECOND));
    ClusterPolicy same =
        ClusterPolicy.of("rule", Policies.of(Algorithm.SLIDING_WINDOW_LOG, 3, Policies.SECOND));
    byte[] entry =
        Entries.entry(Entries.decideOne(policy, 1, 1, 1), Entries.decideOne(same, 2, 1, 1));
    assertThat(new OperationReader(entry).policies()).hasSize(1);
  }

  @Test
  void stampAndTick_areRead() {
    byte[] tick = Entry.tick(17, -3);
    Entry.stamp(tick, 0x0102030405060708L);
    ByteReader in = new ByteReader(tick, 0);
    assertThat(in.readLong()).isEqualTo(0x0102030405060708L);
    assertThat(in.readByte()).isEqualTo(Entry.TICK);
    assertThat(in.readNumber()).isEqualTo(17);
    assertThat(in.readLong()).isEqualTo(-3);
    assertThat(in.atEnd()).isTrue();
    assertThatIllegalArgumentException().isThrownBy(() -> new OperationReader(tick));
    assertThat(new OperationReader(Entry.probe()).next()).isFalse();
  }

  @Test
  void numbers_areReadAsWritten() {
    int runs = 10_000;
    SplittableRandom random = Trials.random("numbers round trip", runs);
    for (int i = 0; i < runs; i++) {
      long value = random.nextLong() >> random.nextInt(64);
      ByteWriter out = new ByteWriter().writeNumber(value).writeText("é" + value);
      ByteReader in = new ByteReader(out.toBytes(), 0);
      assertThat(in.readNumber()).isEqualTo(value);
      assertThat(in.readText()).isEqualTo("é" + value);
      assertThat(in.atEnd()).isTrue();
    }
  }

  @Test
  void reportThatWaits_isRefused() {
    ClusterPolicy policy =
        ClusterPolicy.of("rule", Policies.of(Algorithm.SLIDING_WINDOW_LOG, 3, Policies.SECOND));
    for (Role role : Role.values()) {
      byte[] entry = Entries.entry(Entries.queued(5, new Entries.Charge(policy, 1, 1, role)));
      assertThat(succeeds(() -> Entries.read(entry))).as("%s", role).isEqualTo(!role.isReport());
      take(entry);
    }
  }

  /** Every beginning of an entry, and every byte changed, with a cut at each of them. */
  @Tag("model")
  @Tag("sample")
  @Test
  void damagedEntries_areRefusedOrMakeSense() {
    int runs = Trials.runs(5, 30);
    SplittableRandom random = Trials.random("damaged entries", runs);
    for (int i = 0; i < runs; i++) {
      byte[] entry = Entries.entry(Entries.random(random, 1 + random.nextInt(5)));
      Entry.stamp(entry, random.nextLong(1L << 60));
      for (int length = 0; length < entry.length; length++) {
        take(Arrays.copyOf(entry, length));
      }
      for (int at = 0; at < entry.length; at++) {
        byte[] flipped = entry.clone();
        flipped[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        take(flipped);
        flipped[at] = (byte) random.nextInt();
        take(flipped);
      }
    }
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void noise_isRefusedOrMakesSense() {
    int runs = Trials.runs(2_000, 10_000);
    SplittableRandom random = Trials.random("noise", runs);
    for (int i = 0; i < runs; i++) {
      byte[] noise = new byte[random.nextInt(80)];
      random.nextBytes(noise);
      if (noise.length > Ledger.STAMP_BYTES) {
        noise[Ledger.STAMP_BYTES] = (byte) random.nextInt(3);
      }
      take(noise);
    }
  }

  /**
   * Reads an entry as any member may receive one, and applies it. Checks that two replicas have the
   * same result, even if it is invalid.
   */
  private static void take(byte[] entry) {
    boolean read = succeeds(() -> Entries.read(entry));
    Replica one = replica();
    Replica other = replica();
    byte[][] replies = new byte[2][];
    boolean applied = succeeds(() -> replies[0] = one.apply(1, entry.clone()));
    boolean again = succeeds(() -> replies[1] = other.apply(1, entry.clone()));
    assertThat(again).isEqualTo(applied);
    assertThat(replies[1]).isEqualTo(replies[0]);
    assertThat(other.store().keys()).isEqualTo(one.store().keys());
    if (!applied) {
      assertThat(one.store().keys()).as("keys of an entry that makes no sense").isZero();
    } else if (read) {
      ClusterReply reply = new ClusterReply(replies[0]);
      OperationReader each = new OperationReader(entry);
      while (each.next()) {
        reply.skip(each);
      }
      assertThat(reply.position()).isEqualTo(replies[0].length);
    }
    one.store().verify();
  }

  private static Replica replica() {
    return new Replica(FINGERPRINT, new ClusterTime(new FakeTicker()), Runnable::run, line -> {});
  }

  private static boolean succeeds(Runnable task) {
    try {
      task.run();
      return true;
    } catch (IllegalArgumentException | LevelException e) {
      return false;
    }
  }
}
