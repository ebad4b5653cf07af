package dev.weir.cluster.internal.log;

import dev.weir.Ticker;
import dev.weir.cluster.internal.log.Ledger.Machine;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.CheckedFile;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerSelf;
import dev.weir.cluster.internal.peer.PeerTransport;
import dev.weir.internal.DaemonThreads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
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
import org.jspecify.annotations.Nullable;

/**
 * The one Raft server of a member, which all its groups share. Safe for use by many threads.
 *
 * <p>How is Ratis run, and why? Entries are appended in this process, never by Ratis's client, so
 * that a certain failure can be distinguished from an uncertain one. Its retry cache would hold
 * every reply for a minute: it never matches here, and drops them after a second. No read relies on
 * a leader's lease, and an entry is acknowledged only after a majority has it on disk. A member
 * that was paused steps down, and never closes by itself.
 */
public final class RatisEngine implements AutoCloseable {
  /** The most entries on their way to a majority; more are refused. */
  static final int MOST_PENDING = 64;

  /** The first half of a group's id in Ratis: "weir". */
  private static final long GROUPS = 0x7765_6972_0000_0000L;

  /** The prefix of the folders of groups: the first half of their ids. */
  private static final String GROUP_FOLDERS = new UUID(GROUPS, 0).toString().substring(0, 18);

  private static final SizeInBytes MOST_PENDING_BYTES = SizeInBytes.valueOf("16MB");
  private static final SizeInBytes BUFFER = SizeInBytes.valueOf("1MB");

  /**
   * The size of a log's closed files that are kept in memory. In bytes and not in files, since each
   * election closes a file.
   */
  private static final SizeInBytes MOST_IN_MEMORY = SizeInBytes.valueOf("64MB");

  private static final int SEGMENTS_IN_MEMORY = 1 << 16;

  /** The most bytes of an append; Ratis needs a few bytes less than the buffer of its writer. */
  private static final SizeInBytes MOST_APPENDED = SizeInBytes.valueOf((1 << 20) - 64);

  /**
   * The pauses before a leader sends again what a member did not receive: short, since a new leader
   * waits for a majority, and a connection that is still being made takes a few milliseconds.
   */
  private static final String RETRIES = "10ms,20, 100ms,20, 500ms,1000";

  private static final long COMPARE_PAUSE_MILLIS = 20;
  private static final Ticker CLOCK = Ticker.system();

  private static final TimeDuration NEVER = TimeDuration.valueOf(36_500, TimeUnit.DAYS);

  /** Kept, because a logger without a reference loses its level. */
  private static final Logger RATIS = Logger.getLogger("org.apache.ratis");

  /** A logger that repeats the failure of each request, with a stack trace. */
  private static final Logger RATIS_REQUESTS =
      Logger.getLogger("org.apache.ratis.server.impl.RaftServerImpl");

  private final PeerTransport transport;
  private final RatisSettings settings;
  private final RaftServer server;
  private final GroupMarks marks;
  private final OlderFolder older;

  /** The groups in the folder that this process has not opened yet. */
  private final Set<Integer> keptAtStart;

  private final Map<RaftGroupId, RatisMachine> machines = new ConcurrentHashMap<>();
  private final Map<RaftGroupId, RatisLedger> ledgers = new ConcurrentHashMap<>();
  private final ExecutorService background;

  /**
   * Starts a server without any group.
   *
   * @param transport closed with this; its port and loops are not
   * @throws IOException if the folder cannot be used
   */
  public RatisEngine(PeerTransport transport, RatisSettings settings) throws IOException {
    quiet();
    this.transport = transport;
    this.settings = settings;
    background = Executors.newSingleThreadExecutor(DaemonThreads.named("weir-snapshot"));
    Files.createDirectories(settings.folder());
    marks = new GroupMarks(settings.folder().resolveSibling(marksOf(settings.folder())));
    keptAtStart = kept(settings.folder());
    older =
        new OlderFolder(
            id(transport.self()).toString(),
            "(expected: the folder as this member left it; or empty "
                + settings.folder().toAbsolutePath().getParent()
                + " and have the member join as a new one)",
            this::request,
            transport::log);
    RaftProperties properties = properties(settings);
    // A server would start the groups in its folder at once, before their machines exist.
    RaftServerConfigKeys.setStorageDir(
        properties, List.of(settings.folder().resolve("none").toFile()));
    server =
        RaftServer.newBuilder()
            .setServerId(id(transport.self()))
            .setStateMachineRegistry(this::machine)
            .setProperties(properties)
            .setParameters(PeerRpcType.parameters(transport, older))
            .build();
    RaftServerConfigKeys.setStorageDir(properties, List.of(settings.folder().toFile()));
    server.start();
  }

  private static String marksOf(Path groups) {
    return groups.getFileName() + ".properties";
  }

  /** Limits Ratis's messages to errors, unless the operator has set its level. */
  static void quiet() {
    if (RATIS.getLevel() == null) {
      // It logs its normal work, and an unreachable peer fills a log. The links log that once.
      RATIS.setLevel(Level.SEVERE);
      RATIS_REQUESTS.setLevel(Level.OFF);
    }
  }

