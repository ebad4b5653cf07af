package dev.weir.cluster;

import dev.weir.Ticker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** How members become a cluster: once, all of them together. */
final class Formation {
  /*
   * How is a cluster formed, so that there are never two of them? All members have the same list.
   * The first of them by name waits until it has seen all the others without a cluster, and proposes
   * a charter. Each writes it to its disk and says so; when all have, it is complete, and not before
   * does any member decide anything. A member that crashes finds an incomplete charter in its
   * folder, and the proposer proposes the same again.
   *
   * A member without a charter that meets a complete one has lost its folder: it has forgotten what
   * it acknowledged, and must not count as the voter that it was. It refuses to start.
   */

  static final int KIND = PeerFrame.FIRST_REQUEST + 16;

  private static final int WHAT = 0;
  private static final int PROPOSE = 1;
  private static final int COMPLETE = 2;

  private static final long ANSWER_MILLIS = 2_000;
  private static final long PAUSE_NANOS = 100_000_000L;
  private static final int PAUSES_PER_LINE = 50;

  private final Path folder;
  private final String self;
  private final List<Member> members;
  private final int groups;
  private final Ticker ticker;
  private final Consumer<? super String> log;
  private volatile @Nullable Charter charter;

  /**
   * @param folder where the charter is kept
   * @param members all of them, this one included
   * @throws IOException if there is a charter that cannot be read, or one of other members
   */
  Formation(
      Path folder,
      String self,
      List<Member> members,
      int groups,
      Ticker ticker,
      Consumer<? super String> log)
      throws IOException {
    this.ticker = ticker;
    this.folder = folder;
    this.self = self;
    this.members = members.stream().sorted(Comparator.comparing(Member::name)).toList();
    this.groups = groups;
    this.log = log;
    Charter found = Charter.load(folder);
    if (found != null && !found.names().equals(names())) {
      throw new IOException(
          "--cluster names "
              + String.join(", ", names())
              + " (expected: "
              + String.join(", ", found.names())
              + ", of which the cluster in "
              + folder
              + " was formed)");
    }
    charter = found;
  }

  private List<String> names() {
    return members.stream().map(Member::name).toList();
  }

  /** Returns the cluster's id, as far as this member knows it. */
  UUID cluster() {
    Charter known = charter;
    return known == null || !known.complete() ? PeerSelf.FORMING : known.cluster();
  }

  /** Returns the complete charter, or null. */
  @Nullable Charter charter() {
    Charter known = charter;
    return known == null || !known.complete() ? null : known;
  }

  /** Has other members answered. */
  void answerAt(PeerDoor door, Executor executor) {
    door.register(
        KIND, executor, (from, payload) -> CompletableFuture.completedStage(answer(payload)));
  }

  private synchronized byte[] answer(byte[] payload) throws IOException {
    ByteReader in = new ByteReader(payload, 0);
    int verb = in.readByte();
    Charter known = charter;
    if (verb == PROPOSE) {
      Charter proposed = Charter.read(in);
      if (!proposed.names().equals(names()) || (known != null && known.complete())) {
        throw new IOException(
            self + " has " + (known == null ? "another list of members" : "a cluster already"));
      }
      proposed.save(folder);
      charter = proposed;
    } else if (verb == COMPLETE) {
      UUID cluster = new UUID(in.readLong(), in.readLong());
      if (known != null && known.cluster().equals(cluster) && !known.complete()) {
        complete(known);
      }
    }
    return said();
  }

  private synchronized void complete(Charter known) throws IOException {
    Charter completed = known.completed();
    completed.save(folder);
    charter = completed;
  }

  /** Returns what this member says of itself: its list, and its charter if it has one. */
  private byte[] said() {
    ByteWriter out = new ByteWriter().writeText(String.join(", ", names())).writeNumber(groups);
    Charter known = charter;
    out.writeByte(known == null ? 0 : 1);
    if (known != null) {
      known.write(out);
    }
    return out.toBytes();
  }

  /** What another member says of itself. */
  private record Said(String names, int groups, @Nullable Charter charter) {
    static Said read(byte[] reply) {
      ByteReader in = new ByteReader(reply, 0);
      String names = in.readText();
      int groups = (int) in.readNumber();
      return new Said(names, groups, in.readByte() == 0 ? null : Charter.read(in));
    }
  }

