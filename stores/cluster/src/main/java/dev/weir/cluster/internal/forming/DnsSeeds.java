package dev.weir.cluster.internal.forming;

import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.peer.PeerLink;
import dev.weir.cluster.internal.peer.PeerTransport;
import dev.weir.internal.DaemonThreads;
import dev.weir.shared.ClusterMember;
import dev.weir.shared.Resolver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The search for members behind a name of the DNS, and for those whose addresses have changed. Safe
 * for use by many threads, which it may block.
 */
public final class DnsSeeds implements AutoCloseable {
  /*
   * The DNS has the addresses of members, not their names. So each address is asked for its name,
   * over a connection for any member; over TLS, its certificate must be that of the name that it
   * gives. A member is known by that name from then on, and reached where it was found, until it is
   * found elsewhere. One process may have several addresses, and an address other processes one
   * after the other.
   */

  static final int WHO = PeerFrame.FIRST_REQUEST + 27;

  private static final long ANSWER_MILLIS = 1_000;
  private static final long ROUND_MILLIS = 1_000;

  /** The rounds between two searches while no member is missing. */
  private static final int ROUNDS = 5;

  private final ClusterMember seeds;
  private final Resolver resolver;
  private final PeerTransport transport;
  private final Consumer<? super String> log;
  private final Map<InetSocketAddress, PeerLink> links = new ConcurrentHashMap<>();
  private final ScheduledExecutorService looking =
      Executors.newSingleThreadScheduledExecutor(
          DaemonThreads.named("weir-cluster-dns")); // It may block on the DNS.
  private int rounds;
  private volatile boolean closed;
  private String lastProblem = "";

  /**
   * The result of a search.
   *
   * @param members that answered, by name, including this one if it did; with the addresses that
   *     they give
   * @param missing addresses at which none answered, or the reason why there are no addresses;
   *     empty if all answered
   */
  public record Found(List<Member> members, String missing) {}

  /**
   * Creates a search.
   *
   * @param seeds the stand-in for the members
   */
  private DnsSeeds(
      ClusterMember seeds,
      Resolver resolver,
      PeerTransport transport,
      Consumer<? super String> log) {
    this.seeds = seeds;
    this.resolver = resolver;
    this.transport = transport;
    this.log = log;
  }

  /** Returns the search for members for which a list has a name of the DNS; null if it has none. */
  public static @Nullable DnsSeeds of(
      List<ClusterMember> listed,
      Resolver resolver,
      PeerTransport transport,
      Consumer<? super String> log) {
    return listed.stream()
        .filter(ClusterMember::standsForAll)
        .findFirst()
        .map(each -> new DnsSeeds(each, resolver, transport, log))
        .orElse(null);
  }

  /** Returns the members that a list names itself. */
  public static List<Member> named(List<ClusterMember> listed) {
    return listed.stream()
        .filter(each -> !each.standsForAll())
        .map(each -> new Member(each.name(), each.host(), each.port()))
        .toList();
  }

  /** Registers the handler that answers with this member's name and address. */
  public static void answerAt(PeerDoor door, Member self) {
    byte[] said = reply(self);
    door.registerForAll(
        WHO, Runnable::run, (from, payload) -> CompletableFuture.completedStage(said.clone()));
  }

  private static byte[] reply(Member self) {
    ByteWriter out = new ByteWriter();
    self.write(out);
    return out.toBytes();
  }

  /**
   * Starts searching again and again, on a thread of its own.
   *
   * @param well returns true if no member is missing; otherwise it searches more often
   */
  public void begin(BooleanSupplier well) {
    var unused =
        looking.scheduleWithFixedDelay(() -> round(well), 0, ROUND_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void round(BooleanSupplier well) {
    try {
      if (rounds++ % ROUNDS == 0 || !well.getAsBoolean()) {
        Found unused = resolve();
      }
    } catch (RuntimeException e) {
      log.accept("cluster: " + e.getMessage());
    }
  }

  /**
   * Resolves the name and calls each of its addresses; updates the addresses of members in the
   * transport.
   */
  public synchronized Found resolve() {
    List<InetSocketAddress> addresses;
    try {
      addresses = addresses();
    } catch (UnknownHostException e) {
      problem("the DNS has no address of " + seeds.host() + ": " + e.getMessage());
      return new Found(List.of(), "the DNS has no address of " + seeds.host());
    }
    drop(addresses);
    Map<InetSocketAddress, CompletableFuture<@Nullable Member>> asked = new LinkedHashMap<>();
    addresses.forEach(each -> asked.put(each, identify(each).toCompletableFuture()));
    Map<String, Member> found = new TreeMap<>();
    List<String> missing = new ArrayList<>();
    asked.forEach(
        (address, answer) -> {
          Member member = joined(answer);
          if (member == null) {
            missing.add(text(address) + " does not answer");
            return;
          }
          Member before = found.put(member.name(), member);
          if (before != null && !before.incarnation().equals(member.incarnation())) {
            missing.add("two members of the name " + member.name() + " answer");
          }
          if (!member.name().equals(transport.self().name())) {
            transport.learn(
                new Member(
                    member.name(),
                    address.getAddress().getHostAddress(),
                    address.getPort(),
                    member.incarnation(),
                    member.zone()));
          }
        });
    problem("");
    return new Found(List.copyOf(found.values()), String.join(", ", missing));
  }

  private List<InetSocketAddress> addresses() throws UnknownHostException {
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (InetAddress each : resolver.addresses(seeds.host())) {
      addresses.add(new InetSocketAddress(each, seeds.port()));
    }
    return addresses;
  }

  private void drop(List<InetSocketAddress> addresses) {
    links
        .entrySet()
        .removeIf(
            each -> {
              boolean gone = !addresses.contains(each.getKey());
              if (gone) {
                each.getValue().close();
              }
              return gone;
            });
  }

  private CompletionStage<@Nullable Member> identify(InetSocketAddress address) {
    PeerLink link =
        links.computeIfAbsent(
            address, to -> transport.linkToAny(to.getAddress().getHostAddress(), to.getPort()));
    if (closed) {
      link.close();
    }
    return link.call(WHO, new byte[0], ANSWER_MILLIS)
        .thenApply(answer -> Member.read(new ByteReader(answer, 0)))
        .thenApply(member -> member.name().equals(link.welcomedBy()) ? member : null);
  }

  private static @Nullable Member joined(CompletableFuture<@Nullable Member> answer) {
    try {
      return answer.orTimeout(2 * ANSWER_MILLIS, TimeUnit.MILLISECONDS).join();
    } catch (CompletionException e) {
      return null; // The next search asks again.
    }
  }

  private static String text(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  private void problem(String words) {
    if (!words.equals(lastProblem)) {
      lastProblem = words;
      if (!words.isEmpty()) {
        log.accept("cluster: " + words);
      }
    }
  }

  /**
   * Stops searching, and closes its connections, so that a search in progress ends soon; the
   * transport closes all others.
   */
  @Override
  public void close() {
    closed = true;
    looking.shutdownNow();
    links.values().forEach(PeerLink::close);
  }
}
