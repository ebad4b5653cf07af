package dev.weir.cluster;

import dev.weir.cluster.internal.asking.ClusterLink;
import dev.weir.cluster.internal.asking.GroupRoutes;
import dev.weir.cluster.internal.asking.OwnGroup;
import dev.weir.cluster.internal.asking.OwnGroups;
import dev.weir.cluster.internal.forming.Admissions;
import dev.weir.cluster.internal.forming.DnsSeeds;
import dev.weir.cluster.internal.forming.Formation;
import dev.weir.cluster.internal.forming.LevelRaise;
import dev.weir.cluster.internal.forming.MemberNetwork;
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
import dev.weir.cluster.internal.map.SlotChanges;
import dev.weir.cluster.internal.map.SlotMover;
import dev.weir.cluster.internal.map.VoterChange;
import dev.weir.cluster.internal.operating.Backups;
import dev.weir.cluster.internal.operating.ClusterHealth;
import dev.weir.cluster.internal.operating.ClusterOperations;
import dev.weir.cluster.internal.operating.HandOver;
import dev.weir.cluster.internal.operating.MemberFolder;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.peer.PeerSelf;
import dev.weir.cluster.internal.peer.PeerTransport;
import dev.weir.shared.ClusterMember;
import dev.weir.shared.StoreSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
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

  /** The longest wait of a start for what other members remember of this one. */
  private static final Duration MOST_COMPARING = Duration.ofMillis(500);

  private final ClusterSettings settings;
  private final int raiseRounds;
  private final MemberFolder folder;
  private final Formation formation;
  private final MemberNetwork network;
  private final MemberThreads threads;
  private final CurrentMap map;
  private final OwnGroups groups;
  private final GroupRoutes routes;
  private final OperatorParts operators;
  private volatile @Nullable FormedCluster formed;
  private final AtomicBoolean open = new AtomicBoolean(true);

  /** The facts of a cluster that is formed. */
  private record FormedCluster(Charter charter, RatisEngine engine) {}

  private Cluster(ClusterSettings settings, int raiseRounds) throws IOException {
    this.settings = settings;
    this.raiseRounds = raiseRounds;
    folder = MemberFolder.open(settings, begun -> formed == null ? begun : groupCount());
    try {
      formation = new Formation(settings, folder.incarnation());
      network =
          new MemberNetwork(
              settings,
              new PeerSelf(
                  settings.name(),
                  folder.incarnation(),
                  UUID.randomUUID(),
                  formation::cluster,
                  true,
                  folder.level()));
    } catch (IOException | RuntimeException e) {
      folder.close();
      throw e;
    }
    threads = MemberThreads.start();
    map = new CurrentMap(settings.name(), network.transport(), this::changed);
    groups = new OwnGroups(settings, map, folder.level(), this::raised, threads.asking());
    routes = new GroupRoutes(settings.name(), groups, map, network.transport(), threads.asking());
    operators = operators();
    answer();
  }

  private OperatorParts operators() {
    PeerTransport transport = network.transport();
    Admissions admissions =
        new Admissions(() -> groups.ledger(0), this::charter, map, transport, settings.log());
    Backups backups = new Backups(settings, this::group, this::charter, map, transport);
    ClusterHealth health = new ClusterHealth(settings, folder, this::charter, groups, map, network);
    ClusterOperations operations =
        new ClusterOperations(settings, groups, map, health, admissions, transport);
    return new OperatorParts(admissions, backups, health, operations);
  }

  private Backups.@Nullable LocalGroup group(int number) {
    OwnGroup here = groups.get(number);
    return here == null ? null : new Backups.LocalGroup(here.ledger(), here.replica());
  }

  private @Nullable Charter charter() {
    FormedCluster known = formed;
    return known == null ? null : known.charter();
  }

  /** Registers the handlers of requests from other members. */
  private void answer() {
    PeerDoor door = network.door();
    Executor asking = threads.asking();
    DnsSeeds.answerAt(door, formation.self());
    operators.admissions().answerAt(door, asking);
    operators.backups().answerAt(door);
    formation.answerAt(door, asking);
    map.answerAt(door, asking);
    door.registerForAll(GUEST, asking, (from, payload) -> welcome());
    routes.answerAt(door);
    operators.health().answerAt(asking);
    operators.operations().answerAt(door, asking);
    HandOver.answerAt(door, () -> open.get() && !folder.room().low());
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
    return new Cluster(settings, raiseRounds);
  }

  /** Applies a newer map; an address that the operator has configured takes precedence over it. */
  private void changed(ClusterMap newer) {
    raised(newer.level());
    Set<String> configured =
        settings.members().stream()
            .filter(each -> !each.standsForAll())
            .map(ClusterMember::name)
            .collect(Collectors.toSet());
    for (Member each : newer.members()) {
      network.learn(each, configured.contains(each.name()));
      if (!each.name().equals(settings.name())) {
        network.connect(each.name());
      }
    }
  }

  /** Applies the level in force: processes that do not understand it are refused from now on. */
  private void raised(int now) {
    if (!folder.level().raise(now)) {
      return;
    }
    Consumer<? super String> log = settings.log();
    log.accept("cluster: level " + now + " is in force");
    network.door().check();
    try {
      threads
          .asking()
          .execute(
              () -> {
                try {
                  folder.raise(now);
                } catch (IOException e) {
                  log.accept("cluster: level " + now + " is not noted in its folder: " + e);
                }
              });
    } catch (RejectedExecutionException e) {
      log.accept("cluster: closed before level " + now + " was noted; its log has it");
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
    Charter charter = formation.await(network);
    RatisSettings ratis =
        RatisSettings.in(folder.logs())
            .withElection(settings.electionTimeout(), settings.electionTimeout().multipliedBy(2));
    RatisEngine engine = new RatisEngine(network.transport(), ratis);
    formed = new FormedCluster(charter, engine);
    ClusterMap joined = formation.map();
    map.offer(joined == null ? ClusterMap.first(charter) : joined);
    Member self = formation.self();
    groups.begin(self, charter.founded(settings.name(), folder.incarnation()), charter, engine);
    engine.compareFolder(others(), MOST_COMPARING);
    network.search(this::connected);
    repeat(self);
    new SlotMover(rebalancer(), threads.ticking(), open::get, settings.log()).begin();
  }

  /** Returns the names of the other members. */
  private List<String> others() {
    return map.get().members().stream()
        .map(Member::name)
        .filter(name -> !name.equals(settings.name()))
        .toList();
  }

  /** Begins the periodic work. */
  private void repeat(Member self) {
    ClusterHealth health = operators.health();
    VoterChange rounds = new VoterChange(self, map, groups, health::status, settings.log());
    LevelRaise raise =
        new LevelRaise(
            folder.level().able(),
            map,
            health::status,
            formation.formedNow() ? 1 : raiseRounds,
            settings.log());
    var unused =
        threads
            .ticking()
            .scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
    unused =
        threads
            .ticking()
            .scheduleWithFixedDelay(
                this::observeFlushes, TICK_MILLIS, TICK_MILLIS / 10, TimeUnit.MILLISECONDS);
    unused =
        threads
            .seating()
            .scheduleWithFixedDelay(
                () -> {
                  rounds.round();
                  operators.admissions().announce(self);
                  groups.raise(raise);
                },
                TICK_MILLIS / 4,
                TICK_MILLIS,
                TimeUnit.MILLISECONDS);
  }

  private Rebalancer rebalancer() {
    SlotChanges changes = new SlotChanges(this::changeMap);
    return new Rebalancer(
        new PeerSlots(map, routes::sendForSlot, changes),
        () -> groups.leads(0),
        map,
        settings.clocks().monotonic(),
        threads.ticking(),
        settings.log());
  }

  /** Returns whether there is a connection to each other member. */
  private boolean connected() {
    return map.get().members().stream()
        .map(Member::name)
        .allMatch(
            name -> name.equals(settings.name()) || network.transport().connected(name, ASKING));
  }

  /**
   * Returns a store that decides by the cluster. Closing it closes this too.
   *
   * @throws IllegalStateException if the cluster is not formed yet
   */
  public ClusterStore store(StoreSettings storeSettings) {
    Charter known = charter();
    if (known == null) {
      throw new IllegalStateException("cluster: not formed yet (expected: form() before)");
    }
    return new ClusterStore(
        storeSettings,
        new ClusterLink(map, map::refresh, routes::send, storeSettings, this::close),
        known.fingerprint());
  }

  private void observeFlushes() {
    for (OwnGroup each : groups.all()) {
      try {
        each.observeFlushes();
      } catch (
          RuntimeException e) { // Its log may be closing; the others are observed all the same.
        settings.log().accept("cluster: group " + each.number() + ": " + e.getMessage());
      }
    }
  }

  /** Polls the other members, and runs the periodic work of the groups. */
  private void tick() {
    map.poll();
    for (Member each : map.get().members()) {
      if (!each.name().equals(settings.name()) && !network.beat(each.name())) {
        return; // This is closed.
      }
    }
    FormedCluster known = formed;
    if (known != null) {
      known.engine().reportPromises(others());
    }
    folder.room().check();
    operators.backups().expire();
    boolean leaves = folder.room().low() && map.get().members().size() > 1;
    for (OwnGroup each : groups.all()) {
      try {
        each.tick(leaves);
      } catch (IOException | RuntimeException e) {
        settings.log().accept("cluster: group " + each.number() + ": " + e.getMessage());
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

  /**
   * Returns the charter and the map for a process that is no member, which has proven its identity
   * by its certificate.
   */
  private CompletionStage<byte[]> welcome() throws IOException {
    Charter known = charter();
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
        groups.all().stream().map(OwnGroup::metrics).toList(), network.roundTrips());
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
    return operators.health().status();
  }

  /**
   * Removes a member for good: its replicas go to others.
   *
   * @param force true to remove it even if it is up
   * @throws IOException if it may not be removed, or no member leads group 0; the message gives the
   *     reason
   */
  public void remove(String name, boolean force) throws IOException {
    operators.operations().remove(name, force);
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
    return operators.operations().rebalance(dryRun);
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
    operators.operations().raiseGroups(number);
  }

  /**
   * Transfers the leadership of a group to a member.
   *
   * @throws IOException if it did not take over; the message gives the reason
   */
  public void transfer(int group, String name) throws IOException {
    operators.operations().transfer(group, name);
  }

  /**
   * Sets the calendar of each group to the time of this member's wall clock, if it is behind that:
   * for use after the cluster was away for longer than members' clocks may be off.
   *
   * @throws IOException if a group has no leader, or its leader does not answer; the calendars of
   *     the groups before it are set
   */
  public void setCalendar() throws IOException {
    operators.operations().setCalendar();
  }

  /**
   * Answers a request of {@link ClusterBackup}.
   *
   * @return fails with an {@link IOException} that gives the reason
   */
  public CompletionStage<byte[]> backup(byte[] question) {
    return operators.backups().answer(question);
  }

  /**
   * Hands the groups that this member leads over to others, as far as they can take them soon.
   * Blocks.
   */
  void handOver() {
    new HandOver(
            settings.name(),
            name -> HandOver.isWilling(network.transport(), name),
            threads.asking(),
            settings.log())
        .run(groups.ledgers(), HandOver.MOST_MILLIS);
  }

  /** Hands over the groups that this member leads, and takes no part until it is opened again. */
  @Override
  public void close() {
    if (!open.getAndSet(false)) {
      return;
    }
    threads.seating().shutdownNow();
    network.endSearch();
    handOver();
    threads.ticking().shutdown();
    operators.backups().close();
    threads.asking().shutdown();
    FormedCluster known = formed;
    closeQuietly(known == null ? network.transport() : known.engine());
    closeQuietly(network);
    closeQuietly(folder);
  }

  private void closeQuietly(AutoCloseable some) {
    try {
      some.close();
    } catch (Exception e) {
      settings.log().accept("cluster: " + e.getMessage());
    }
  }
}
