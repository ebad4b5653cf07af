package dev.weir.cluster.internal.forming;

import dev.weir.Ticker;
import dev.weir.cluster.ClusterSettings;
import dev.weir.cluster.internal.map.Charter;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.peer.PeerSelf;
import dev.weir.cluster.internal.peer.PeerTransport;
import dev.weir.shared.ClusterMember;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The formation of a cluster, once and by all of its members together; and the way in which others
 * join it.
 */
public final class Formation {
  /*
   * How is a cluster formed, so that there are never two of them? All members have the same list.
   * The first of them by name waits until it has seen all the others without a cluster, and
   * proposes a charter. Each writes it to its disk and confirms that; when all have, it is
   * complete, and only then do members decide requests. A member that crashes finds an incomplete
   * charter in its folder, and the proposer proposes the same again.
   *
   * If members find each other by the DNS, no list has all members. In that case a member's list is
   * that of the members it sees. The list is complete if every address in the DNS answers and there
   * are as many as the operator has configured. The first by name proposes only when all of them
   * have the same list. Lists may change, so there may be two proposers: a member that has written
   * one's charter accepts no other's until the first has given up its own, which it reports itself,
   * after it has written that down. A charter that is not confirmed by each of its members is never
   * completed; so of two charters with a member in common at most one is. Two without a common
   * member need twice the number of members, of which neither half sees the other.
   *
   * A member without a charter that meets a complete one is new to that cluster, or has lost its
   * folder, which is the same: it requests to join, as an incarnation that has never promised
   * anything.
   */

  static final int KIND = PeerFrame.FIRST_REQUEST + 16;

  /** The purpose of the connections for the formation. */
  private static final String FORMING = "form";

  private static final int WHAT = 0;
  private static final int PROPOSE = 1;
  private static final int COMPLETE = 2;

  private static final long ANSWER_MILLIS = 2_000;
  private static final long PAUSE_NANOS = 100_000_000L;
  private static final int PAUSES_PER_LINE = 50;

  private final ClusterSettings settings;
  private final Path folder;
  private final String self;
  private final UUID incarnation;

  /** True if the others are found by the DNS; then the operator has given their number. */
  private final boolean byDns;

  private final int groups;
  private final Ticker ticker;
  private final Consumer<? super String> log;
  private final boolean formedNow;
  private volatile List<Member> members;
  private volatile String missing = "";
  private volatile @Nullable Charter charter;
  private volatile @Nullable ClusterMap map;

  /**
   * Creates the formation.
   *
   * @param incarnation this member's
   * @throws IOException if there is a charter that cannot be read, or it is lost
   */
  public Formation(ClusterSettings settings, UUID incarnation) throws IOException {
    this.settings = settings;
    this.incarnation = incarnation;
    folder = settings.folder();
    self = settings.name();
    byDns = settings.members().stream().anyMatch(ClusterMember::standsForAll);
    groups = settings.groups();
    ticker = settings.clocks().monotonic();
    log = settings.log();
    members =
        DnsSeeds.named(settings.members()).stream()
            .sorted(Comparator.comparing(Member::name))
            .toList();
    Charter found = Charter.load(folder);
    if (found == null && Files.exists(folder.resolve("groups"))) {
      throw new IOException(
          folder + " has lost " + Charter.FILE + " (expected: a whole folder, or an empty one)");
    }
    charter = found;
    formedNow = found == null;
  }

  private List<String> names() {
    return members.stream().map(Member::name).toList();
  }

  /** Returns the cluster's id, as far as it is known here. */
  public UUID cluster() {
    Charter known = charter;
    return known == null || !known.complete() ? PeerSelf.FORMING : known.cluster();
  }

  /** Returns the complete charter, or null. */
  @Nullable Charter charter() {
    Charter known = charter;
    return known == null || !known.complete() ? null : known;
  }

  /** Registers the handlers of requests from other members. */
  public void answerAt(PeerDoor door, Executor executor) {
    door.register(
        KIND, executor, (from, payload) -> CompletableFuture.completedStage(answer(from, payload)));
  }

