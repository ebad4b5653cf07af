package dev.weir.cluster.internal.forming;

import dev.weir.cluster.Cluster;
import dev.weir.cluster.ClusterSettings;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerLink;
import dev.weir.cluster.internal.peer.PeerLoops;
import dev.weir.cluster.internal.peer.PeerPulse;
import dev.weir.cluster.internal.peer.PeerSelf;
import dev.weir.cluster.internal.peer.PeerTls;
import dev.weir.cluster.internal.peer.PeerTransport;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The connections of a member: its port, those to the other members, and the search for them by the
 * DNS. Safe for use by many threads.
 */
public final class MemberNetwork implements AutoCloseable {
  private static final int LOOPS = 2;

  private final PeerLoops loops = new PeerLoops(LOOPS);
  private final PeerDoor door;
  private final PeerTransport transport;
  private final Optional<DnsSeeds> seeds;
  private final PeerPulse pulse;
  private final Consumer<? super String> log;

  /**
   * Opens the port.
   *
   * @throws IOException if it cannot be opened, or a file for TLS cannot be used
   */
  public MemberNetwork(ClusterSettings settings, PeerSelf self) throws IOException {
    log = settings.log();
    try {
      ClusterSettings.TlsFiles files = settings.tls();
      PeerTls tls =
          files == null
              ? null
              : new PeerTls(files.certificate(), files.key(), files.authorities(), log);
      door = new PeerDoor(self, settings.listen(), loops, tls, log);
      transport = new PeerTransport(self, door, loops, tls, log);
    } catch (IOException | RuntimeException e) {
      loops.close();
      throw e;
    }
    DnsSeeds.named(settings.members()).forEach(transport::learn);
    seeds =
        Optional.ofNullable(DnsSeeds.of(settings.members(), settings.resolver(), transport, log));
    pulse = new PeerPulse(settings.clocks().monotonic());
    PeerPulse.answerAt(door);
  }

  public PeerDoor door() {
    return door;
  }

  public PeerTransport transport() {
    return transport;
  }

  /** Returns the search for members by the DNS; empty if the operator has listed all of them. */
  Optional<DnsSeeds> seeds() {
    return seeds;
  }

  /**
   * Searches for members by the DNS from now on, if the operator has not listed them.
   *
   * @param connected returns whether no member is missing
   */
  public void search(BooleanSupplier connected) {
    seeds.ifPresent(each -> each.begin(connected));
  }

  /** Ends the search. */
  public void endSearch() {
    seeds.ifPresent(DnsSeeds::close);
  }

  /** Sets the address of a member, unless a better source has given one. */
  public void learn(Member member, boolean configured) {
    if (seeds.isPresent()) {
      transport.learnIfUnknown(member); // The DNS is newer.
    } else if (!configured) {
      transport.learn(member);
    }
  }

  /** Connects now, before the first call needs it. */
  public void connect(String member) {
    try {
      PeerLink unused = transport.link(member, Cluster.ASKING);
    } catch (PeerException e) {
      log.accept("cluster: " + e.getMessage());
    }
  }

  /** Measures the time to another member; returns false if this is closed. */
  public boolean beat(String member) {
    try {
      pulse.beat(member, transport.link(member, Cluster.ASKING));
      return true;
    } catch (PeerException e) {
      return false;
    }
  }

  /** Returns the times to the other members. */
  public Map<String, Long> roundTrips() {
    return pulse.roundTrips();
  }

  /** Closes the port, and the threads of all connections, which are closed before. */
  @Override
  public void close() {
    try {
      door.close();
    } finally {
      loops.close();
    }
  }
}
