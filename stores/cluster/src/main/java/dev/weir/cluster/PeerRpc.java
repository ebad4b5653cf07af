package dev.weir.cluster;

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
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.protocol.RaftServerAsynchronousProtocol;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * Ratis's four calls between members, over {@link PeerTransport}. Votes, the appends of each group,
 * and snapshots have connections of their own: none waits for another. Safe for use by many
 * threads.
 */
final class PeerRpc implements RaftServerRpc {
  static final int VOTE = PeerFrame.FIRST_REQUEST;
  static final int ELECT = VOTE + 1;
  static final int APPEND = VOTE + 2;
  static final int SNAPSHOT = VOTE + 3;

  /** Two groups may vote while the disk of another is busy. */
  private static final int VOTE_THREADS = 4;

  /** As many groups as a member may have, each with two leaders at a change. */
  private static final int APPEND_THREADS = 16;

  private static final int SNAPSHOT_THREADS = 2;

  /** A chunk has 16 MB. */
  private static final long SNAPSHOT_MILLIS = 30_000;

  private static final long IDLE_SECONDS = 60;

  private final RaftServer server;
  private final PeerTransport transport;
  private final long timeoutMillis;
  private final ExecutorService votes = pool("vote", VOTE_THREADS);
  private final ExecutorService appends = pool("append", APPEND_THREADS);
  private final ExecutorService snapshots = pool("snapshot", SNAPSHOT_THREADS);

  PeerRpc(RaftServer server, PeerTransport transport) {
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
            task -> {
              Thread thread = new Thread(task, "weir-raft-" + name);
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  @Override
  public void start() {
    PeerDoor door = transport.door();
    door.register(
        VOTE,
        votes,
        (from, payload) -> done(server.requestVote(RequestVoteRequestProto.parseFrom(payload))));
    door.register(
        ELECT,
        votes,
        (from, payload) ->
            done(server.startLeaderElection(StartLeaderElectionRequestProto.parseFrom(payload))));
    door.register(APPEND, appends, (from, payload) -> append(payload));
    door.register(
        SNAPSHOT,
        snapshots,
        (from, payload) ->
            done(server.installSnapshot(InstallSnapshotRequestProto.parseFrom(aliased(payload)))));
  }

  private CompletionStage<byte[]> append(byte[] payload) throws IOException {
    // Answered by the thread that has the log on disk; this one waits for nothing but a lock.
    return ((RaftServerAsynchronousProtocol) server)
        .appendEntriesAsync(AppendEntriesRequestProto.parseFrom(aliased(payload)))
        .thenApply(MessageLite::toByteArray);
  }

  private static CompletionStage<byte[]> done(MessageLite reply) {
    return CompletableFuture.completedFuture(reply.toByteArray());
  }

  /** The message shares the frame's bytes, which nothing else uses. */
  private static CodedInputStream aliased(byte[] payload) {
    CodedInputStream in = UnsafeByteOperations.unsafeWrap(payload).newCodedInput();
    in.enableAliasing(true);
    return in;
  }

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    return RequestVoteReplyProto.parseFrom(
        call(request.getServerRequest(), "votes", VOTE, request, timeoutMillis));
  }

  @Override
  public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request)
      throws IOException {
    return StartLeaderElectionReplyProto.parseFrom(
        call(request.getServerRequest(), "votes", ELECT, request, timeoutMillis));
  }

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    RaftRpcRequestProto head = request.getServerRequest();
    String purpose =
        "log-" + RatisEngine.groupOf(head.getRaftGroupId().getId().asReadOnlyByteBuffer());
    return AppendEntriesReplyProto.parseFrom(call(head, purpose, APPEND, request, timeoutMillis));
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
    PeerLink link = transport.link(head.getReplyId().toStringUtf8(), purpose);
    CompletableFuture<byte[]> reply =
        link.call(kind, request.toByteArray(), millis).toCompletableFuture();
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

  @Override
  public void addRaftPeers(Collection<RaftPeer> peers) {
    for (RaftPeer peer : peers) {
      String address = peer.getAddress();
      int colon = address.lastIndexOf(':');
      transport.learnIfUnknown(
          new Member(
              peer.getId().toString(),
              address.substring(0, colon),
              Integer.parseInt(address.substring(colon + 1))));
    }
  }

  @Override
  public void handleException(RaftPeerId member, Exception problem, boolean reconnect) {
    // Links connect again by themselves.
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
