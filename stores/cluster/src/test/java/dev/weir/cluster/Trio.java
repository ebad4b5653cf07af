package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.internal.log.HashMachine;
import dev.weir.cluster.internal.log.HashMachine.Applied;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.RatisEngine;
import dev.weir.cluster.internal.log.RatisSettings;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerLoops;
import dev.weir.cluster.internal.peer.PeerSelf;
import dev.weir.cluster.internal.peer.PeerTransport;
import dev.weir.cluster.internal.peer.Wires;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Three members in this process, connected over the loopback interface. */
public final class Trio implements AutoCloseable {
  public static final List<String> NAMES = List.of("a", "b", "c");
  public static final int GROUP = 3;

  private static final Duration ELECTION_MIN = Duration.ofMillis(700);
  private static final Duration ELECTION_MAX = Duration.ofMillis(1_400);

  private final Path folder;
  private final UnaryOperator<RatisSettings> settings;
  private final @Nullable Wires wires;
  private final int founders;
  private final UUID cluster = UUID.randomUUID();
  private final PeerLoops loops = new PeerLoops(2);
  private final @Nullable Node[] nodes = new Node[3];
  public final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();

  /** A member that runs. */
  public record Node(
      String name,
      PeerDoor door,
      PeerTransport transport,
      RatisEngine engine,
      HashMachine machine,
      Ledger ledger) {}

  public Trio(Path folder) throws IOException {
    this(folder, same -> same, null);
  }

  /** Starts three members, whose connections go over wires if there are any. */
  public Trio(Path folder, UnaryOperator<RatisSettings> settings, @Nullable Wires wires)
      throws IOException {
    this(folder, settings, wires, 3);
  }

  /**
   * Starts those that begin the log: the first ones, up to that number. The others are started to
   * join them.
   */
  public Trio(
      Path folder, UnaryOperator<RatisSettings> settings, @Nullable Wires wires, int founders)
      throws IOException {
    this.folder = folder;
    this.settings = settings;
    this.wires = wires;
    this.founders = founders;
    PeerDoor[] doors = new PeerDoor[founders];
    for (int i = 0; i < founders; i++) {
      doors[i] = door(i);
    }
    for (int i = 0; i < founders; i++) {
      start(i, doors[i], doors);
    }
  }

  private PeerSelf self(int i) {
    return new PeerSelf(NAMES.get(i), Member.NONE, UUID.randomUUID(), () -> cluster);
  }

  private PeerDoor door(int i) throws IOException {
    PeerDoor door =
        new PeerDoor(
            self(i),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            loops,
            null,
            log::add);
    if (wires != null) {
      wires.moved(i, door.address().getPort());
    }
    return door;
  }

  private Member member(int from, int to, PeerDoor door) {
    int port = door.address().getPort();
    return new Member(NAMES.get(to), "127.0.0.1", wires == null ? port : wires.port(from, to));
  }

  private void start(int i, PeerDoor door, PeerDoor[] doors) throws IOException {
    PeerTransport transport = new PeerTransport(self(i), door, loops, null, log::add);
    RatisEngine engine =
        new RatisEngine(
            transport,
            settings.apply(
                RatisSettings.in(folder.resolve(NAMES.get(i)))
                    .withElection(ELECTION_MIN, ELECTION_MAX)));
    HashMachine machine = new HashMachine();
    List<Member> members = new ArrayList<>();
    for (int to = 0; to < founders; to++) {
      members.add(member(i, to, doors[to]));
    }
    if (i >= founders) {
      members.forEach(transport::learn);
      members.clear();
    }
    try {
      Ledger ledger = engine.open(GROUP, members, machine);
      nodes[i] = new Node(NAMES.get(i), door, transport, engine, machine, ledger);
    } catch (IOException e) {
      engine.close();
      door.close();
      throw e;
    }
  }

