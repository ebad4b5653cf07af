package dev.weir.cluster;

import dev.weir.cluster.Ledger.Machine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/**
 * The one Raft server of a member, which all its groups share. Safe for use by many threads.
 *
 * <p>How is Ratis run, and why? Entries are appended in this process, never by its client, so that
 * a failure can be distinguished from one that is certain. Its retry cache would hold every reply
 * for a minute: it never matches here, and forgets after a second. Nothing reads by a leader's
 * lease, and nothing is acknowledged before a majority has it on disk. A member that was paused
 * steps down, and never closes by itself.
 */
final class RatisEngine implements AutoCloseable {
  /** Entries that may be on their way to a majority; more are refused. */
  static final int MOST_PENDING = 64;

  /** The first half of a group's id in Ratis: "weir". */
  private static final long GROUPS = 0x7765_6972_0000_0000L;

  private static final SizeInBytes MOST_PENDING_BYTES = SizeInBytes.valueOf("16MB");
  private static final SizeInBytes BUFFER = SizeInBytes.valueOf("1MB");
  private static final int SEGMENTS_IN_MEMORY = 2;

  /** Ratis wants a few bytes less than the buffer that they are written by. */
  private static final SizeInBytes MOST_APPENDED = SizeInBytes.valueOf((1 << 20) - 64);

  private static final TimeDuration NEVER = TimeDuration.valueOf(36_500, TimeUnit.DAYS);

  /** Held, because a logger that nobody holds forgets its level. */
  private static final Logger RATIS = Logger.getLogger("org.apache.ratis");

  /** It repeats what a request has failed by, with a stack trace, at each request. */
  private static final Logger RATIS_REQUESTS =
      Logger.getLogger("org.apache.ratis.server.impl.RaftServerImpl");

  private final PeerTransport transport;
  private final RatisSettings settings;
  private final RaftServer server;
  private final Map<RaftGroupId, RatisMachine> machines = new ConcurrentHashMap<>();
  private final Map<RaftGroupId, RatisLedger> ledgers = new ConcurrentHashMap<>();
  private final ExecutorService background;

