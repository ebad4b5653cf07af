package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.internal.DaemonThreads;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.jspecify.annotations.Nullable;

/** The log of one group in this process, kept by Ratis. */
final class RatisLedger implements Ledger {
  /*
   * What does this do that Ratis 3.3 does not? Entries reach Ratis by one thread, since Ratis holds
   * a lock while it appends, which others hold while they wait for the disk. A listener does not
   * become a voter in one change: a member that is elected before a majority has agreed on such a
   * change has the listener among its voters and among the former listeners; Ratis fails on this,
   * and leaves a leader that does nothing and has the longest log. So a listener takes no part for
   * a moment, and is then added as a voter. And a group begins to close once, on a thread of its
   * own, for which callers may wait: the thread that writes Ratis's log ends within a second.
   */

  /**
   * The largest entry: Ratis writes an entry with a buffer of 1 MB, and adds some bytes of its own.
   */
  static final int MAX_ENTRY_BYTES = (1 << 20) - 4_096;

  /** The most entries that wait for the thread that hands them over; twice what Ratis takes. */
  private static final int MOST_WAITING = 2 * RatisEngine.MOST_PENDING;

  private static final long TRANSFER_MILLIS = 5_000;
  private static final long CLOSE_MILLIS = 10_000;

  private final RatisEngine engine;
  private final RaftServer server;
  private final RaftServer.Division division;
  private final RaftGroupId group;
  private final int number;

  /**
   * The id of this start of the process, so that Ratis never takes an entry for a repetition of
   * another.
   */
  private final ClientId client = ClientId.randomId();

  private final AtomicLong calls = new AtomicLong();
  private final AtomicInteger waiting = new AtomicInteger();

  /**
   * The thread that appends: Ratis holds a lock meanwhile, which others hold while they wait for
   * the disk.
   */
  private final ExecutorService appender;

  private @Nullable CompletableFuture<@Nullable Void> closing;

  RatisLedger(RatisEngine engine, RaftServer server, RaftGroupId group, int number)
      throws IOException {
    this.engine = engine;
    this.server = server;
    this.group = group;
    this.number = number;
    division = server.getDivision(group);
    appender = Executors.newSingleThreadExecutor(DaemonThreads.named("weir-append-" + number));
  }

  @Override
  public CompletionStage<byte[]> append(byte[] entry) {
    if (entry.length < STAMP_BYTES || entry.length > MAX_ENTRY_BYTES) {
      throw new IllegalArgumentException(
          "entry of " + entry.length + " bytes (expected: 8.." + MAX_ENTRY_BYTES + ")");
    }
    CompletableFuture<byte[]> result = new CompletableFuture<>();
    if (waiting.incrementAndGet() > MOST_WAITING) {
      waiting.decrementAndGet();
      result.completeExceptionally(
          new LedgerException(Outcome.OVERLOADED, null, "more than " + MOST_WAITING + " entries"));
      return result;
    }
    RatisAppend append = new RatisAppend(entry);
    try {
      appender.execute(() -> submit(append, result));
    } catch (RejectedExecutionException closed) {
      finish(append, result, null, closed);
    }
    return result;
  }

  private void submit(RatisAppend append, CompletableFuture<byte[]> result) {
    CompletableFuture<RaftClientReply> replied;
    try {
      RaftClientRequest request =
          RaftClientRequest.newBuilder()
              .setClientId(client)
              .setServerId(server.getId())
              .setGroupId(group)
              .setCallId(calls.incrementAndGet())
              .setMessage(append)
              .setType(RaftClientRequest.writeRequestType())
              .build();
      // The division takes it on this thread; the server would use another one.
      RaftClientAsynchronousProtocol direct =
          division instanceof RaftClientAsynchronousProtocol own ? own : server;
      replied = direct.submitClientRequestAsync(request);
    } catch (IOException | RuntimeException e) {
      finish(append, result, null, e);
      return;
    }
    Object unused =
        replied.whenComplete((reply, problem) -> finish(append, result, reply, problem));
  }