  /** Starts a member from its folder, at another port. */
  public void start(int i) throws IOException {
    PeerDoor[] doors = new PeerDoor[3];
    PeerDoor mine = door(i);
    for (int other = 0; other < 3; other++) {
      Node node = nodes[other];
      doors[other] = node == null ? mine : node.door();
      if (node != null) {
        node.transport().learn(member(other, i, mine));
      }
    }
    start(i, mine, doors);
    for (Node node : running()) {
      for (Node peer : running()) {
        int to = NAMES.indexOf(peer.name());
        node.transport().learn(member(NAMES.indexOf(node.name()), to, peer.door()));
      }
    }
  }

  /** Returns a running member, with its seat in the log. */
  public Member member(int i) {
    return member(i, i, node(i).door());
  }

  public void stop(int i) {
    stop(node(i));
  }

  /** Closes a member's port and connections at once, as its system does after kill -9. */
  void kill(int i) {
    Node node = node(i);
    node.door().close();
    node.transport().close();
    stop(node);
  }

  private void stop(Node node) {
    nodes[NAMES.indexOf(node.name())] = null;
    try {
      node.engine().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    node.door().close();
  }

  public Path folder(int i) {
    return folder.resolve(NAMES.get(i));
  }

  public Node node(int i) {
    Node node = nodes[i];
    assertThat(node).isNotNull();
    return Objects.requireNonNull(node);
  }

  public List<Node> running() {
    List<Node> all = new ArrayList<>();
    for (Node node : nodes) {
      if (node != null) {
        all.add(node);
      }
    }
    return all;
  }

  /** Returns the number of the member that takes itself for the leader; waits for one. */
  public int leader() throws Exception {
    int[] found = {-1};
    Await.until(
        "a leader",
        () -> {
          for (Node node : running()) {
            // A look at the size changes nothing, not even while the log's first file is made.
            assertThat(node.ledger().logBytes()).isNotNegative();
            if (node.ledger().leads()) {
              found[0] = NAMES.indexOf(node.name());
            }
          }
          return found[0] >= 0;
        });
    return found[0];
  }

  /** Appends an entry at the leader, until it is known to be applied; returns its index. */
  public long append(long id, int bytes) throws Exception {
    while (true) {
      try {
        byte[] reply =
            node(leader())
                .ledger()
                .append(HashMachine.entry(id, bytes))
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
        ByteBuffer in = ByteBuffer.wrap(reply);
        long index = in.getLong();
        assertThat(in.getLong()).isEqualTo(id);
        return index;
      } catch (ExecutionException e) {
        assertThat(e.getCause()).isInstanceOf(LedgerException.class);
        Await.pause(5);
      }
    }
  }

  /** Waits until all running members have applied as much, and checks that it is the same. */
  public List<Applied> settle() throws Exception {
    append(-1, 16);
    long most = node(leader()).machine().applied().size();
    Await.until(
        () -> "all to have applied " + most + ": " + applied(),
        () -> running().stream().allMatch(node -> node.machine().applied().size() >= most));
    List<Applied> first = running().get(0).machine().applied();
    long hash = running().get(0).machine().hash();
    for (Node node : running()) {
      assertThat(node.machine().applied()).isEqualTo(first);
      assertThat(node.machine().hash()).isEqualTo(hash);
    }
    for (int i = 1; i < first.size(); i++) {
      assertThat(first.get(i).stamp()).isGreaterThan(first.get(i - 1).stamp());
      assertThat(first.get(i).index()).isGreaterThan(first.get(i - 1).index());
      assertThat(first.get(i).term()).isGreaterThanOrEqualTo(first.get(i - 1).term());
    }
    return first;
  }

  /** Returns the state of each member's log, for people. */
  private String applied() {
    StringBuilder text = new StringBuilder();
    for (Node node : running()) {
      text.append('\n').append(node.name()).append(" applied ");
      text.append(node.machine().applied().size()).append(", ").append(node.ledger().status());
    }
    return text.append('\n').append(String.join("\n", log)).toString();
  }

  @Override
  public void close() throws IOException {
    // Each waits up to a second for its log's thread.
    CompletableFuture.allOf(
            running().stream()
                .map(node -> CompletableFuture.runAsync(() -> stop(node)))
                .toArray(CompletableFuture<?>[]::new))
        .join();
    if (wires != null) {
      wires.close();
    }
    loops.close();
  }
}