  /**
   * Starts without any group.
   *
   * @param transport closed with this; its door and loops are not
   * @throws IOException if the folder cannot be used
   */
  RatisEngine(PeerTransport transport, RatisSettings settings) throws IOException {
    if (RATIS.getLevel() == null) {
      // It says what it does, and a peer that is down fills a log. The links say that once.
      RATIS.setLevel(Level.SEVERE);
      RATIS_REQUESTS.setLevel(Level.OFF);
    }
    this.transport = transport;
    this.settings = settings;
    background =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread thread = new Thread(task, "weir-snapshot");
              thread.setDaemon(true);
              return thread;
            });
    Files.createDirectories(settings.folder());
    RaftProperties properties = properties(settings);
    // A server starts the groups that it finds in its folder, whose machines are not known yet.
    RaftServerConfigKeys.setStorageDir(
        properties, List.of(settings.folder().resolve("none").toFile()));
    server =
        RaftServer.newBuilder()
            .setServerId(RaftPeerId.valueOf(transport.self().name()))
            .setStateMachineRegistry(this::machine)
            .setProperties(properties)
            .setParameters(PeerRpcType.parameters(transport))
            .build();
    RaftServerConfigKeys.setStorageDir(properties, List.of(settings.folder().toFile()));
    server.start();
  }

  private StateMachine machine(RaftGroupId group) {
    StateMachine machine = machines.get(group);
    if (machine == null) {
      throw new IllegalStateException("group " + group + " is not open");
    }
    return machine;
  }

  private static RaftProperties properties(RatisSettings settings) {
    RaftProperties p = new RaftProperties();
    RaftConfigKeys.Rpc.setType(p, new PeerRpcType());
    TimeDuration min = millis(settings.electionMin());
    TimeDuration max = millis(settings.electionMax());
    RaftServerConfigKeys.Rpc.setTimeoutMin(p, min);
    RaftServerConfigKeys.Rpc.setTimeoutMax(p, max);
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(p, min);
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(p, max);
    RaftServerConfigKeys.LeaderElection.setPreVote(p, true);
    RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(p, TimeDuration.ONE_SECOND);
    RaftServerConfigKeys.setCloseThreshold(p, NEVER);
    RaftServerConfigKeys.Read.setLeaderLeaseEnabled(p, false);
    RaftServerConfigKeys.RetryCache.setExpiryTime(p, TimeDuration.ONE_SECOND);
    RaftServerConfigKeys.Write.setElementLimit(p, MOST_PENDING);
    RaftServerConfigKeys.Write.setByteLimit(p, MOST_PENDING_BYTES);

    RaftServerConfigKeys.Log.setUseMemory(p, false);
    RaftServerConfigKeys.Log.setUnsafeFlushEnabled(p, false);
    RaftServerConfigKeys.Log.setAsyncFlushEnabled(p, false);
    // Each commit would add an entry of its own, so that a member knows more after a restart.
    RaftServerConfigKeys.Log.setLogMetadataEnabled(p, false);
    RaftServerConfigKeys.Log.setWriteBufferSize(p, BUFFER);
    RaftServerConfigKeys.Log.setPreallocatedSize(p, BUFFER);
    RaftServerConfigKeys.Log.setSegmentSizeMax(p, SizeInBytes.valueOf(settings.segmentBytes()));
    RaftServerConfigKeys.Log.setSegmentCacheNumMax(p, SEGMENTS_IN_MEMORY);
    RaftServerConfigKeys.Log.setPurgeGap(p, 1);
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(p, true);
    RaftServerConfigKeys.Log.Appender.setBufferByteLimit(p, MOST_APPENDED);
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(p, false);
    RaftServerConfigKeys.Snapshot.setRetentionFileNum(p, 2);
    return p;
  }

  private static TimeDuration millis(Duration duration) {
    return TimeDuration.valueOf(duration.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * Opens a group's log in this process. All that is in the machine's snapshot is restored when
   * this returns; the log after it is applied as soon as its entries are known to be committed.
   *
   * @param group 0 or more; open at most once
   * @param members all of the group, this one included: those that a new log starts with. What the
   *     log says later counts more.
   * @throws IOException if the folder cannot be used, or its log is damaged
   */
  synchronized Ledger open(int group, List<Member> members, Machine machine) throws IOException {
    RaftGroupId id = RaftGroupId.valueOf(new UUID(GROUPS, group + 1L));
    if (ledgers.containsKey(id)) {
      throw new IllegalStateException("group " + group + " is open");
    }
    members.forEach(transport::learn);
    List<RaftPeer> peers = new ArrayList<>();
    for (Member member : members) {
      peers.add(
          RaftPeer.newBuilder()
              .setId(member.name())
              .setAddress(member.host() + ":" + member.port())
              .build());
    }
    machines.put(
        id,
        new RatisMachine(
            machine, settings.snapshotBytes(), background, transport::log, () -> failed(id)));
    try {
      RaftClientReply added =
          server.groupManagement(
              GroupManagementRequest.newAdd(
                  ClientId.randomId(), server.getId(), 0, RaftGroup.valueOf(id, peers), false));
      if (!added.isSuccess()) {
        throw new IOException("group " + group + " cannot be opened", added.getException());
      }
    } catch (IOException | RuntimeException e) {
      machines.remove(id);
      throw deepest(e);
    }
    RatisLedger ledger = new RatisLedger(this, server, id, group);
    ledgers.put(id, ledger);
    return ledger;
  }

  /** Ratis wraps what the machine says about its files several times. */
  private static IOException deepest(Throwable problem) {
    Throwable cause = problem;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return new IOException(cause.getMessage(), problem);
  }

  /** A member whose disk fails must not lead: it closes its log, and the others go on. */
  private void failed(RaftGroupId group) {
    background.execute(
        () -> {
          try {
            server.getDivision(group).close();
          } catch (IOException e) {
            transport.log("group " + group + ": " + e);
          }
        });
  }

  void closing(RaftGroupId group) {
    RatisMachine machine = machines.get(group);
    if (machine != null) {
      machine.closing();
    }
  }

  void closed(RaftGroupId group) {
    ledgers.remove(group);
    machines.remove(group);
  }

  /** Returns the number of a group from its id in Ratis. */
  static long groupOf(ByteBuffer id) {
    return id.getLong(Long.BYTES) - 1;
  }

  @Override
  public synchronized void close() throws IOException {
    for (RatisLedger ledger : List.copyOf(ledgers.values())) {
      ledger.close();
    }
    server.close();
    transport.close();
    background.shutdownNow();
  }
}