  private synchronized byte[] answer(String from, byte[] payload) throws IOException {
    ByteReader in = new ByteReader(payload, 0);
    int verb = in.readByte();
    Charter known = charter;
    if (verb == PROPOSE) {
      Charter proposed = Charter.read(in);
      if (!proposed.names().equals(names()) || (known != null && known.complete())) {
        throw new IOException(
            self + " has " + (known == null ? "another list of members" : "a cluster already"));
      }
      if (byDns && known != null && !known.names().get(0).equals(from)) {
        throw new IOException(self + " has agreed to what " + known.names().get(0) + " proposed");
      }
      proposed.save(folder);
      charter = proposed;
    } else if (verb == COMPLETE) {
      UUID cluster = in.readId();
      if (known != null && known.cluster().equals(cluster) && !known.complete()) {
        complete(known);
      }
    }
    return report();
  }

  private synchronized void complete(Charter known) throws IOException {
    Charter completed = known.completed();
    completed.save(folder);
    charter = completed;
  }

  /** Returns this member's own report: its list, and its charter if it has one. */
  private byte[] report() {
    ByteWriter out = new ByteWriter().writeText(String.join(", ", names())).writeNumber(groups);
    self().write(out);
    Charter known = charter;
    out.writeByte(known == null ? 0 : 1);
    if (known != null) {
      known.write(out);
    }
    return out.toBytes();
  }

  /** The report of another member. */
  private record MemberReport(String names, int groups, Member member, @Nullable Charter charter) {
    static MemberReport read(byte[] reply) {
      ByteReader in = new ByteReader(reply, 0);
      String names = in.readText();
      int groups = (int) in.readNumber();
      Member member = Member.read(in);
      Charter charter = in.readByte() == 0 ? null : Charter.read(in);
      return new MemberReport(names, groups, member, charter);
    }
  }

  /**
   * Waits until the cluster is formed.
   *
   * @return the complete charter
   * @throws IOException if it cannot be formed
   */
  public Charter await(MemberNetwork network) throws IOException, InterruptedException {
    PeerTransport transport = network.transport();
    for (int pauses = 0; ; pauses++) {
      Charter complete = charter();
      if (complete != null) {
        return complete;
      }
      if (network.seeds().isPresent()) {
        found(network.seeds().get().resolve());
      }
      Charter held = charter;
      Map<String, MemberReport> others =
          call(transport, new ByteWriter().writeByte(WHAT).toBytes());
      String refusal = transport.self().level().refusal();
      if (refusal != null) {
        throw new IOException("cluster: this member was refused: " + refusal);
      }
      String there = check(others);
      if (there != null) {
        return admitted(transport, there);
      }
      String waiting = waiting(others);
      if (byDns && held != null && !held.complete()) {
        reconsider(held, others, waiting.isEmpty());
      }
      if (charter() == null && waiting.isEmpty() && self.equals(names().get(0))) {
        propose(transport, others);
      }
      if (charter() == null) {
        if (pauses % PAUSES_PER_LINE == PAUSES_PER_LINE / 10) {
          log.accept(
              waiting.isEmpty()
                  ? "cluster: " + names().get(0) + " is to form it"
                  : "cluster: waiting for " + waiting);
        }
        ticker.sleep(PAUSE_NANOS);
      }
    }
  }

  /** Updates the list of members by a search in the DNS. */
  private void found(DnsSeeds.Found found) {
    Map<String, Member> all = new TreeMap<>();
    found.members().forEach(each -> all.put(each.name(), each));
    all.put(self, self());
    String problem = found.missing();
    Member itself =
        found.members().stream().filter(each -> each.name().equals(self)).findFirst().orElse(null);
    if (problem.isEmpty() && itself == null) {
      problem = "the DNS to name " + self;
    }
    if (problem.isEmpty() && itself != null && !itself.incarnation().equals(incarnation)) {
      problem = "another member of the name " + self + " to end";
    }
    synchronized (this) {
      members = List.copyOf(all.values());
    }
    missing = problem;
  }

