package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.peer.PeerLink;
import dev.weir.cluster.internal.peer.PeerTransport;
import dev.weir.internal.DaemonThreads;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.protocol.RaftServerAsynchronousProtocol;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.ProtoUtils;

/**
 * Ratis's four calls between members, over {@link PeerTransport}. Votes, the appends of each group,
 * and snapshots have connections of their own: none waits for another. Safe for use by many
 * threads.
 *
 * <p>The protocol of Ratis has gaps for a cluster whose members come and go: a follower that was a
 * listener first is never started, and a leader that it refuses stays. Both are mended here, by
 * calls that Ratis itself would have made. The same holds for a follower that waits for a leader
 * whose process has ended, see {@link LeaderLoss}.
 */
public final class PeerRpc implements RaftServerRpc {
  public static final String VOTES = "votes";

  static final int VOTE = PeerFrame.FIRST_REQUEST;
  static final int ELECT = VOTE + 1;
  static final int APPEND = VOTE + 2;
  static final int SNAPSHOT = VOTE + 3;

  /** The threads for votes: two groups may vote while the disk of another is busy. */
  private static final int VOTE_THREADS = 4;

  /**
   * The threads for appends: as many as groups of a member, each with two leaders during a change.
   */
  private static final int APPEND_THREADS = 16;

  private static final int SNAPSHOT_THREADS = 2;

  /** The timeout of a chunk, which has up to 16 MB. */
  private static final long SNAPSHOT_MILLIS = 30_000;

  /** The longest time in which a voter may answer whether it has lost the leader too. */
  private static final long ANSWER_MILLIS = 100;

  private static final long IDLE_SECONDS = 60;

  private final RaftServer server;
  private final PeerTransport transport;
  private final OlderFolder older;
  private final long timeoutMillis;
  private final ExecutorService votes = pool("vote", VOTE_THREADS);
  private final ExecutorService appends = pool("append", APPEND_THREADS);
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();
  private final ExecutorService snapshots = pool("snapshot", SNAPSHOT_THREADS);

  PeerRpc(RaftServer server, PeerTransport transport, OlderFolder older) {
    this.older = older;
    this.server = server;
    this.transport = transport;
    timeoutMillis =
        RaftServerConfigKeys.Rpc.timeoutMax(server.getProperties()).toLong(TimeUnit.MILLISECONDS);
  }