  /**
   * Waits until the cluster is formed.
   *
   * @return the complete charter
   * @throws IOException if it cannot be formed
   */
  Charter await(PeerTransport transport) throws IOException, InterruptedException {
    for (int pauses = 0; ; pauses++) {
      Charter complete = charter();
      if (complete != null) {
        return complete;
      }
      Map<String, Said> others = ask(transport, new ByteWriter().writeByte(WHAT).toBytes());
      check(others);
      List<String> missing = new ArrayList<>(names());
      missing.remove(self);
      missing.removeAll(others.keySet());
      if (charter() == null && missing.isEmpty() && self.equals(names().get(0))) {
        propose(transport, others);
      }
      if (charter() == null) {
        if (pauses % PAUSES_PER_LINE == PAUSES_PER_LINE / 10) {
          log.accept(
              missing.isEmpty()
                  ? "cluster: " + names().get(0) + " is to form it"
                  : "cluster: waiting for " + String.join(", ", missing));
        }
        ticker.sleep(PAUSE_NANOS);
      }
    }
  }

  /** Takes note of what the others say. */
  private void check(Map<String, Said> others) throws IOException {
    for (Map.Entry<String, Said> each : others.entrySet()) {
      Said said = each.getValue();
      if (!said.names().equals(String.join(", ", names())) || said.groups() != groups) {
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
      Charter theirs = said.charter();
      if (theirs != null && theirs.complete()) {
        Charter own = charter;
        if (own == null || !own.cluster().equals(theirs.cluster())) {
          throw new IOException(
              "cluster: "
                  + each.getKey()
                  + " says that this cluster exists, but "
                  + folder
                  + " has nothing of it (expected: the folder that "
                  + self
                  + " had). A member that has lost its folder has forgotten what it voted for, and"
                  + " must not take part again: restore the folder from after it last ran, or form"
                  + " a new cluster with empty folders");
        }
        complete(own);
      }
    }
  }

  private void propose(PeerTransport transport, Map<String, Said> others) throws IOException {
    Charter proposed =
        others.values().stream()
            .map(Said::charter)
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(charter);
    if (proposed == null) {
      proposed = Charter.draw(members, groups);
    }
    synchronized (this) {
      proposed.save(folder);
      charter = proposed;
    }
    ByteWriter out = new ByteWriter().writeByte(PROPOSE);
    proposed.write(out);
    Map<String, Said> answers = ask(transport, out.toBytes());
    UUID cluster = proposed.cluster();
    boolean all =
        answers.size() == members.size() - 1
            && answers.values().stream()
                .allMatch(
                    each -> each.charter() != null && each.charter().cluster().equals(cluster));
    if (all) {
      complete(proposed);
      byte[] done =
          new ByteWriter()
              .writeByte(COMPLETE)
              .writeLong(cluster.getMostSignificantBits())
              .writeLong(cluster.getLeastSignificantBits())
              .toBytes();
      ask(transport, done);
      log.accept("cluster: formed of " + String.join(", ", names()));
    }
  }

  /** Asks all other members; returns the answers of those that answered in time. */
  private Map<String, Said> ask(PeerTransport transport, byte[] payload) {
    Map<String, CompletableFuture<Said>> asked = new HashMap<>();
    for (Member each : members) {
      if (!each.name().equals(self)) {
        asked.put(each.name(), ask(transport, each.name(), payload.clone()).toCompletableFuture());
      }
    }
    Map<String, Said> answers = new HashMap<>();
    asked.forEach(
        (name, future) -> {
          try {
            answers.put(name, future.orTimeout(2 * ANSWER_MILLIS, TimeUnit.MILLISECONDS).join());
          } catch (CompletionException e) {
            // It is missing; the next round asks again.
          }
        });
    return answers;
  }

  private static CompletionStage<Said> ask(PeerTransport transport, String name, byte[] payload) {
    try {
      return transport.link(name, "form").call(KIND, payload, ANSWER_MILLIS).thenApply(Said::read);
    } catch (PeerException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