  /**
   * Returns the id of a member; one that has lost its folder has another id, and never counts as
   * the former one.
   */
  static RaftPeerId id(PeerSelf self) {
    return RaftPeerId.valueOf(self.name() + "@" + self.incarnation());
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
    // Otherwise each commit would add an entry of its own, which is only useful after a restart.
    RaftServerConfigKeys.Log.setLogMetadataEnabled(p, false);
    RaftServerConfigKeys.Log.setWriteBufferSize(p, BUFFER);
    RaftServerConfigKeys.Log.setPreallocatedSize(p, BUFFER);
    RaftServerConfigKeys.Log.setSegmentSizeMax(p, SizeInBytes.valueOf(settings.segmentBytes()));
    RaftServerConfigKeys.Log.setSegmentCacheNumMax(p, SEGMENTS_IN_MEMORY);
    RaftServerConfigKeys.Log.setSegmentCacheSizeMax(p, MOST_IN_MEMORY);
    RaftServerConfigKeys.Log.setPurgeGap(p, 1);
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(p, true);
    RaftServerConfigKeys.Log.Appender.setBufferByteLimit(p, MOST_APPENDED);
    RaftServerConfigKeys.Log.Appender.setRetryPolicy(p, RETRIES);
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(p, false);
    RaftServerConfigKeys.Snapshot.setRetentionFileNum(p, 2);
    return p;
  }

