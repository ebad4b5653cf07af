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
 * <p>Life cycle: {@link Builder#open}; {@link #join} waits until one of the seeds answers; then
 * {@link #store} decides, whatever becomes of the seeds; {@link #close}.
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
  private static final int LOOPS = 2;

  private final List<Member> seeds;
  private final Ticker ticker;
  private final Consumer<? super String> log;
  private final PeerLoops loops;
  private final PeerTransport transport;
  private final ClusterLevel level;
  private final @Nullable DnsSeeds behind;
  private final CurrentMap map;
  private final ExecutorService asking;
  private final ScheduledExecutorService polling;
  private volatile UUID cluster = PeerSelf.FORMING;
  private volatile @Nullable Fingerprint fingerprint;

  private ClusterClient(Builder settings) throws IOException {
    level = new ClusterLevel(settings.able);
    ticker = settings.ticker;
    log = settings.log;
    seeds = DnsSeeds.named(settings.seeds);
    TlsFiles files = settings.tls;
    PeerTls tls =
        files == null
            ? null
            : new PeerTls(files.certificate(), files.key(), files.authorities(), log);
    PeerSelf self =
        new PeerSelf(settings.name, Member.NONE, UUID.randomUUID(), () -> cluster, false, level);
    loops = new PeerLoops(LOOPS);
    transport = new PeerTransport(self, null, loops, tls, log);
    seeds.forEach(transport::learn);
    behind = DnsSeeds.of(settings.seeds, settings.resolver, transport, log);
    map = new CurrentMap("", transport, this::changed);
    // In a pool with timed waits, each hand-over would wake two threads.
    asking =
        Executors.newFixedThreadPool(ASKING_THREADS, DaemonThreads.numbered("weir-cluster-asking"));
    polling =
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-cluster-polling"));
  }

  /**
   * Returns a builder of a client.
   *
   * @param name of this process; that in its certificate
   * @param seeds members, at least one; those that do not answer are skipped
   */
  public static Builder builder(String name, List<ClusterMember> seeds) {
    return new Builder(name, seeds);
  }

  /** A builder of a {@link ClusterClient}. Not safe for use by several threads. */
  public static final class Builder {
    private final String name;
    private final List<ClusterMember> seeds;
    private Resolver resolver = Resolver.system();
    private @Nullable TlsFiles tls;
    private Ticker ticker = Ticker.system();
    private Levels able = Levels.HERE;
    private Consumer<? super String> log = line -> {};

    private Builder(String name, List<ClusterMember> seeds) {
      if (seeds.isEmpty()) {
        throw new IllegalArgumentException("seeds: none (expected: at least one member)");
      }
      this.name = name;
      this.seeds = List.copyOf(seeds);
    }

    /** Sets the search for members by the DNS. Default: the system's. */
    public Builder resolver(Resolver newResolver) {
      resolver = newResolver;
      return this;
    }

    /** Sets the files for TLS; null for connections without TLS, the default. */
    public Builder tls(@Nullable TlsFiles files) {
      tls = files;
      return this;
    }

    /** Sets the monotonic clock. Default: the system's. */
    public Builder ticker(Ticker newTicker) {
      ticker = newTicker;
      return this;
    }

    /** Sets the levels that the process understands. */
    Builder able(Levels levels) {
      able = levels;
      return this;
    }

    /** Sets the receiver of messages for operators, in one line each. Default: none. */
    public Builder log(Consumer<? super String> receiver) {
      log = receiver;
      return this;
    }

    /**
     * Opens the client, without connecting it yet.
     *
     * @throws IOException if one of the files for TLS cannot be used
     */
    public ClusterClient open() throws IOException {
      return new ClusterClient(this);
    }
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
        DnsSeeds.Found found = behind.resolve();
        asked = found.members();
        problem = found.missing();
      }
      for (Member seed : asked) {
        try {
          welcomed(new ByteReader(call(seed), 0));
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

  private byte[] call(Member seed) throws PeerException {
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
