package dev.weir.cluster.internal.operating;

import dev.weir.Ticker;
import dev.weir.cluster.ClusterBackup;
import dev.weir.cluster.ClusterSettings;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.Ledger.Snapshot;
import dev.weir.cluster.internal.map.Charter;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.peer.PeerTransport;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.internal.DaemonThreads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The snapshots that a member hands out for a {@link ClusterBackup}. Safe for use by many threads.
 */
public final class Backups implements AutoCloseable {
  /*
   * How does a snapshot come to have everything that was answered before its request? By the
   * leader: it first appends an entry, which a majority must have on disk; when it has applied that
   * entry, it has applied everything that was ever answered before. The snapshot is one of those
   * that it takes anyway, so a backup needs no second way to copy keys while they change. It is
   * read through its open file: the next two snapshots may delete its name meanwhile.
   *
   * A member passes on requests that it cannot answer: a client needs to reach one member only.
   * Each request is short, and each answer has a bound.
   */

  static final int KIND = PeerFrame.FIRST_REQUEST + 50;

  /** The request for the charter and the map. */
  public static final int CHARTER = 0;

  /**
   * The request to begin a snapshot of a group; the answer has the member that makes it, and its id
   * there.
   */
  static final int TAKE = 1;

  /**
   * The request for the state of a snapshot: if it is complete, its place in the log, size and
   * checksum.
   */
  public static final int LOOK = 2;

  /** The request for a part of a snapshot. */
  public static final int READ = 3;

  /** The request to release a snapshot. */
  public static final int DONE = 4;

  /** The most bytes of one part. */
  public static final int MOST_READ = 1 << 20;

  /** The most snapshots that are handed out at a time: each keeps its room on the disk. */
  static final int MOST_OPEN = 16;

  /** The time without a request after which a snapshot is released. */
  static final long IDLE_NANOS = 120_000_000_000L;

  private static final long ANSWER_MILLIS = 20_000;
  private static final long COMMIT_MILLIS = 10_000;

  /** The purpose of the connections for backups: a part of a snapshot must not delay decisions. */
  private static final String BACKUP = "backup";

  private final String self;
  private final IntFunction<? extends @Nullable LocalGroup> groups;
  private final Supplier<? extends @Nullable Charter> charter;
  private final CurrentMap map;
  private final PeerTransport transport;
  private final Ticker ticker;
  private final Consumer<? super String> log;
  private final ExecutorService reading;
  private final SplittableRandom random = new SplittableRandom();
  private final Map<Long, OutgoingSnapshot> out = new HashMap<>();
  private boolean closed;

  /**
   * A group of this member.
   *
   * @param replica its state
   */
  public record LocalGroup(Ledger ledger, Replica replica) {}

  /** A snapshot that is handed out. */
  private static final class OutgoingSnapshot {
    final CompletableFuture<Snapshot> taken;
    long lastUseNanos;

    OutgoingSnapshot(CompletableFuture<Snapshot> taken, long nowNanos) {
      this.taken = taken;
      this.lastUseNanos = nowNanos;
    }
  }

  /**
   * Creates the snapshots.
   *
   * @param groups of this member, by number; null for those that it does not have
   * @param charter null before the cluster is formed
   */
  public Backups(
      ClusterSettings settings,
      IntFunction<? extends @Nullable LocalGroup> groups,
      Supplier<? extends @Nullable Charter> charter,
      CurrentMap map,
      PeerTransport transport) {
    self = settings.name();
    this.groups = groups;
    this.charter = charter;
    this.map = map;
    this.transport = transport;
    ticker = settings.clocks().monotonic();
    log = settings.log();
    reading = Executors.newSingleThreadExecutor(DaemonThreads.named("weir-backup"));
  }

  /** Registers the handler of requests from other members. */
  public void answerAt(PeerDoor door) {
    door.register(KIND, reading, (from, payload) -> answer(payload, false));
  }

  /**
   * Answers a request of a client that makes a backup; calls other members if necessary.
   *
   * @return fails with an {@link IOException} that gives the reason
   */
  public CompletionStage<byte[]> answer(byte[] question) {
    return CompletableFuture.supplyAsync(() -> question, reading)
        .thenCompose(
            asked -> {
              try {
                return answer(asked, true);
              } catch (IOException | RuntimeException e) {
                return CompletableFuture.failedStage(e);
              }
            });
  }

  private CompletionStage<byte[]> answer(byte[] question, boolean passOn) throws IOException {
    ByteReader in = new ByteReader(question, 0);
    int verb = in.readByte();
    if (verb == CHARTER) {
      return CompletableFuture.completedStage(formed());
    }
    if (verb == TAKE) {
      return take(question, (int) in.readNumber(), passOn);
    }
    String member = in.readText();
    if (!member.equals(self)) {
      if (!passOn) {
        throw new IOException("for " + member + " (expected: for " + self + ")");
      }
      return passed(member, question);
    }
    long id = in.readLong();
    return switch (verb) {
      case LOOK -> CompletableFuture.completedStage(check(id));
      case READ -> CompletableFuture.completedStage(read(id, in.readLong()));
      case DONE -> {
        done(id);
        yield CompletableFuture.completedStage(new byte[0]);
      }
      default -> throw new IOException("question " + verb + " (expected: one of a backup)");
    };
  }

