package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.log.Ledger.Machine;
import dev.weir.cluster.internal.peer.LevelException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.StateMachineException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;

/**
 * The adapter of a {@link Machine} for Ratis. Entries are applied on Ratis's one thread, and
 * snapshots are begun there; another thread finishes them.
 */
final class RatisMachine extends BaseStateMachine {
  /*
   * How is a snapshot taken? On the applying thread, between two entries, an image of the machine
   * is begun, into a file that Ratis does not use. It is written while further entries are applied.
   * When it is complete, the background thread flushes it and gives it the name of a snapshot; then
   * the entries that both of the last two snapshots cover are purged from the log. Callers that
   * wait for a snapshot get the open file. If the leader sends a snapshot of its own meanwhile, the
   * whole state is replaced: the era changes, and the image is deleted.
   */

  /** The approximate size of an entry in the log beside its bytes. */
  private static final int ENTRY_BYTES = 64;

  private final Machine machine;
  private final long snapshotBytes;
  private final Executor background;
  private final Consumer<? super String> log;
  private final Begun begun;
  private final Runnable failed;
  private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();

  // Used by the applying thread only.
  private long logBytes;
  private long lastImageBytes;

  // Guarded by this.
  private @Nullable RatisSnapshots snapshots;
  private boolean imaging;

  /** Futures of callers that wait for a snapshot that is not begun. */
  private List<CompletableFuture<Ledger.Snapshot>> waiting = new ArrayList<>();

  /** Grows when the state is replaced: earlier images are worthless then. */
  private long era;

  private volatile RaftServer.@Nullable Division division;
  private volatile boolean closing;
  private volatile boolean asked;

  /** A receiver of the event that a group has its folder. */
  interface Begun {
    void mark() throws IOException;
  }