  /** Returns the members or facts for which the formation has to wait; empty if there are none. */
  private String waiting(Map<String, MemberReport> others) {
    Charter held = charter;
    if (byDns && held != null && !held.names().get(0).equals(self)) {
      return held.names().get(0) + ", which has proposed one";
    }
    List<String> names = new ArrayList<>(names());
    names.remove(self);
    names.removeAll(others.keySet());
    if (!names.isEmpty() || !byDns) {
      return String.join(", ", names);
    }
    if (members.size() < settings.size()) {
      return (settings.size() - members.size())
          + " more of "
          + settings.size()
          + " members ("
          + String.join(", ", names())
          + " so far)"
          + (missing.isEmpty() ? "" : "; " + missing);
    }
    if (!missing.isEmpty()) {
      return missing;
    }
    String own = String.join(", ", names());
    for (Map.Entry<String, MemberReport> each : others.entrySet()) {
      if (!each.getValue().names().equals(own)) {
        return each.getKey() + ", which sees " + each.getValue().names() + " (here: " + own + ")";
      }
    }
    return "";
  }

  /**
   * Gives up a charter that was never completed and never will be: its own if other members are
   * there now, or one that its proposer has given up.
   *
   * @param held the charter before the others were called
   */
  private synchronized void reconsider(
      Charter held, Map<String, MemberReport> others, boolean whole) throws IOException {
    String proposer = held.names().get(0);
    MemberReport said = others.get(proposer);
    boolean gone =
        proposer.equals(self)
            ? whole && !held.names().equals(names())
            : said != null
                && (!held.founded(proposer, said.member().incarnation())
                    || said.charter() == null
                    || !said.charter().cluster().equals(held.cluster()));
    if (gone && held.equals(charter)) {
      Charter.forget(folder);
      charter = null;
    }
  }

  /**
   * Checks the reports of the others.
   *
   * @return a member of a cluster that this one is not in; null if none has reported one
   */
  private @Nullable String check(Map<String, MemberReport> others) throws IOException {
    for (Map.Entry<String, MemberReport> each : others.entrySet()) {
      MemberReport said = each.getValue();
      Charter theirs = said.charter();
      if (theirs != null && theirs.complete()) {
        Charter own = charter;
        if (own == null || !own.cluster().equals(theirs.cluster())) {
          return each.getKey();
        }
        complete(own);
      } else if (List.of(said.names().split(", ", -1)).contains(self)
          && (!byDns || said.groups() != groups) // One that the DNS gave may not be whole yet.
          && (!said.names().equals(String.join(", ", names())) || said.groups() != groups)) {
        throw new IOException(
            "cluster: "
                + each.getKey()
                + " has the members "
                + said.names()
                + " and "
                + said.groups()
                + " groups (expected: "
                + String.join(", ", names())
                + " and "
                + groups
                + ", the same everywhere)");
      }
    }
    return null;
  }

  /**
   * Requests to join a cluster, until its leader of group 0 has agreed.
   *
   * @throws IOException if it refuses this member
   */
  private Charter admitted(PeerTransport transport, String there)
      throws IOException, InterruptedException {
    log.accept("cluster: " + there + " is a member of one; " + self + " asks to join it");
    ByteWriter out = new ByteWriter().writeByte(1);
    self().write(out);
    String asked = there;
    for (int next = 0; ; next++) {
      byte[] answer = answer(transport, asked, out.toBytes());
      ByteReader in = new ByteReader(answer, 0);
      int kind = answer.length == 0 ? Admissions.ELSEWHERE : in.readByte();
      if (kind == Admissions.REFUSED) {
        throw new IOException("cluster: " + asked + " says: " + in.readText());
      }
      if (kind == Admissions.ADMITTED) {
        Charter theirs = Charter.read(in);
        synchronized (this) {
          theirs.save(folder);
          charter = theirs;
        }
        map = ClusterMap.read(in);
        log.accept("cluster: " + self + " has joined " + theirs.cluster());
        return theirs;
      }
      if (answer.length > 0 && in.readByte() == 1) {
        Member leader = Member.read(in);
        if (leader.name().equals(self)) {
          transport.learn(leader); // Another one of this name: it is called, not this one.
        } else {
          transport.learnIfUnknown(leader);
        }
        asked = leader.name();
      } else { // None leads, or it does not answer: others may have news.
        asked = names().get(next % names().size());
        asked = asked.equals(self) ? there : asked;
      }
      ticker.sleep(PAUSE_NANOS);
    }
  }