  private void finish(
      RatisAppend append,
      CompletableFuture<byte[]> result,
      @Nullable RaftClientReply reply,
      @Nullable Throwable problem) {
    waiting.decrementAndGet();
    if (problem == null && reply != null && reply.isSuccess()) {
      result.complete(
          reply.getMessage() instanceof RatisAppend.Reply own
              ? own.bytes()
              : reply.getMessage().getContent().toByteArray());
      return;
    }
    Throwable cause = problem;
    if (cause == null && reply != null) {
      cause = reply.getException();
    }
    while (cause != null && cause.getCause() != null && !certain(cause)) {
      cause = cause.getCause();
    }
    result.completeExceptionally(failure(append.refuse(), cause));
  }

  private static boolean certain(Throwable cause) {
    return cause instanceof NotLeaderException || cause instanceof ResourceUnavailableException;
  }

  private static LedgerException failure(boolean refused, @Nullable Throwable cause) {
    String leader = null;
    if (cause instanceof NotLeaderException elsewhere) {
      RaftPeer suggested = elsewhere.getSuggestedLeader();
      leader = suggested == null ? null : Member.nameOf(suggested.getId().toString());
    }
    Outcome outcome = Outcome.NOT_LEADER;
    if (!refused) {
      outcome = Outcome.UNKNOWN;
    } else if (cause instanceof ResourceUnavailableException) {
      outcome = Outcome.OVERLOADED;
    }
    return new LedgerException(outcome, leader, String.valueOf(cause));
  }

  @Override
  public @Nullable String leader() {
    RaftPeerId leader = division.getInfo().getLeaderId();
    return leader == null ? null : Member.nameOf(leader.toString());
  }

  @Override
  public boolean leads() {
    return division.getInfo().isLeaderReady();
  }

  @Override
  public Status status() {
    return new Status(
        leader(),
        division.getInfo().getCurrentTerm(),
        division.getRaftLog().getLastCommittedIndex(),
        division.getInfo().getLastAppliedIndex());
  }

  @Override
  public CompletionStage<Snapshot> snapshot() {
    return engine.snapshot(group);
  }

  @Override
  public FlushedIndexes flushed() {
    // Ratis lists indexes and names of the same members, in one order, unless they change between.
    long[] indexes = division.getInfo().getFollowerMatchIndices();
    List<ServerRpcProto> others =
        division.getInfo().getRoleInfoProto().getLeaderInfo().getFollowerInfoList();
    if (indexes == null || indexes.length != others.size()) {
      return FlushedIndexes.NOTHING;
    }
    Set<RaftPeerId> voters =
        division.getRaftConf().getCurrentPeers().stream()
            .map(RaftPeer::getId)
            .collect(Collectors.toSet());
    long most = 0;
    String first = "";
    for (int i = 0; i < indexes.length; i++) {
      RaftPeerId id = RaftPeerId.valueOf(others.get(i).getId().getId());
      if (voters.contains(id) && indexes[i] > most) {
        most = indexes[i];
        first = Member.nameOf(id.toString());
      }
    }
    return new FlushedIndexes(division.getRaftLog().getFlushIndex(), most, first);
  }