  /**
   * Creates the adapter.
   *
   * @param snapshotBytes a snapshot is taken when the log since the last one has more bytes
   * @param background finishes snapshots; may block
   * @param begun called when there is a folder, and no promise was made yet in its group
   * @param failed called when the log cannot be written any more, or must not be read on
   */
  RatisMachine(
      Machine machine,
      long snapshotBytes,
      Executor background,
      Consumer<? super String> log,
      Begun begun,
      Runnable failed) {
    this.machine = machine;
    this.snapshotBytes = snapshotBytes;
    this.background = background;
    this.log = log;
    this.begun = begun;
    this.failed = failed;
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId group, RaftStorage raft)
      throws IOException {
    super.initialize(server, group, raft);
    getLifeCycle().transition(LifeCycle.State.STARTING);
    RatisSnapshots files = new RatisSnapshots(raft, storage, log);
    try {
      TermIndex restored = files.start(machine);
      if (restored != null) {
        setLastAppliedTermIndex(restored);
        lastImageBytes = newestBytes();
      }
      begun.mark();
    } catch (IOException | LevelException e) {
      // Otherwise Ratis keeps its lock on the folder.
      raft.close();
      throw e;
    }
    synchronized (this) {
      snapshots = files;
    }
    getLifeCycle().transition(LifeCycle.State.RUNNING);
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return storage;
  }

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) {
    return TransactionContext.newBuilder()
        .setStateMachine(this)
        .setClientRequest(request)
        .setLogData(request.getMessage().getContent())
        .build();
  }

  @Override
  public TransactionContext preAppendTransaction(TransactionContext transaction)
      throws IOException {
    if (!(transaction.getClientRequest().getMessage() instanceof RatisAppend append)
        || !append.append()) {
      throw new StateMachineException("the entry was refused before", new IOException(), false);
    }
    RaftServer.Division mine = division;
    if (mine == null) {
      mine = getServer().join().getDivision(getGroupId());
      division = mine;
    }
    try {
      machine.stamp(mine.getInfo().getCurrentTerm(), append.entry());
    } catch (RuntimeException e) {
      throw new StateMachineException("stamp", e, true);
    }
    return transaction;
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto logged = transaction.getLogEntry();
    byte[] entry = entry(transaction, logged);
    byte[] reply;
    try {
      reply = machine.apply(logged.getIndex(), logged.getTerm(), entry);
    } catch (LevelException e) {
      stop("entry " + logged.getIndex() + " cannot be applied: " + e.getMessage());
      throw e;
    } catch (RuntimeException e) {
      log.accept("entry " + logged.getIndex() + " cannot be applied; this member stops: " + e);
      throw e;
    }
    updateLastAppliedTermIndex(logged.getTerm(), logged.getIndex());
    logBytes += entry.length + ENTRY_BYTES;
    if (asked || logBytes > Math.max(snapshotBytes, 2 * lastImageBytes)) {
      begin();
    }
    return CompletableFuture.completedFuture(new RatisAppend.Reply(reply));
  }

  /** Closes the log on purpose: later entries would be misread. */
  private void stop(String why) {
    log.accept(why + "; this member stops");
    machine.stopped(why);
    closing = true;
    failed.run();
  }

  /**
   * Returns the bytes of an entry: the leader has those that it was given; others have them in the
   * received entry.
   */
  private static byte[] entry(TransactionContext transaction, LogEntryProto logged) {
    RaftClientRequest request = transaction.getClientRequest();
    return request != null && request.getMessage() instanceof RatisAppend append
        ? append.entry()
        : logged.getStateMachineLogEntry().getLogData().toByteArray();
  }

  /** Takes a snapshot, as {@link Ledger#snapshot} describes. */
  synchronized CompletionStage<Ledger.Snapshot> snapshot() {
    CompletableFuture<Ledger.Snapshot> taken = new CompletableFuture<>();
    if (snapshots == null) {
      taken.completeExceptionally(new IOException("the log is closed"));
    } else {
      waiting.add(taken);
      asked = true;
    }
    return taken;
  }

  /** Begins a snapshot, unless one is being written. On the applying thread. */
  private void begin() {
    TermIndex at = getLastAppliedTermIndex();
    List<CompletableFuture<Ledger.Snapshot>> served;
    long mine;
    Path image;
    synchronized (this) {
      if (imaging || snapshots == null || getLifeCycleState() != LifeCycle.State.RUNNING) {
        return;
      }
      imaging = true;
      served = waiting;
      waiting = new ArrayList<>();
      asked = false;
      mine = era;
      image = snapshots.image();
    }
    logBytes = 0;
    try {
      Object unused =
          machine
              .image(image)
              .whenCompleteAsync(
                  (done, problem) -> finish(image, at, mine, problem, served), background);
    } catch (IOException | RuntimeException e) {
      finish(image, at, mine, e, served);
    }
  }

  private void finish(
      Path image,
      TermIndex at,
      long begun,
      @Nullable Throwable problem,
      List<CompletableFuture<Ledger.Snapshot>> served) {
    List<Ledger.Snapshot> taken = new ArrayList<>();
    try {
      if (problem != null) {
        throw new IOException(problem);
      }
      MD5Hash md5 = RatisSnapshots.seal(image);
      long purge;
      synchronized (this) {
        if (era != begun || snapshots == null) {
          Files.deleteIfExists(image);
          return;
        }
        Path file = snapshots.publish(image, md5, at);
        for (int i = 0; i < served.size(); i++) {
          taken.add(
              new Ledger.Snapshot(
                  at.getTerm(), at.getIndex(), md5.toString(), FileChannel.open(file)));
        }
        purge = snapshots.purgeable();
      }
      RaftServer.Division mine = getServer().join().getDivision(getGroupId());
      if (purge >= 0 && mine.getInfo().isAlive()) {
        Object unused = mine.getRaftLog().purge(purge);
      }
    } catch (IOException | RuntimeException e) {
      log.accept("snapshot at " + at.getIndex() + " failed: " + e);
      image.toFile().delete();
    } finally {
      synchronized (this) {
        imaging = false;
      }
      hand(taken, served);
    }
  }

  private static void hand(
      List<Ledger.Snapshot> taken, List<CompletableFuture<Ledger.Snapshot>> served) {
    for (int i = 0; i < served.size(); i++) {
      if (i < taken.size()) {
        served.get(i).complete(taken.get(i));
      } else {
        served.get(i).completeExceptionally(new IOException("the snapshot was not written"));
      }
    }
  }

  private long newestBytes() throws IOException {
    return Files.size(storage.getLatestSnapshot().getFile().getPath());
  }

  /**
   * Begins a snapshot; returns the index up to which the log may be purged by the finished ones.
   */
  @Override
  public long takeSnapshot() throws IOException {
    begin();
    synchronized (this) {
      return snapshots == null ? -1 : snapshots.purgeable();
    }
  }

  @Override
  public void pause() {
    synchronized (this) {
      era++;
      getLifeCycle().transition(LifeCycle.State.PAUSING);
      getLifeCycle().transition(LifeCycle.State.PAUSED);
      try {
        if (snapshots != null) {
          snapshots.syncReceived();
        }
      } catch (IOException e) {
        log.accept("a snapshot of the leader cannot be made durable: " + e);
      }
    }
  }

  @Override
  public void reinitialize() throws IOException {
    synchronized (this) {
      if (snapshots == null) {
        throw new IOException("not started");
      }
      getLifeCycle().transition(LifeCycle.State.STARTING);
      era++;
      try {
        setLastAppliedTermIndex(snapshots.installed(machine));
      } catch (LevelException e) {
        stop("the leader's snapshot cannot be read: " + e.getMessage());
        throw e;
      }
      lastImageBytes = newestBytes();
      logBytes = 0;
      getLifeCycle().transition(LifeCycle.State.RUNNING);
    }
  }

  @Override
  public void notifyLeaderChanged(RaftGroupMemberId self, RaftPeerId leader) {
    if (leader != null) {
      machine.elected(leader.toString());
    }
  }

  @Override
  public void notifyLogFailed(Throwable problem, @Nullable LogEntryProto entry) {
    log.accept("the log cannot be written; this member stops: " + problem);
    machine.stopped("the log cannot be written: " + problem);
    failed.run();
  }

  /** Notes that the log is about to be closed on purpose. */
  void closing() {
    closing = true;
  }

  @Override
  public void close() {
    if (!closing) {
      log.accept("the log of " + getGroupId() + " was closed by an error: start this member again");
    }
    List<CompletableFuture<Ledger.Snapshot>> served;
    synchronized (this) {
      era++;
      snapshots = null;
      served = waiting;
      waiting = new ArrayList<>();
    }
    hand(List.of(), served);
  }
}
