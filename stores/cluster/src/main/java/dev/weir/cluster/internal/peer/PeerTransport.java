package dev.weir.cluster.internal.peer;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A member's port, and its links to other members; or the links of a process without a port. Safe
 * for use by many threads.
 *
 * <p>Its creator closes the port and the loops too, after this.
 */
public final class PeerTransport implements AutoCloseable {
  private static final int ID_LENGTH = 8;

  private final PeerEnd own;
  private final @Nullable PeerDoor door;
  private final Map<String, Member> members = new ConcurrentHashMap<>();
  private final Map<String, PeerLink> links = new ConcurrentHashMap<>();
  private final Map<String, Consumer<? super String>> watching = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /**
   * Creates a transport.
   *
   * @param door null for a process that only sends requests
   */
  public PeerTransport(
      PeerSelf self,
      @Nullable PeerDoor door,
      PeerLoops loops,
      @Nullable PeerTls tls,
      Consumer<? super String> log) {
    own = new PeerEnd(loops, self, tls, log);
    this.door = door;
  }

  public PeerSelf self() {
    return own.self();
  }

  /** Returns the port of a member. */
  public PeerDoor door() {
    return Objects.requireNonNull(door);
  }

  public void log(String line) {
    own.log().accept(line);
  }

  /** Sets the address for a member's next connections. */
  public void learn(Member member) {
    members.put(member.name(), member);
  }

  /** Sets the address like {@link #learn}, unless one of the member is known. */
  public void learnIfUnknown(Member member) {
    members.putIfAbsent(member.name(), member);
  }

  /** Returns whether the address of a member is known. */
  public boolean isKnown(String member) {
    return members.containsKey(member);
  }

  /**
   * Returns this member's connection to another for that purpose; connects if there is none yet.
   *
   * @throws PeerException if the other is not known, or this is closed
   */
  public PeerLink link(String member, String purpose) throws PeerException {
    Member known = members.get(member);
    if (known == null || closed) {
      throw new PeerException(
          PeerException.Outcome.NOT_SENT,
          closed ? "closed" : "member " + member + " is not known here");
    }
    return links.computeIfAbsent(
        member + "/" + purpose,
        key ->
            new PeerLink(
                own,
                () -> members.getOrDefault(member, known),
                purpose,
                () -> watching.getOrDefault(purpose, unwatched -> {}).accept(member)));
  }

  /**
   * Adds a receiver of the names of members whose processes have ended, by the connection for that
   * purpose.
   *
   * @param ended called on an event loop, which must not be blocked
   */
  public void watch(String purpose, Consumer<? super String> ended) {
    watching.put(purpose, ended);
  }

  /** Returns whether a member's process has ended, see {@link PeerLink#hasEnded}. */
  public boolean hasEnded(String member, String purpose) {
    PeerLink link = links.get(member + "/" + purpose);
    return link != null && link.hasEnded();
  }

  /** Returns whether there is a connection to another member for that purpose. A hint. */
  public boolean connected(String member, String purpose) {
    PeerLink link = links.get(member + "/" + purpose);
    return link != null && link.connected();
  }

  /**
   * Returns a new connection to whichever member is at an address. The caller closes it, before
   * this.
   */
  public PeerLink linkToAny(String host, int port) {
    String address = host + ":" + port;
    Member there = new Member(address, host, port);
    // A purpose of its own: two addresses may lead to one member, and two members may have one
    // name.
    String purpose =
        "find " + address + " of " + own.self().boot().toString().substring(0, ID_LENGTH);
    return new PeerLink(own, () -> there, purpose, PeerLink.ANY, () -> {});
  }

  @Override
  public void close() {
    closed = true;
    links.values().forEach(PeerLink::close);
    links.clear();
  }
}
