package dev.weir.cluster.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.util.SizeInBytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of one group without a log; {@link RatisRestartTest} has members with one. */
class RatisSnapshotsTest {
  private static final long TERM = 2;

  @TempDir Path folder;

  private RaftStorage raft;
  private RatisSnapshots snapshots;

  @BeforeEach
  void open() throws IOException {
    raft = raft(StartupOption.FORMAT);
    snapshots = snapshots(raft);
    assertThat(snapshots.start(new HashMachine())).isNull();
  }

  @AfterEach
  void close() throws IOException {
    raft.close();
  }

  private RaftStorage raft(StartupOption option) throws IOException {
    RaftStorage opened =
        RaftStorage.newBuilder()
            .setDirectory(folder.resolve("group").toFile())
            .setOption(option)
            .setStorageFreeSpaceMin(SizeInBytes.ZERO)
            .build();
    opened.initialize();
    return opened;
  }

  private static RatisSnapshots snapshots(RaftStorage raft) {
    return new RatisSnapshots(raft, new SimpleStateMachineStorage(), line -> {});
  }

  /** Publishes a snapshot whose last entry has an index; returns its file. */
  private Path publish(long index) throws Exception {
    Path image = snapshots.image();
    new HashMachine().image(image).toCompletableFuture().get();
    return snapshots.publish(image, RatisSnapshots.seal(image), TermIndex.valueOf(TERM, index));
  }

  @Test
  void log_isNeededFromTheSnapshotBeforeTheNewest() throws Exception {
    assertThat(snapshots.purgeable()).isEqualTo(-1);
    publish(10);
    assertThat(snapshots.purgeable()).as("one snapshot").isEqualTo(-1);
    publish(20);
    assertThat(snapshots.purgeable()).as("two").isEqualTo(10);
    publish(30);
    assertThat(snapshots.purgeable()).as("three").isEqualTo(20);
  }

  @Test
  void newestIsDamaged_theOneBeforeServes_andNothingAfterItWasPurged() throws Exception {
    publish(10);
    Path newest = publish(20);
    long purged = snapshots.purgeable();
    Files.write(newest, new byte[] {1});
    raft.close();
    raft = raft(StartupOption.RECOVER);
    assertThat(snapshots(raft).start(new HashMachine())).isEqualTo(TermIndex.valueOf(TERM, purged));
    assertThat(newest.resolveSibling(newest.getFileName() + ".bad")).exists();
  }
}
