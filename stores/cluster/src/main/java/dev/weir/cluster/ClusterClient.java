package dev.weir.cluster;

import dev.weir.Fingerprint;
import dev.weir.Ticker;
import dev.weir.cluster.ClusterSettings.TlsFiles;
import dev.weir.cluster.internal.asking.ClusterLink;
import dev.weir.cluster.internal.asking.PeerRoute;
import dev.weir.cluster.internal.forming.DnsSeeds;
import dev.weir.cluster.internal.map.Charter;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ClusterLevel;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerLoops;
import dev.weir.cluster.internal.peer.PeerSelf;
import dev.weir.cluster.internal.peer.PeerTls;
import dev.weir.cluster.internal.peer.PeerTransport;
import dev.weir.internal.DaemonThreads;
import dev.weir.shared.ClusterMember;
import dev.weir.shared.Resolver;
import dev.weir.shared.StoreSettings;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A client of a cluster that is no member of it: it has no folder, no replica and no vote. Safe for
 * use by many threads.
 *
 * <p>Life cycle: {@link #open}; {@link #join} waits until one of the seeds answers; then {@link
 * #store} decides, whatever becomes of the seeds; {@link #close}.
 */
public final class ClusterClient implements AutoCloseable {
  /*
   * What does a client need? It needs the secret for the fingerprints of keys, which never changes,
   * and the map of the cluster, which does. A seed sends both, once, over a connection on which
   * each side has proven its identity, or which never leaves the machine. From then on the map
   * follows as at a member: each answer has the epoch of the other side's map, and a newer map is
   * requested. So a seed is only needed at the start, and any member can be one.
   *
   * The limits do not depend on the client: it only sends requests, like members to each other, and
   * the answers it receives were committed by a majority.
   */

  private static final long ANSWER_MILLIS = 2_000;
  private static final long PAUSE_NANOS = 100_000_000L;
  private static final int PAUSES_PER_LINE = 50;
  private static final long TICK_MILLIS = 1_000;
  private static final int ASKING_THREADS = 2;

  private final List<Member> seeds;
  private final Ticker ticker;
  private final Consumer<? super String> log;
  private final PeerLoops loops = new PeerLoops(2);
  private final PeerTransport transport;
  private final ClusterLevel level;
  private final @Nullable DnsSeeds behind;
  private final CurrentMap map;
  private final ExecutorService asking;
  private final ScheduledExecutorService polling;
  private volatile UUID cluster = PeerSelf.FORMING;
  private volatile @Nullable Fingerprint fingerprint;

  /**
   * Opens a client, without connecting it yet.
   *
   * @param name of this process; that in its certificate
   * @param seeds members, at least one; those that do not answer are skipped
   * @param resolver finds members by the DNS
   * @param tls null for connections without TLS
   * @param ticker monotonic
   * @param log receives messages for operators, in one line each
   * @throws IOException if one of the files for TLS cannot be used
   */
  public static ClusterClient open(
      String name,
      List<ClusterMember> seeds,
      Resolver resolver,
      @Nullable TlsFiles tls,
      Ticker ticker,
      Consumer<? super String> log)
      throws IOException {
    return open(name, seeds, resolver, tls, ticker, Levels.HERE, log);
  }

  /** Opens a client like {@link #open}, for a process that understands these levels. */
  static ClusterClient open(
      String name,
      List<ClusterMember> seeds,
      Resolver resolver,
      @Nullable TlsFiles tls,
      Ticker ticker,
      Levels able,
      Consumer<? super String> log)
      throws IOException {
    if (seeds.isEmpty()) {
      throw new IllegalArgumentException("seeds: none (expected: at least one member)");
    }
    PeerTls read =
        tls == null ? null : new PeerTls(tls.certificate(), tls.key(), tls.authorities(), log);
    return new ClusterClient(name, seeds, resolver, read, ticker, able, log);
  }

  private ClusterClient(
      String name,
      List<ClusterMember> seeds,
      Resolver resolver,
      @Nullable PeerTls tls,
      Ticker ticker,
      Levels able,
      Consumer<? super String> log) {
    this.level = new ClusterLevel(able);
    this.ticker = ticker;
    this.log = log;
    this.seeds = DnsSeeds.named(seeds);
    PeerSelf self = new PeerSelf(name, Member.NONE, UUID.randomUUID(), () -> cluster, false, level);
    transport = new PeerTransport(self, null, loops, tls, log);
    this.seeds.forEach(transport::learn);
    behind = DnsSeeds.of(seeds, resolver, transport, log);
    map = new CurrentMap("", transport, this::changed);
    // In a pool with timed waits, each hand-over would wake two threads.
    asking =
        Executors.newFixedThreadPool(ASKING_THREADS, DaemonThreads.numbered("weir-cluster-asking"));
    polling =
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-cluster-polling"));
  }

  /**
   * Waits until one of the seeds answers with the charter of its cluster.
   *
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public void join() throws InterruptedException {
    for (int pauses = 0; ; pauses++) {
      String problem = "";
      List<Member> asked = seeds;
      if (behind != null) {
        DnsSeeds.Found found = behind.look();
        asked = found.members();
        problem = found.missing();
      }
      for (Member seed : asked) {
        try {
          welcomed(new ByteReader(ask(seed), 0));
          if (behind != null) {
            behind.begin(() -> true);
          }
          var unused =
              polling.scheduleWithFixedDelay(
                  map::poll, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
          return;
        } catch (PeerException | CompletionException e) {
          problem =
              String.valueOf(e.getCause() == null ? e.getMessage() : e.getCause().getMessage());
        }
      }
      if (pauses % PAUSES_PER_LINE == PAUSES_PER_LINE / 10) {
        log.accept("cluster: waiting for one of its members: " + problem);
      }
      ticker.sleep(PAUSE_NANOS);
    }
  }

  private void changed(ClusterMap next) {
    boolean unused = level.raise(next.level());
    next.members().forEach(behind == null ? transport::learn : transport::learnIfUnknown);
  }

  private byte[] ask(Member seed) throws PeerException {
    return transport
        .link(seed.name(), Cluster.ASKING)
        .call(Cluster.GUEST, new byte[0], ANSWER_MILLIS)
        .toCompletableFuture()
        .join();
  }

  private void welcomed(ByteReader in) {
    Charter charter = Charter.read(in);
    map.offer(ClusterMap.read(in));
    cluster = charter.cluster();
    fingerprint = charter.fingerprint();
  }

  /**
   * Returns a store that decides by the cluster. Closing it closes this too.
   *
   * @throws IllegalStateException if no member has answered yet
   */
  public ClusterStore store(StoreSettings settings) {
    Fingerprint known = fingerprint;
    if (known == null) {
      throw new IllegalStateException("cluster: not known yet (expected: join() before)");
    }
    return new ClusterStore(
        settings,
        new ClusterLink(
            map, map::refresh, new PeerRoute(transport, map, asking), settings, this::close),
        known);
  }

  /** Returns the epoch of the newest map that is known here. */
  long epoch() {
    return map.epoch();
  }

  @Override
  public void close() {
    polling.shutdown();
    asking.shutdown();
    if (behind != null) {
      behind.close();
    }
    transport.close();
    loops.close();
  }
}