  private static TimeDuration millis(Duration duration) {
    return TimeDuration.valueOf(duration.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * Opens a group's log in this process. The machine's snapshot is restored when this returns; the
   * log after it is applied as soon as its entries are known to be committed.
   *
   * @param group 0 or more; open at most once
   * @param members all of the group, including this one, with which a new log starts; later changes
   *     in the log replace them. Empty if the log exists elsewhere: then this member waits until it
   *     receives its content.
   * @throws IOException if the folder cannot be used, its log is damaged, or this member's files of
   *     the group are lost
   */
  public synchronized Ledger open(int group, List<Member> members, Machine machine)
      throws IOException {
    RaftGroupId id = idOf(group);
    if (ledgers.containsKey(id)) {
      throw new IllegalStateException("group " + group + " is open");
    }
    checkKept(group);
    members.forEach(transport::learn);
    PeerRpc.connect(transport, group, members);
    List<RaftPeer> peers = peers(left(group) ? List.of() : founders(group, members));
    machines.put(
        id,
        new RatisMachine(
            machine,
            settings.snapshotBytes(),
            background,
            transport::log,
            () -> marks.begin(group),
            () -> failed(id)));
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
    older.opened(group, new RatisPromises(server.getDivision(id)), keptAtStart.remove(group));
    return ledger;
  }

  private CompletionStage<byte[]> request(String member, byte[] question) {
    try {
      return transport
          .link(member, PeerRpc.VOTES)
          .call(OlderFolder.KIND, question, OlderFolder.ANSWER_MILLIS);
    } catch (PeerException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Compares the folder with what the other members remember of this one, as far as they answer
   * within a time. The others are asked before this member votes with them.
   *
   * @param members their names
   * @throws IOException if the folder is an older copy
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public void compareFolder(List<String> members, Duration most)
      throws IOException, InterruptedException {
    long end = CLOCK.nanos() + most.toNanos();
    List<String> silent = members;
    while (!silent.isEmpty() && CLOCK.nanos() - end < 0) {
      List<String> missing = new ArrayList<>();
      for (String each : silent) {
        try {
          Object unused =
              older
                  .compared(each)
                  .toCompletableFuture()
                  .get(Math.max(1, end - CLOCK.nanos()), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
          missing.add(each);
        }
      }
      requireNotOlder();
      silent = missing;
      if (!silent.isEmpty()) {
        Thread.sleep(COMPARE_PAUSE_MILLIS);
      }
    }
  }

  private void requireNotOlder() throws IOException {
    String problem = older.problem();
    if (problem != null) {
      throw new IOException(problem);
    }
  }

  /** Reports to the other members how far the logs are; to be called about each second. */
  public void reportPromises(Collection<String> members) {
    older.report(members);
  }

  /**
   * Returns the members with which a log starts, as they were when it was first opened here: a
   * member that is started again before it has received the log begins it with the same ones.
   */
  private List<Member> founders(int group, List<Member> members) throws IOException {
    Path file = settings.folder().resolve("founders-" + group);
    Properties known = CheckedFile.load(file);
    if (known != null) {
      try {
        return readMembers(HexFormat.of().parseHex(known.getProperty("members", "")));
      } catch (RuntimeException e) {
        throw CheckedFile.damaged(file, e);
      }
    }
    if (!members.isEmpty()) {
      ByteWriter out = new ByteWriter().writeNumber(members.size());
      members.forEach(each -> each.write(out));
      Properties p = new Properties();
      p.setProperty("members", HexFormat.of().formatHex(out.toBytes()));
      CheckedFile.save(p, file, "Who began the log of this group. Do not change it.");
    }
    return members;
  }

  private static List<Member> readMembers(byte[] bytes) {
    ByteReader in = new ByteReader(bytes, 0);
    List<Member> members = new ArrayList<>();
    for (int i = in.readCount(); i > 0; i--) {
      members.add(Member.read(in));
    }
    return members;
  }

  /**
   * Refuses to open a group whose files are lost: this member may have voted, and its vote is lost.
   */
  private void checkKept(int group) throws IOException {
    Path kept = folderOf(settings.folder(), group);
    if (marks.startedGroups().contains(group) && !Files.exists(kept.resolve("current/raft-meta"))) {
      throw new IOException(
          kept
              + " is lost, or a part of it (expected: all that this member wrote; or empty "
              + settings.folder().toAbsolutePath().getParent()
              + " and have the member join as a new one)");
    }
  }

  static RaftGroupId idOf(long group) {
    return RaftGroupId.valueOf(new UUID(GROUPS, group + 1));
  }

  /** Returns the folder of a group, in that of all groups. */
  public static Path folderOf(Path groups, int group) {
    return groups.resolve(idOf(group).getUuid().toString());
  }

  private static List<RaftPeer> peers(List<Member> members) {
    List<RaftPeer> peers = new ArrayList<>();
    for (Member member : members) {
      peers.add(peer(member));
    }
    return peers;
  }

  static RaftPeer peer(Member member) {
    return RaftPeer.newBuilder()
        .setId(member.id())
        .setAddress(member.host() + ":" + member.port())
        .build();
  }

  static Member member(RaftPeer peer) {
    String id = peer.getId().toString();
    String address = peer.getAddress();
    int colon = address.lastIndexOf(':');
    return new Member(
        Member.nameOf(id),
        address.substring(0, colon),
        Integer.parseInt(address.substring(colon + 1)),
        Member.incarnationOf(id),
        "");
  }

  /** Returns the groups that have files of this member on disk, or should have, by number. */
  public Set<Integer> kept() throws IOException {
    Set<Integer> groups = kept(settings.folder());
    groups.addAll(marks.startedGroups());
    return groups;
  }

  public static Set<Integer> kept(Path folder) throws IOException {
    Set<Integer> groups = new TreeSet<>();
    if (!Files.isDirectory(folder)) {
      return groups;
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path each : files.filter(Files::isDirectory).toList()) {
        String name = each.getFileName().toString();
        if (name.startsWith(GROUP_FOLDERS)) {
          groups.add((int) UUID.fromString(name).getLeastSignificantBits() - 1);
        }
      }
    }
    return groups;
  }

  /** Returns whether this member once had a group's log, and must not begin a new one. */
  public boolean left(int group) {
    return marks.left(group);
  }

  void leaving(int group) throws IOException {
    marks.leave(group);
  }

  /**
   * Returns the innermost error: Ratis wraps the machine's errors about its files several times.
   */
  private static IOException deepest(Throwable problem) {
    Throwable cause = problem;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return new IOException(cause.getMessage(), problem);
  }

  /**
   * Closes the log of a group after a failed write: a member whose disk fails must not lead, and
   * the others go on.
   */
  private void failed(RaftGroupId group) {
    background.execute(
        () -> {
          try {
            RaftServer.Division division = server.getDivision(group);
            RatisEviction.stop(division.getRaftLog());
            division.close();
          } catch (IOException e) {
            transport.log("group " + group + ": " + e);
          }
        });
  }

  CompletionStage<Ledger.Snapshot> snapshot(RaftGroupId group) {
    RatisMachine machine = machines.get(group);
    return machine == null
        ? CompletableFuture.failedStage(new IOException("the log is closed"))
        : machine.snapshot();
  }

  void closing(RaftGroupId group) {
    RatisMachine machine = machines.get(group);
    if (machine != null) {
      machine.closing();
    }
  }

  void closed(RaftGroupId group) {
    older.closed(groupOf(group));
    ledgers.remove(group);
    machines.remove(group);
  }

  static long groupOf(RaftGroupId id) {
    return groupOf(id.toByteString().asReadOnlyByteBuffer());
  }

  /** Returns the number of a group from its id in Ratis. */
  static long groupOf(ByteBuffer id) {
    return id.getLong(Long.BYTES) - 1;
  }

  @Override
  public synchronized void close() throws IOException {
    // In parallel: each waits up to a second, until the writer thread of Ratis's log notices it.
    CompletableFuture<?>[] closing =
        ledgers.values().stream()
            .map(ledger -> ledger.closing(false).exceptionally(this::notClosed))
            .toArray(CompletableFuture[]::new);
    CompletableFuture.allOf(closing).join();
    server.close();
    transport.close();
    background.shutdownNow();
  }

  private @Nullable Void notClosed(Throwable problem) {
    Throwable cause = problem.getCause() == null ? problem : problem.getCause();
    transport.log("cluster: " + cause.getMessage());
    return null;
  }
}