  private byte[] formed() throws IOException {
    Charter known = charter.get();
    if (known == null) {
      throw new IOException("the cluster is not formed yet");
    }
    ByteWriter written = new ByteWriter();
    known.write(written);
    map.get().write(written);
    return written.toBytes();
  }

  private CompletionStage<byte[]> passed(String member, byte[] question) throws IOException {
    return transport.link(member, BACKUP).call(KIND, question, ANSWER_MILLIS);
  }

  private CompletionStage<byte[]> call(String member, byte[] question) {
    try {
      return passed(member, question.clone());
    } catch (IOException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  private CompletionStage<byte[]> take(byte[] question, int group, boolean passOn)
      throws IOException {
    LocalGroup here = groups.apply(group);
    if (here != null && here.ledger.leads()) {
      return begin(group, here);
    }
    if (!passOn) {
      throw new IOException(self + " does not lead group " + group);
    }
    String hint = here == null ? null : here.ledger.leader();
    List<String> others = new ArrayList<>();
    if (hint != null) {
      others.add(hint);
    }
    others.addAll(map.get().replicas(group));
    others.removeIf(self::equals);
    CompletableFuture<byte[]> answer =
        CompletableFuture.failedFuture(new IOException("group " + group + " has no leader"));
    for (String each : others) {
      answer = answer.exceptionallyCompose(problem -> call(each, question));
    }
    return answer;
  }

  private CompletionStage<byte[]> begin(int group, LocalGroup here) {
    return here.ledger
        .append(Entry.probe())
        .toCompletableFuture()
        .orTimeout(COMMIT_MILLIS, TimeUnit.MILLISECONDS)
        .thenApplyAsync(
            committed -> {
              if (here.replica.diverged()) {
                throw new IllegalStateException(self + " has other counts than it should have");
              }
              long id = opened(here.ledger.snapshot().toCompletableFuture());
              // The snapshot begins with the next entry; there may be none for a second.
              var unused = here.ledger.append(Entry.probe());
              log.accept("cluster: group " + group + ": a snapshot for a backup");
              return new ByteWriter().writeText(self).writeLong(id).toBytes();
            },
            reading);
  }

  private synchronized long opened(CompletableFuture<Snapshot> taken) {
    if (closed || out.size() >= MOST_OPEN) {
      closeWhenTaken(taken);
      throw new IllegalStateException(out.size() + " backups are under way");
    }
    long id = random.nextLong();
    out.put(id, new OutgoingSnapshot(taken, ticker.nanos()));
    return id;
  }

  private synchronized CompletableFuture<Snapshot> taken(long id) throws IOException {
    OutgoingSnapshot found = out.get(id);
    if (found == null) {
      throw new IOException("the snapshot is not there any more");
    }
    found.lastUseNanos = ticker.nanos();
    return found.taken;
  }

  private byte[] check(long id) throws IOException {
    CompletableFuture<Snapshot> taken = taken(id);
    if (!taken.isDone()) {
      return new byte[] {0};
    }
    Snapshot is = complete(taken);
    return new ByteWriter()
        .writeByte(1)
        .writeLong(is.term())
        .writeLong(is.index())
        .writeLong(is.file().size())
        .writeText(is.md5())
        .toBytes();
  }

  private static Snapshot complete(CompletableFuture<Snapshot> taken) throws IOException {
    if (!taken.isDone() || taken.isCompletedExceptionally()) {
      String why = taken.handle((is, problem) -> String.valueOf(problem)).getNow("it is not done");
      throw new IOException("the snapshot was not taken: " + why);
    }
    return taken.join();
  }

  private byte[] read(long id, long offset) throws IOException {
    Snapshot from = complete(taken(id));
    ByteBuffer part = ByteBuffer.allocate(MOST_READ);
    while (part.hasRemaining()) {
      if (from.file().read(part, offset + part.position()) < 0) {
        break;
      }
    }
    return Arrays.copyOf(part.array(), part.position());
  }

  private void done(long id) {
    OutgoingSnapshot given;
    synchronized (this) {
      given = out.remove(id);
    }
    if (given != null) {
      closeWhenTaken(given.taken);
    }
  }

  /** Releases snapshots without a recent request; to be called each second. */
  public void expire() {
    long now = ticker.nanos();
    List<Long> idle;
    synchronized (this) {
      idle =
          out.entrySet().stream()
              .filter(each -> now - each.getValue().lastUseNanos > IDLE_NANOS)
              .map(Map.Entry::getKey)
              .toList();
    }
    for (long each : idle) {
      log.accept("cluster: a backup was given up by who made it");
      done(each);
    }
  }

  private void closeWhenTaken(CompletableFuture<Snapshot> taken) {
    var unused =
        taken.thenAccept(
            snapshot -> {
              try {
                snapshot.file().close();
              } catch (IOException e) {
                log.accept("cluster: a snapshot for a backup: " + e.getMessage());
              }
            });
  }

  @Override
  public void close() {
    List<Long> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(out.keySet());
    }
    all.forEach(this::done);
    reading.shutdown();
  }
}
