package dev.weir.cluster;

import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.LedgerException.Outcome;
import dev.weir.shared.StoreSettings;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One member of a cluster: its logs, its replicas, and the way to the other members. Safe for use
 * by many threads.
 *
 * <p>Life: {@link #open} takes the folder and the port; {@link #form} waits until the cluster is
 * there; then {@link #store} decides; {@link #close} hands over what this member leads.
 */
public final class Cluster implements AutoCloseable {
  /*
   * The way of a decision: ClusterStore, its Caller for the key's group, GroupShard, then here
   * (Route): in this process, or over a PeerLink and the other member's PeerDoor; GroupLeader sieves
   * what is refused already; the Ledger stamps, replicates and flushes; GroupMachine has the Replica
   * decide; and the reply goes the way back.
   *
   * Which thread does what? Netty's loops read and write frames. The pool `asking` sieves, and hands
   * replies on, so that neither a loop nor Ratis's applying thread waits for the other. Ratis appends
   * on a thread of each group, and applies on another. Nothing here waits for a disk or for another
   * member, except opening, forming and closing.
   */

  private static final int ASK = PeerFrame.FIRST_REQUEST + 17;
  private static final int STATUS = PeerFrame.FIRST_REQUEST + 18;

  private static final int DECIDED = 0;
  private static final int NOT_LEADER = 1;
  private static final int OVERLOADED = 2;
  private static final int UNKNOWN = 3;

  /** The purpose of the connections for all that is not Raft's. */
  private static final String ASKING = "ask";

  /** Far longer than a decision may take: its caller has given it up long before. */
  private static final long ASK_MILLIS = 10_000;

  private static final long STATUS_MILLIS = 1_000;
  private static final long TICK_MILLIS = 1_000;
  private static final int ASKING_THREADS = 4;

  private final ClusterSettings settings;
  private final Consumer<? super String> log;
  private final List<Member> members;
  private final FileChannel lock;
  private final PeerLoops loops;
  private final PeerDoor door;
  private final PeerTransport transport;
  private final Formation formation;
  private final ScheduledExecutorService asking;
  private final List<Group> groups = new ArrayList<>();
  private @Nullable RatisEngine engine;
  private volatile @Nullable Charter charter;
  private final AtomicBoolean open = new AtomicBoolean(true);

  /** A group as this member has it. */
  private record Group(
      int number, Ledger ledger, Replica replica, ClusterTime time, GroupLeader leader) {}

  private Cluster(ClusterSettings settings, FileChannel lock) throws IOException {
    this.settings = settings;
    this.log = settings.log();
    this.lock = lock;
    this.members =
        settings.members().stream()
            .map(each -> new Member(each.name(), each.host(), each.port()))
            .toList();
    this.formation =
        new Formation(
            settings.folder(), settings.name(), members, settings.groups(), settings.ticker(), log);
    ClusterSettings.TlsFiles files = settings.tls();
    PeerTls tls =
        files == null
            ? null
            : new PeerTls(files.certificate(), files.key(), files.authorities(), log);
    this.loops = new PeerLoops(2);
    PeerSelf self = new PeerSelf(settings.name(), UUID.randomUUID(), formation::cluster);
    PeerDoor opened;
    try {
      opened = new PeerDoor(self, settings.listen(), loops, tls, log);
    } catch (IOException | RuntimeException e) {
      loops.close();
      throw e;
    }
    this.door = opened;
    this.transport = new PeerTransport(self, door, loops, tls, log);
    members.forEach(transport::learn);
    this.asking =
        Executors.newScheduledThreadPool(
            ASKING_THREADS,
            task -> {
              Thread thread = new Thread(task, "weir-cluster");
              thread.setDaemon(true);
              return thread;
            });
    formation.answerAt(door, asking);
    door.register(ASK, asking, (from, payload) -> answer(payload));
    door.register(
        STATUS, asking, (from, payload) -> CompletableFuture.completedStage(own().toBytes()));
  }

  /**
   * Takes the folder and the port, and answers other members.
   *
   * @throws IOException if another process has the folder or the port, or one of the files cannot
   *     be used
   */
  public static Cluster open(ClusterSettings settings) throws IOException {
    Path folder = settings.folder();
    Files.createDirectories(folder);
    FileChannel lock =
        FileChannel.open(
            folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      if (tried(lock) == null) {
        throw new IOException(
            folder + " is in use by another member (expected: a folder for each)");
      }
      return new Cluster(settings, lock);
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  private static @Nullable FileLock tried(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }

  /**
   * Waits until the cluster is formed, if it is not, and takes part in it.
   *
   * @throws IOException if the cluster cannot be formed, or what is in the folder cannot be used
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public void form() throws IOException, InterruptedException {
    Charter formed = formation.await(transport);
    RatisSettings ratis =
        RatisSettings.in(settings.folder().resolve("groups"))
            .withElection(settings.electionTimeout(), settings.electionTimeout().multipliedBy(2));
    RatisEngine started = new RatisEngine(transport, ratis);
    engine = started;
    for (int number = 0; number < formed.groups(); number++) {
      ClusterTime time = new ClusterTime(settings.ticker());
      Replica replica = new Replica(formed.fingerprint(), time, asking, log);
      Ledger ledger = started.open(number, members, new GroupMachine(replica, time, log));
      groups.add(
          new Group(
              number,
              ledger,
              replica,
              time,
              new GroupLeader(ledger, replica, time, settings.maxKeys(), settings.maxBytes())));
    }
    for (Member each : members) {
      if (!each.name().equals(settings.name())) {
        PeerLink unused = transport.link(each.name(), ASKING); // Connects now, not at a call.
      }
    }
    charter = formed;
    var unused =
        asking.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /**
   * Returns a store that decides by the cluster. Closing it closes this too.
   *
   * @throws IllegalStateException if the cluster is not formed yet
   */
  public ClusterStore store(StoreSettings storeSettings) {
    Charter formed = formed();
    Placement placement = new Placement(formed.groups());
    return new ClusterStore(
        storeSettings,
        new ClusterLink(placement, formed.names(), this::ask, storeSettings, this::close),
        formed.fingerprint());
  }

  private Charter formed() {
    Charter known = charter;
    if (known == null) {
      throw new IllegalStateException("cluster: not formed yet (expected: form() before)");
    }
    return known;
  }

  /** Lets time pass in the groups that this member leads, so that they forget what has reset. */
  private void tick() {
    for (Group each : groups) {
      try {
        if (each.replica.diverged() && each.ledger.leads()) {
          each.ledger.transfer(null);
        } else if (each.ledger.leads()) {
          Replica.Tick last = each.replica.lastTick();
          var unused = each.ledger.append(Entry.tick(last.index(), last.sum()));
        }
      } catch (IOException | RuntimeException e) {
        log.accept("cluster: group " + each.number + ": " + e.getMessage());
      }
    }
  }

  /** As {@link Route}. */
  private CompletionStage<byte[]> ask(String member, int group, byte[] entry) {
    if (member.equals(settings.name())) {
      return CompletableFuture.supplyAsync(() -> groups.get(group).leader.ask(entry), asking)
          .thenCompose(reply -> reply)
          .thenApplyAsync(reply -> reply, asking);
    }
    byte[] payload = new ByteWriter().writeByte(group).copy(entry, 0, entry.length).toBytes();
    CompletionStage<byte[]> answer;
    try {
      answer = transport.link(member, ASKING).call(ASK, payload, ASK_MILLIS);
    } catch (PeerException e) {
      answer = CompletableFuture.failedStage(e);
    }
    return answer.handleAsync(Cluster::read, asking);
  }

  private static byte[] read(byte @Nullable [] answer, @Nullable Throwable error) {
    if (answer == null) {
      Throwable cause = error != null && error.getCause() != null ? error.getCause() : error;
      boolean certain =
          cause instanceof PeerException known && known.outcome() == PeerException.Outcome.NOT_SENT;
      throw new LedgerException(
          certain ? Outcome.NOT_LEADER : Outcome.UNKNOWN,
          null,
          cause == null ? "no answer" : String.valueOf(cause.getMessage()));
    }
    ByteReader in = new ByteReader(answer, 0);
    int kind = in.readByte();
    if (kind == DECIDED) {
      return in.readBytes();
    }
    String leader = in.readText();
    throw new LedgerException(
        kind == NOT_LEADER
            ? Outcome.NOT_LEADER
            : kind == OVERLOADED ? Outcome.OVERLOADED : Outcome.UNKNOWN,
        leader.isEmpty() ? null : leader,
        in.readText());
  }

  /** Decides what another member asks. */
  private CompletionStage<byte[]> answer(byte[] payload) {
    ByteReader in = new ByteReader(payload, 0);
    int group = in.readByte();
    if (group >= groups.size()) {
      return CompletableFuture.completedStage(
          refusal(NOT_LEADER, null, settings.name() + " does not take part yet"));
    }
    byte[] entry = Arrays.copyOfRange(payload, in.position(), payload.length);
    return groups
        .get(group)
        .leader
        .ask(entry)
        .handle(
            (reply, error) -> {
              if (reply != null) {
                return new ByteWriter().writeByte(DECIDED).writeBytes(reply).toBytes();
              }
              Throwable cause =
                  error != null && error.getCause() != null ? error.getCause() : error;
              if (cause instanceof LedgerException why) {
                return refusal(
                    switch (why.outcome()) {
                      case NOT_LEADER -> NOT_LEADER;
                      case OVERLOADED -> OVERLOADED;
                      case UNKNOWN -> UNKNOWN;
                    },
                    why.leader(),
                    String.valueOf(why.getMessage()));
              }
              return refusal(UNKNOWN, null, String.valueOf(cause));
            });
  }

  private static byte[] refusal(int kind, @Nullable String leader, String words) {
    return new ByteWriter()
        .writeByte(kind)
        .writeText(leader == null ? "" : leader)
        .writeText(words)
        .toBytes();
  }

  /** Returns what this member knows of itself. */
  private ClusterStatus.MemberStatus own() {
    List<GroupStatus> all = new ArrayList<>();
    for (Group each : groups) {
      Ledger.Status status = each.ledger.status();
      Replica.Tick tick = each.replica.lastTick();
      all.add(
          new GroupStatus(
              each.number,
              Objects.requireNonNullElse(status.leader(), ""),
              each.ledger.leads(),
              status.term(),
              status.committed(),
              status.applied(),
              status.logBytes(),
              each.replica.store().keys(),
              each.replica.store().bytes(),
              each.time.appliedNanos(),
              tick.index(),
              tick.sum(),
              each.replica.diverged(),
              each.leader.sieved()));
    }
    return new ClusterStatus.MemberStatus(settings.name(), charter != null, all);
  }

  /** Asks all members how they are; those that do not answer within a second are down. */
  public ClusterStatus status() {
    List<CompletableFuture<ClusterStatus.MemberStatus>> asked = new ArrayList<>();
    for (Member each : members) {
      asked.add(status(each.name()).toCompletableFuture());
    }
    List<ClusterStatus.MemberStatus> all = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      ClusterStatus.MemberStatus down =
          new ClusterStatus.MemberStatus(members.get(i).name(), false, List.of());
      all.add(
          asked
              .get(i)
              .completeOnTimeout(down, STATUS_MILLIS, TimeUnit.MILLISECONDS)
              .exceptionally(error -> down)
              .join());
    }
    Charter formed = charter;
    return new ClusterStatus(
        formed == null ? "" : formed.cluster().toString(),
        settings.name(),
        formed == null ? settings.groups() : formed.groups(),
        all);
  }

  private CompletionStage<ClusterStatus.MemberStatus> status(String member) {
    if (member.equals(settings.name())) {
      return CompletableFuture.completedStage(own());
    }
    try {
      return transport
          .link(member, ASKING)
          .call(STATUS, new byte[0], STATUS_MILLIS)
          .thenApply(ClusterStatus.MemberStatus::read);
    } catch (PeerException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  /** Has other members lead what this one leads, as far as they can. Blocks. */
  void handOver() {
    for (Group each : groups) {
      try {
        if (members.size() > 1 && each.ledger.leads()) {
          each.ledger.transfer(null);
        }
      } catch (IOException | RuntimeException e) {
        log.accept("cluster: group " + each.number + " was not handed over: " + e.getMessage());
      }
    }
  }

  /** Hands over what this member leads, and takes no more part until it is opened again. */
  @Override
  public void close() {
    if (!open.getAndSet(false)) {
      return;
    }
    handOver();
    asking.shutdown();
    closeQuietly(engine == null ? transport : engine);
    closeQuietly(door);
    closeQuietly(loops);
    closeQuietly(lock);
  }

  private void closeQuietly(AutoCloseable some) {
    try {
      some.close();
    } catch (Exception e) {
      log.accept("cluster: " + e.getMessage());
    }
  }
}