  /** Returns the answer of a member; empty if there was none. */
  private static byte[] answer(PeerTransport transport, String member, byte[] question) {
    try {
      return transport
          .link(member, FORMING)
          .call(Admissions.JOIN, question, Admissions.JOIN_MILLIS)
          .toCompletableFuture()
          .orTimeout(2 * Admissions.JOIN_MILLIS, TimeUnit.MILLISECONDS)
          .exceptionally(error -> new byte[0])
          .join();
    } catch (PeerException e) {
      return new byte[0];
    }
  }

  /** Returns this member in the form that others store. */
  public Member self() {
    Member address =
        members.stream().filter(each -> each.name().equals(self)).findFirst().orElseThrow();
    return new Member(self, address.host(), address.port(), incarnation, settings.zone());
  }

  /** Returns whether this member has formed the cluster since it was started. */
  public boolean formedNow() {
    Charter known = charter();
    return known != null && formedNow && known.founded(self, incarnation);
  }

  /** Returns the map with which this member joined; null if it was a member before. */
  @Nullable
  public ClusterMap map() {
    return map;
  }

  /** Returns the incarnation of a member that answers; null if none does. */
  static CompletionStage<@Nullable UUID> incarnation(PeerTransport transport, String member) {
    return call(transport, member, new ByteWriter().writeByte(WHAT).toBytes())
        .handle((said, error) -> said == null ? null : said.member().incarnation());
  }

  private void propose(PeerTransport transport, Map<String, MemberReport> others)
      throws IOException {
    List<Member> all = new ArrayList<>();
    for (Member each : members) {
      MemberReport said = others.get(each.name());
      Member there = said == null ? self() : said.member();
      Member address = byDns ? there : each;
      all.add(
          new Member(
              each.name(), address.host(), address.port(), there.incarnation(), there.zone()));
    }
    List<Charter> known = new ArrayList<>();
    others.values().forEach(each -> known.add(each.charter()));
    known.add(charter);
    // A charter with a member that has lost its folder since was never complete.
    Charter proposed =
        known.stream()
            .filter(each -> each != null && each.members().equals(all))
            .findFirst()
            .orElseGet(() -> Charter.draw(all, groups, settings.replicas()));
    synchronized (this) {
      proposed.save(folder);
      charter = proposed;
    }
    ByteWriter out = new ByteWriter().writeByte(PROPOSE);
    proposed.write(out);
    Map<String, MemberReport> answers = call(transport, out.toBytes());
    UUID cluster = proposed.cluster();
    boolean agreed =
        answers.size() == members.size() - 1
            && answers.values().stream()
                .allMatch(
                    each -> each.charter() != null && each.charter().cluster().equals(cluster));
    if (agreed) {
      complete(proposed);
      byte[] done = new ByteWriter().writeByte(COMPLETE).writeId(cluster).toBytes();
      call(transport, done);
      log.accept("cluster: formed of " + String.join(", ", names()));
    }
  }

  /** Calls all other members; returns the answers that came in time. */
  private Map<String, MemberReport> call(PeerTransport transport, byte[] payload) {
    Map<String, CompletableFuture<MemberReport>> asked = new HashMap<>();
    for (Member each : members) {
      if (!each.name().equals(self)) {
        asked.put(each.name(), call(transport, each.name(), payload.clone()).toCompletableFuture());
      }
    }
    Map<String, MemberReport> answers = new HashMap<>();
    asked.forEach(
        (name, future) -> {
          try {
            answers.put(name, future.orTimeout(2 * ANSWER_MILLIS, TimeUnit.MILLISECONDS).join());
          } catch (CompletionException e) {
            // It is missing; the next round calls it again.
          }
        });
    return answers;
  }

  private static CompletionStage<MemberReport> call(
      PeerTransport transport, String name, byte[] payload) {
    try {
      return transport
          .link(name, FORMING)
          .call(KIND, payload, ANSWER_MILLIS)
          .thenApply(MemberReport::read);
    } catch (PeerException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