  /**
   * Returns the size of the files, without Ratis's own list of them: that deletes files that are
   * still empty.
   */
  @Override
  public long logBytes() {
    Path folder = division.getRaftStorage().getStorageDir().getCurrentDir().toPath();
    long bytes = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "log_*")) {
      for (Path file : files) {
        bytes += Files.size(file);
      }
    } catch (IOException | DirectoryIteratorException e) {
      // A file was purged or renamed meanwhile: the next answer will be right.
      return bytes;
    }
    return bytes;
  }

  @Override
  public void transfer(@Nullable String member) throws IOException {
    if (!division.getInfo().isLeader()) {
      return;
    }
    IOException problem = new IOException("there is no other member");
    for (RaftPeer peer : division.getRaftConf().getCurrentPeers()) {
      String name = Member.nameOf(peer.getId().toString());
      if (member == null ? !peer.getId().equals(server.getId()) : name.equals(member)) {
        try {
          hand(peer.getId());
          return;
        } catch (IOException e) {
          problem = e;
        }
      }
    }
    throw problem;
  }

  private void hand(RaftPeerId member) throws IOException {
    RaftClientReply reply =
        server.transferLeadership(
            new TransferLeadershipRequest(
                client, server.getId(), group, calls.incrementAndGet(), member, TRANSFER_MILLIS));
    if (!reply.isSuccess()) {
      throw new IOException(
          member + " did not take over: " + reply.getException(), reply.getException());
    }
  }

  @Override
  public Seats seats() {
    RaftConfiguration now = division.getRaftConf();
    return new Seats(
        members(now.getCurrentPeers(RaftPeerRole.FOLLOWER)),
        members(now.getCurrentPeers(RaftPeerRole.LISTENER)),
        now.getPreviousPeers(RaftPeerRole.FOLLOWER).isEmpty()
            && now.getLogEntryIndex() <= division.getRaftLog().getLastCommittedIndex());
  }

  private static List<Member> members(Collection<RaftPeer> peers) {
    return peers.stream().map(RatisEngine::member).toList();
  }

  @Override
  public void seat(Seats next) throws IOException {
    Seats now = seats();
    List<Member> listening = now.listeners().stream().filter(each -> !next.votes(each)).toList();
    if (listening.size() < now.listeners().size()) {
      agree(now.voters(), listening);
    }
    agree(next.voters(), next.listeners());
  }

  private void agree(List<Member> voters, List<Member> listeners) throws IOException {
    SetConfigurationRequest.Arguments seats =
        SetConfigurationRequest.Arguments.newBuilder()
            .setServersInNewConf(voters.stream().map(RatisEngine::peer).toList())
            .setListenersInNewConf(listeners.stream().map(RatisEngine::peer).toList())
            .build();
    RaftClientReply reply =
        server.setConfiguration(
            new SetConfigurationRequest(
                client, server.getId(), group, calls.incrementAndGet(), seats));
    if (!reply.isSuccess()) {
      throw new IOException(
          "the group did not agree: " + reply.getException(), reply.getException());
    }
  }

  @Override
  public void leave() throws IOException {
    engine.leaving(number);
    close(true);
  }

  @Override
  public void close() throws IOException {
    close(false);
  }

  private void close(boolean delete) throws IOException {
    try {
      closing(delete).get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException known ? known : new IOException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Begins to close, unless that has begun before. The returned future fails with an {@link
   * IOException} if the group does not close.
   *
   * @param delete true to delete the group's folder too
   */
  synchronized CompletableFuture<@Nullable Void> closing(boolean delete) {
    CompletableFuture<@Nullable Void> begun = closing;
    if (begun == null) {
      begun = begin(delete);
      closing = begun;
    }
    return begun;
  }

  private CompletableFuture<@Nullable Void> begin(boolean delete) {
    appender.shutdown();
    engine.closing(group);
    return removed(delete)
        .orTimeout(CLOSE_MILLIS, TimeUnit.MILLISECONDS)
        .handle(
            (done, error) -> {
              engine.closed(group);
              if (error != null) {
                throw new CompletionException(
                    new IOException("group " + group + " does not close", error));
              }
              return null;
            });
  }

  void stopEviction() throws IOException {
    RatisEviction.stop(division.getRaftLog());
  }

  /** Makes Ratis close the group; no caller has to wait for that. */
  private CompletableFuture<@Nullable Void> removed(boolean delete) {
    GroupManagementRequest request =
        GroupManagementRequest.newRemove(
            client, server.getId(), calls.incrementAndGet(), group, delete, false);
    CompletableFuture<@Nullable Void> removed = new CompletableFuture<>();
    Thread remover =
        DaemonThreads.create(
            "weir-close",
            () -> {
              try {
                stopEviction();
                RaftClientReply reply = server.groupManagement(request);
                if (!reply.isSuccess()) {
                  throw new IOException(reply.getException());
                }
                removed.complete(null);
              } catch (IOException | RuntimeException e) {
                removed.completeExceptionally(e);
              }
            });
    remover.start();
    return removed;
  }
}
