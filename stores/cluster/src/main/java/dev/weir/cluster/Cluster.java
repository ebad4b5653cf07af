package dev.weir.cluster;

import dev.weir.cluster.internal.asking.ClusterLink;
import dev.weir.cluster.internal.asking.GroupRoutes;
import dev.weir.cluster.internal.asking.OwnGroup;
import dev.weir.cluster.internal.asking.OwnGroups;
import dev.weir.cluster.internal.forming.Admissions;
import dev.weir.cluster.internal.forming.DnsSeeds;
import dev.weir.cluster.internal.forming.Formation;
import dev.weir.cluster.internal.forming.LevelRaise;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.log.RatisEngine;
import dev.weir.cluster.internal.log.RatisSettings;
import dev.weir.cluster.internal.map.Charter;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.map.PeerSlots;
import dev.weir.cluster.internal.map.Rebalancer;
import dev.weir.cluster.internal.map.Seating;
import dev.weir.cluster.internal.map.SlotChanges;
import dev.weir.cluster.internal.operating.Backups;
import dev.weir.cluster.internal.operating.ClusterHealth;
import dev.weir.cluster.internal.operating.ClusterOperations;
import dev.weir.cluster.internal.operating.DiskRoom;
import dev.weir.cluster.internal.operating.HandOver;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.ClusterLevel;
import dev.weir.cluster.internal.peer.Identity;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.peer.PeerLink;
import dev.weir.cluster.internal.peer.PeerLoops;
import dev.weir.cluster.internal.peer.PeerPulse;
import dev.weir.cluster.internal.peer.PeerSelf;
import dev.weir.cluster.internal.peer.PeerTls;
import dev.weir.cluster.internal.peer.PeerTransport;
import dev.weir.internal.DaemonThreads;
import dev.weir.shared.ClusterMember;
import dev.weir.shared.StoreSettings;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One member of a cluster: its logs, its replicas, and its connections to the other members. Safe
 * for use by many threads.
 *
 * <p>Life cycle: {@link #open} takes the folder and the port; {@link #form} waits until the cluster
 * is formed; then {@link #store} decides; {@link #close} hands over the groups that this member
 * leads.
 */
public final class Cluster implements AutoCloseable {
  /*
   * The request path of a decision: ClusterStore, its Caller for the key's group, GroupShard, then
   * here (Route): in this process, or over a PeerLink and the other member's PeerDoor; GroupLeader
   * refuses early what its state refuses; the Ledger stamps, replicates and flushes; GroupMachine
   * calls the Replica, which decides; and the reply takes the same path back.
   *
   * Which thread does what? Netty's loops read and write frames. The pool `asking` runs the early
   * refusals and hands replies on, so that neither a loop nor Ratis's applying thread waits for the
   * other. Ratis appends on a thread of each group, and applies on another. Only opening, forming
   * and closing wait for a disk or for another member.
   */

  /** The request of a process that is no member, for the charter and the map. */
  static final int GUEST = PeerFrame.FIRST_REQUEST + 41;

  /** The purpose of the connections for all requests but Raft's. */
  public static final String ASKING = "ask";

  private static final long TICK_MILLIS = 1_000;

  /** The pause before a failed step of a slot's move is repeated, while any slot has to move. */
  private static final long MOVING_MILLIS = 100;

  private static final int ASKING_THREADS = 4;

  private final ClusterSettings settings;
  private final Consumer<? super String> log;
  private final List<Member> members;
  private final FileChannel lock;
  private final DiskRoom room;
  private final PeerLoops loops;
  private final PeerDoor door;
  private final PeerTransport transport;
  private final Formation formation;
  private final @Nullable DnsSeeds seeds;
  private final ExecutorService asking;
  private final ScheduledExecutorService ticking;
  private final CurrentMap map;
  private final ScheduledExecutorService seating;
  private final UUID incarnation;
  private final ClusterLevel level;
  private final int raiseRounds;
  private final Admissions admissions;
  private final SlotChanges changes;
  private final Backups backups;
  private final PeerPulse pulse;
  private final OwnGroups groups;
  private final GroupRoutes routes;
  private final ClusterHealth health;
  private final ClusterOperations operations;
  private @Nullable RatisEngine engine;
  private volatile @Nullable Charter charter;
  private final AtomicBoolean open = new AtomicBoolean(true);

  private Cluster(ClusterSettings settings, int raiseRounds, FileChannel lock) throws IOException {
    this.settings = settings;
    this.raiseRounds = raiseRounds;
    this.log = settings.log();
    this.lock = lock;
    Set<Integer> kept = RatisEngine.kept(settings.folder().resolve("groups"));
    int begun = kept.isEmpty() ? settings.groups() : kept.size();
    this.room = new DiskRoom(settings.folder(), () -> engine == null ? begun : groupCount(), log);
    room.begin();
    this.members = DnsSeeds.named(settings.members());
    this.incarnation = Identity.of(settings.folder(), settings.name());
    Levels able = Levels.upTo(settings.levelMost());
    this.level = new ClusterLevel(able, Identity.level(settings.folder(), able));
    this.formation =
        new Formation(
            settings.folder(),
            settings.name(),
            incarnation,
            settings.zone(),
            members,
            settings.members().stream().anyMatch(ClusterMember::standsForAll),
            settings.size(),
            settings.groups(),
            settings.replicas(),
            settings.clocks().monotonic(),
            log);
    ClusterSettings.TlsFiles files = settings.tls();
    PeerTls tls =
        files == null
            ? null
            : new PeerTls(files.certificate(), files.key(), files.authorities(), log);
    this.loops = new PeerLoops(2);
    PeerSelf self =
        new PeerSelf(
            settings.name(), incarnation, UUID.randomUUID(), formation::cluster, true, level);
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
    this.seeds = DnsSeeds.of(settings.members(), settings.resolver(), transport, log);
    DnsSeeds.answerAt(door, formation.self());
    this.map = new CurrentMap(settings.name(), transport, this::changed);
    // In a pool with timed waits, each hand-over would wake two threads.
    this.asking =
        Executors.newFixedThreadPool(ASKING_THREADS, DaemonThreads.numbered("weir-cluster-asking"));
    this.ticking =
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-cluster-ticking"));
    this.seating =
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-cluster-seating"));
    this.groups = new OwnGroups(settings, map, level, this::raised, asking);
    this.changes = new SlotChanges(this::changeMap);
    this.admissions = new Admissions(() -> groups.ledger(0), () -> charter, map, transport, log);
    admissions.answerAt(door, asking);
    backups =
        new Backups(
            settings.name(),
            number -> {
              OwnGroup here = groups.get(number);
              return here == null ? null : new Backups.Here(here.ledger(), here.replica());
            },
            () -> charter,
            map,
            transport,
            settings.clocks().monotonic(),
            log);
    backups.answerAt(door);
    formation.answerAt(door, asking);
    map.answerAt(door, asking);
    door.registerForAll(GUEST, asking, (from, payload) -> welcome());
    routes = new GroupRoutes(settings.name(), groups, map, transport, asking);
    routes.answerAt(door);
    health =
        new ClusterHealth(
            settings,
            incarnation,
            members,
            () -> charter,
            groups,
            map,
            level,
            room,
            door,
            transport);
    health.answerAt(asking);
    operations =
        new ClusterOperations(
            settings.name(),
            groups,
            map,
            health,
            admissions,
            transport,
            settings.clocks().wall(),
            asking);
    operations.answerAt(door);
    pulse = new PeerPulse(settings.clocks().monotonic());
    PeerPulse.answerAt(door);
    HandOver.answerAt(door, () -> open.get() && !room.low());
  }

  private int groupCount() {
    return groups.all().size();
  }

  /**
   * Takes the folder and the port, and listens for other members.
   *
   * @throws IOException if another process has the folder or the port, or one of the files cannot
   *     be used
   */
  public static Cluster open(ClusterSettings settings) throws IOException {
    return open(settings, LevelRaise.ROUNDS);
  }

  /**
   * Opens a member like {@link #open}, which raises the level in force after all members have
   * agreed for that many seconds.
   */
  static Cluster open(ClusterSettings settings, int raiseRounds) throws IOException {
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
      return new Cluster(settings, raiseRounds, lock);
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

  /** Applies a newer map; an address that the operator has configured takes precedence over it. */
  private void changed(ClusterMap newer) {
    raised(newer.level());
    for (Member each : newer.members()) {
      if (seeds != null) {
        transport.learnIfUnknown(each); // The DNS is newer.
      } else if (members.stream().noneMatch(known -> known.name().equals(each.name()))) {
        transport.learn(each);
      }
      if (!each.name().equals(settings.name())) {
        connect(each.name());
      }
    }
  }

  /** Applies the level in force: processes that do not understand it are refused from now on. */
  private void raised(int now) {
    if (!level.raise(now)) {
      return;
    }
    log.accept("cluster: level " + now + " is in force");
    door.look();
    try {
      asking.execute(
          () -> {
            try {
              Identity.raise(settings.folder(), now);
            } catch (IOException e) {
              log.accept("cluster: level " + now + " is not noted in its folder: " + e);
            }
          });
    } catch (RejectedExecutionException e) {
      log.accept("cluster: closed before level " + now + " was noted; its log has it");
    }
  }

  /** Connects now, before the first call needs it. */
  private void connect(String member) {
    try {
      PeerLink unused = transport.link(member, ASKING);
    } catch (PeerException e) {
      log.accept("cluster: " + e.getMessage());
    }
  }

  /**
   * Waits until the cluster is formed, if it is not, and takes part in it.
   *
   * @throws IOException if the cluster cannot be formed, or the content of the folder cannot be
   *     used
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public void form() throws IOException, InterruptedException {
    Charter formed = formation.await(transport, seeds);
    RatisSettings ratis =
        RatisSettings.in(settings.folder().resolve("groups"))
            .withElection(settings.electionTimeout(), settings.electionTimeout().multipliedBy(2));
    RatisEngine started = new RatisEngine(transport, ratis);
    engine = started;
    charter = formed;
    ClusterMap joined = formation.map();
    map.offer(joined == null ? ClusterMap.first(formed) : joined);
    Member self = formation.self();
    groups.begin(self, formed.founded(settings.name(), incarnation), formed, started);
    if (seeds != null) {
      seeds.begin(this::connected);
    }
    Seating rounds = new Seating(self, map, groups, health::status, log);
    LevelRaise raise =
        new LevelRaise(
            level.able(), map, health::status, formation.formedNow() ? 1 : raiseRounds, log);
    var unused =
        ticking.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
    Rebalancer rebalancer =
        new Rebalancer(
            new PeerSlots(map, routes::askOfSlot, changes),
            () -> groups.leads(0),
            map,
            settings.clocks().monotonic(),
            ticking,
            log);
    moveLater(rebalancer, MOVING_MILLIS);
    unused =
        seating.scheduleWithFixedDelay(
            () -> {
              rounds.round();
              admissions.announce(self);
              groups.raise(raise);
            },
            TICK_MILLIS / 4,
            TICK_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  /** Returns whether there is a connection to each other member. */
  private boolean connected() {
    return map.get().members().stream()
        .map(Member::name)
        .allMatch(name -> name.equals(settings.name()) || transport.connected(name, ASKING));
  }

  /**
   * Returns a store that decides by the cluster. Closing it closes this too.
   *
   * @throws IllegalStateException if the cluster is not formed yet
   */
  public ClusterStore store(StoreSettings storeSettings) {
    Charter formed = formed();
    return new ClusterStore(
        storeSettings,
        new ClusterLink(map, map::refresh, routes::ask, storeSettings, this::close),
        formed.fingerprint());
  }

  private Charter formed() {
    Charter known = charter;
    if (known == null) {
      throw new IllegalStateException("cluster: not formed yet (expected: form() before)");
    }
    return known;
  }

  /** Polls the other members, and runs the periodic work of the groups. */
  private void tick() {
    map.poll();
    for (Member each : map.get().members()) {
      if (!each.name().equals(settings.name())) {
        try {
          pulse.beat(each.name(), transport.link(each.name(), ASKING));
        } catch (PeerException e) {
          return; // This is closed.
        }
      }
    }
    room.look();
    backups.expire();
    boolean leaves = room.low() && map.get().members().size() > 1;
    for (OwnGroup each : groups.all()) {
      try {
        each.tick(leaves);
      } catch (IOException | RuntimeException e) {
        log.accept("cluster: group " + each.number() + ": " + e.getMessage());
      }
    }
  }

  /** Changes the map, if this member leads group 0; see {@link CurrentMap#change}. */
  CompletionStage<ClusterMap> changeMap(UnaryOperator<ClusterMap> step) {
    Ledger zero = groups.ledger(0);
    return zero == null
        ? CompletableFuture.failedStage(
            new LedgerException(Outcome.NOT_LEADER, null, "this member does not have group 0"))
        : map.change(zero, step)
            .toCompletableFuture()
            .orTimeout(PeerSlots.ANSWER_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void moveLater(Rebalancer rebalancer, long millis) {
    var unused = ticking.schedule(() -> move(rebalancer), millis, TimeUnit.MILLISECONDS);
  }

  /** Moves slots, again and again: less often while all are in their places. */
  private void move(Rebalancer rebalancer) {
    if (!open.get()) {
      return;
    }
    long pause = MOVING_MILLIS;
    try {
      rebalancer.tick();
      pause = rebalancer.rests() ? TICK_MILLIS : MOVING_MILLIS;
    } catch (RuntimeException e) {
      log.accept("cluster: slots do not move: " + e);
    }
    moveLater(rebalancer, pause);
  }

  /**
   * Returns the charter and the map for a process that is no member, which has proven its identity
   * by its certificate.
   */
  private CompletionStage<byte[]> welcome() throws IOException {
    Charter known = charter;
    if (known == null) {
      throw new IOException(settings.name() + " is not a member of a cluster yet");
    }
    ByteWriter out = new ByteWriter();
    known.write(out);
    map.get().write(out);
    return CompletableFuture.completedStage(out.toBytes());
  }

  /** Returns a snapshot of this member's counters. */
  public ClusterMetrics metrics() {
    return new ClusterMetrics(
        groups.all().stream().map(OwnGroup::metrics).toList(), pulse.roundTrips());
  }

  /** Returns whether each group of this member has a known leader. */
  public boolean led() {
    return groups.all().stream().allMatch(each -> each.ledger().leader() != null);
  }

  /**
   * Returns true if {@link #led} holds, and this member has applied all or nearly all entries known
   * to be committed.
   */
  public boolean caughtUp() {
    return led()
        && groups.all().stream()
            .map(each -> each.ledger().status())
            .allMatch(each -> each.committed() - each.applied() < ClusterStatus.MOST_BEHIND);
  }

  /** Returns the levels of the groups that this member has. */
  Set<Integer> levels() {
    return groups.all().stream().map(OwnGroup::level).collect(Collectors.toSet());
  }

  /** Requests the status of all members; those that do not answer within a second are down. */
  public ClusterStatus status() {
    return health.status();
  }

  /**
   * Removes a member for good: its replicas go to others.
   *
   * @param force true to remove it even if it is up
   * @throws IOException if it may not be removed, or no member leads group 0; the message gives the
   *     reason
   */
  public void remove(String name, boolean force) throws IOException {
    operations.remove(name, force);
  }

  /**
   * Moves replicas and slots to their places; slots also move by themselves.
   *
   * @param dryRun true to return the moves without making them
   * @return a line for each group whose replicas move, and for each two groups between which slots
   *     move
   * @throws IOException if no member leads group 0
   */
  public List<String> rebalance(boolean dryRun) throws IOException {
    return operations.rebalance(dryRun);
  }

  /** Returns the places of the keys, by the newest known map. */
  SlotsStatus slots() {
    return SlotsStatus.of(map.get());
  }

  /**
   * Adds groups to share the keys: slots move to them while requests go on.
   *
   * @param number the new number of groups: at least the present number, and at most 256
   * @throws IOException if the number is out of range, or no member leads group 0; the message
   *     gives the reason
   */
  public void raiseGroups(int number) throws IOException {
    operations.raiseGroups(number);
  }

  /**
   * Transfers the leadership of a group to a member.
   *
   * @throws IOException if it did not take over; the message gives the reason
   */
  public void transfer(int group, String name) throws IOException {
    operations.transfer(group, name);
  }

  /**
   * Sets the calendar of each group to the time of this member's wall clock, if it is behind that:
   * for use after the cluster was away for longer than members' clocks may be off.
   *
   * @throws IOException if a group has no leader, or its leader does not answer; the calendars of
   *     the groups before it are set
   */
  public void setCalendar() throws IOException {
    operations.setCalendar();
  }

  /**
   * Answers a request of {@link ClusterBackup}.
   *
   * @return fails with an {@link IOException} that gives the reason
   */
  public CompletionStage<byte[]> backup(byte[] question) {
    return backups.ask(question);
  }

  /**
   * Hands the groups that this member leads over to others, as far as they can take them soon.
   * Blocks.
   */
  void handOver() {
    new HandOver(settings.name(), name -> HandOver.ask(transport, name), asking, log)
        .run(groups.ledgers(), HandOver.MOST_MILLIS);
  }

  /** Hands over the groups that this member leads, and takes no part until it is opened again. */
  @Override
  public void close() {
    if (!open.getAndSet(false)) {
      return;
    }
    seating.shutdownNow();
    if (seeds != null) {
      seeds.close();
    }
    handOver();
    ticking.shutdown();
    backups.close();
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
