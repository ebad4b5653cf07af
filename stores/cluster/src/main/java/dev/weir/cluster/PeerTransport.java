package dev.weir.cluster;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A member's door, and its links to other members. Safe for use by many threads.
 *
 * <p>Who creates it closes the door and the loops too, after this.
 */
final class PeerTransport implements AutoCloseable {
  private final PeerSelf self;
  private final PeerDoor door;
  private final PeerLoops loops;
  private final @Nullable PeerTls tls;
  private final Consumer<? super String> log;
  private final Map<String, Member> members = new ConcurrentHashMap<>();
  private final Map<String, PeerLink> links = new ConcurrentHashMap<>();
  private volatile boolean closed;

  PeerTransport(
      PeerSelf self,
      PeerDoor door,
      PeerLoops loops,
      @Nullable PeerTls tls,
      Consumer<? super String> log) {
    this.self = self;
    this.door = door;
    this.loops = loops;
    this.tls = tls;
    this.log = log;
  }

  PeerSelf self() {
    return self;
  }

  PeerDoor door() {
    return door;
  }

  void log(String line) {
    log.accept(line);
  }

  /** Has a member's next connections go to that address. */
  void learn(Member member) {
    members.put(member.name(), member);
  }

  /** Like {@link #learn}, unless an address of the member is known. */
  void learnIfUnknown(Member member) {
    members.putIfAbsent(member.name(), member);
  }

  /**
   * Returns this member's connection to another for that purpose; connects if there is none yet.
   *
   * @throws PeerException if the other is not known, or this is closed
   */
  PeerLink link(String member, String purpose) throws PeerException {
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
                loops, self, tls, () -> members.getOrDefault(member, known), purpose, log));
  }

  @Override
  public void close() {
    closed = true;
    links.values().forEach(PeerLink::close);
    links.clear();
  }
}