  private static ExecutorService pool(String name, int threads) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            DaemonThreads.numbered("weir-raft-" + name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  @Override
  public void start() {
    PeerDoor door = transport.door();
    door.register(
        VOTE,
        votes,
        (from, payload) -> {
          RequestVoteRequestProto request = RequestVoteRequestProto.parseFrom(payload);
          check(from, request.getServerRequest());
          return older
              .compared(from)
              .thenComposeAsync(unused -> voted(request), votes)
              .toCompletableFuture();
        });
    door.register(
        ELECT,
        votes,
        (from, payload) -> {
          StartLeaderElectionRequestProto request =
              StartLeaderElectionRequestProto.parseFrom(payload);
          check(from, request.getServerRequest());
          return done(server.startLeaderElection(request)); // Its own requests for votes compare.
        });
    door.register(APPEND, appends, this::append);
    door.register(
        SNAPSHOT,
        snapshots,
        (from, payload) -> {
          InstallSnapshotRequestProto request =
              InstallSnapshotRequestProto.parseFrom(aliased(payload));
          checkTaking(from, request.getServerRequest());
          return done(server.installSnapshot(request));
        });
    door.register(
        OlderFolder.KIND,
        votes,
        (from, payload) -> CompletableFuture.completedFuture(older.answer(from, payload)));
    LeaderLoss loss = leaderLoss();
    door.register(
        LeaderLoss.KIND,
        votes,
        (from, payload) -> CompletableFuture.completedFuture(loss.answer(payload)));
    transport.watch(VOTES, loss::ended);
  }

  /** The other members, by their connections for votes. */
  private record VotingPeers(PeerTransport transport) implements LeaderLoss.Others {
    @Override
    public CompletionStage<byte[]> request(String member, byte[] question) {
      try {
        return transport.link(member, VOTES).call(LeaderLoss.KIND, question, ANSWER_MILLIS);
      } catch (PeerException e) {
        return CompletableFuture.failedFuture(e);
      }
    }

    @Override
    public boolean gone(String member) {
      return transport.hasEnded(member, VOTES);
    }
  }

  private LeaderLoss leaderLoss() {
    return new LeaderLoss(
        transport.self().name(),
        new RatisVoter(server, transport::log),
        new VotingPeers(transport),
        votes,
        CompletableFuture.delayedExecutor(LeaderLoss.PAUSE_MILLIS, TimeUnit.MILLISECONDS, votes),
        transport::log);
  }

  /**
   * Refuses a call for another incarnation, or from a member that names itself differently from its
   * connection: the promises of an incarnation that lost its folder are not those of this one.
   *
   * @return the group
   */
  private long check(String from, RaftRpcRequestProto head) throws IOException {
    String to = head.getReplyId().toStringUtf8();
    if (!to.equals(server.getId().toString())
        || !Member.nameOf(head.getRequestorId().toStringUtf8()).equals(from)) {
      throw new IOException("for " + to + " (expected: for " + server.getId() + ")");
    }
    long group = RatisEngine.groupOf(ProtoUtils.toRaftGroupId(head.getRaftGroupId()));
    if (!older.isOpen(group)) {
      throw new IOException("group " + group + " is not open yet");
    }
    return group;
  }

  /**
   * Does the same for a call that brings entries, which an older copy of a folder must not take.
   */
  private void checkTaking(String from, RaftRpcRequestProto head) throws IOException {
    long group = check(from, head);
    if (transport.isKnown(from) && !older.mayTake(group, from)) {
      throw new IOException("group " + group + " is not compared with " + from + " yet");
    }
  }

  private CompletionStage<byte[]> voted(RequestVoteRequestProto request) {
    try {
      return done(server.requestVote(request));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletionStage<byte[]> append(String from, byte[] payload) throws IOException {
    AppendEntriesRequestProto request = AppendEntriesRequestProto.parseFrom(aliased(payload));
    checkTaking(from, request.getServerRequest());
    RaftServer.Division division =
        server.getDivision(ProtoUtils.toRaftGroupId(request.getServerRequest().getRaftGroupId()));
    // The thread that has the log on disk answers; this one waits for a lock only.
    CompletableFuture<AppendEntriesReplyProto> reply = handle(corrected(division, request));
    if (starting(division) && request.getEntriesCount() > 0) {
      reply = reply.thenCompose(appended -> beginning(division, request, appended));
    }
    return reply.thenApply(MessageLite::toByteArray);
  }

  private CompletableFuture<AppendEntriesReplyProto> handle(AppendEntriesRequestProto request) {
    try {
      return ((RaftServerAsynchronousProtocol) server).appendEntriesAsync(request);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static boolean starting(RaftServer.Division division) {
    return division.getInfo().getLifeCycleState() == LifeCycle.State.STARTING;
  }

  private static boolean votes(RaftServer.Division division, RaftPeerId member) {
    return division.getRaftConf().getCurrentPeers().stream()
        .anyMatch(each -> each.getId().equals(member));
  }

  /**
   * Returns the request with its mark "initializing" corrected by this replica's own log. A replica
   * that was sent all entries from the first one begins to vote, and to wait for a silent leader,
   * when the leader calls it initialized. A leader of Ratis never does so for one that was a
   * listener first. So here it begins when its log makes it a voter, and not before, since a
   * listener that stood for election would close.
   */
  private AppendEntriesRequestProto corrected(
      RaftServer.Division division, AppendEntriesRequestProto request) {
    if (!starting(division)) {
      return request;
    }
    boolean votes = votes(division, server.getId());
    return request.getInitializing() == !votes
        ? request
        : request.toBuilder().setInitializing(!votes).build();
  }

  /**
   * Starts this replica if the entries make it a voter: it votes before the leader gets the answer,
   * since the leader may be gone then. It applies the leader's next request in advance, without
   * entries.
   */
  private CompletableFuture<AppendEntriesReplyProto> beginning(
      RaftServer.Division division,
      AppendEntriesRequestProto request,
      AppendEntriesReplyProto appended) {
    if (appended.getResult() != AppendEntriesReplyProto.AppendResult.SUCCESS
        || !starting(division)
        || !votes(division, server.getId())) {
      return CompletableFuture.completedFuture(appended);
    }
    LogEntryProto last = request.getEntries(request.getEntriesCount() - 1);
    AppendEntriesRequestProto next =
        request.toBuilder()
            .clearEntries()
            .setPreviousLog(TermIndex.valueOf(last).toProto())
            .setInitializing(false)
            .build();
    return handle(next).thenApply(unused -> appended);
  }

  private static CompletionStage<byte[]> done(MessageLite reply) {
    return CompletableFuture.completedFuture(reply.toByteArray());
  }

  /** Returns a stream that shares the frame's bytes, which nothing else uses. */
  private static CodedInputStream aliased(byte[] payload) {
    CodedInputStream in = UnsafeByteOperations.unsafeWrap(payload).newCodedInput();
    in.enableAliasing(true);
    return in;
  }

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    String voter = Member.nameOf(request.getServerRequest().getReplyId().toStringUtf8());
    await(older.compared(voter).toCompletableFuture(), VOTES);
    return RequestVoteReplyProto.parseFrom(
        call(request.getServerRequest(), VOTES, VOTE, request, timeoutMillis));
  }

  @Override
  public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request)
      throws IOException {
    return StartLeaderElectionReplyProto.parseFrom(
        call(request.getServerRequest(), VOTES, ELECT, request, timeoutMillis));
  }

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    RaftRpcRequestProto head = request.getServerRequest();
    String purpose = log(RatisEngine.groupOf(head.getRaftGroupId().getId().asReadOnlyByteBuffer()));
    AppendEntriesReplyProto reply =
        AppendEntriesReplyProto.parseFrom(call(head, purpose, APPEND, request, timeoutMillis));
    if (reply.getResult() == AppendEntriesReplyProto.AppendResult.NOT_LEADER) {
      refused(head, reply.getTerm());
    }
    return reply;
  }

  /**
   * Makes this leader step down if a voter has a later term. A leader of Ratis does so itself,
   * except if that voter was a listener first: the two would refuse each other as long as it leads.
   */
  private void refused(RaftRpcRequestProto head, long term) throws IOException {
    RaftGroupId group = ProtoUtils.toRaftGroupId(head.getRaftGroupId());
    RaftServer.Division division = server.getDivision(group);
    DivisionInfo here = division.getInfo();
    boolean outdated = here.isLeader() && here.getCurrentTerm() < term;
    if (outdated && votes(division, RaftPeerId.valueOf(head.getReplyId()))) {
      Object unused =
          server.transferLeadershipAsync(
              new TransferLeadershipRequest(
                  client, server.getId(), group, calls.incrementAndGet(), null, timeoutMillis));
    }
  }

  @Override
  public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    return InstallSnapshotReplyProto.parseFrom(
        call(request.getServerRequest(), "snapshots", SNAPSHOT, request, SNAPSHOT_MILLIS));
  }

  private byte[] call(
      RaftRpcRequestProto head, String purpose, int kind, MessageLite request, long millis)
      throws IOException {
    PeerLink link = transport.link(Member.nameOf(head.getReplyId().toStringUtf8()), purpose);
    return await(link.call(kind, request.toByteArray(), millis).toCompletableFuture(), purpose);
  }

  private static <T> T await(CompletableFuture<T> reply, String purpose) throws IOException {
    try {
      return reply.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted = new InterruptedIOException(purpose);
      interrupted.initCause(e);
      throw interrupted;
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException known ? known : new IOException(e.getCause());
    }
  }

  static String log(long group) {
    return "log-" + group;
  }

  /**
   * Connects to a group's other members now, not when one of them has died: an election without any
   * connection fails, and the next comes a second later.
   */
  static void connect(PeerTransport transport, int group, Collection<Member> members) {
    for (Member each : members) {
      if (!each.name().equals(transport.self().name())) {
        connect(transport, each.name(), VOTES);
        connect(transport, each.name(), log(group));
      }
    }
  }

  private static void connect(PeerTransport transport, String member, String purpose) {
    try {
      PeerLink unused = transport.link(member, purpose);
    } catch (PeerException e) {
      transport.log("cluster: " + e.getMessage());
    }
  }

  @Override
  public void addRaftPeers(Collection<RaftPeer> peers) {
    for (RaftPeer peer : peers) {
      Member member = RatisEngine.member(peer);
      transport.learnIfUnknown(member);
      if (!member.name().equals(transport.self().name())) {
        connect(transport, member.name(), VOTES); // During an election it would be too late.
      }
    }
  }

  @Override
  public void handleException(RaftPeerId member, Exception problem, boolean reconnect) {
    // Links reconnect by themselves.
  }

  @Override
  public InetSocketAddress getInetSocketAddress() {
    return transport.door().address();
  }

  @Override
  public RpcType getRpcType() {
    return new PeerRpcType();
  }

  @Override
  public void close() {
    transport.close();
    votes.shutdown();
    appends.shutdown();
    snapshots.shutdown();
  }
}
