package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerException.Outcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The detection of a member that starts from an older copy of its folder, as from a restored
 * volume. Such a member has forgotten votes and acknowledged entries, and must not vote. Safe for
 * use by many threads.
 */
final class OlderFolder {
  /*
   * How is it noticed? Nothing in the folder shows it: the copy was right once. But the others
   * remember. Each member reports to them, each second, how far its logs are on disk. A member that
   * starts notes how far its logs are before it takes anything from others, and asks each other
   * member what that one remembers of it. It gives no vote to a member that it has not asked, and
   * takes none from it. What a leader of Ratis 3.3 takes for acknowledged is no help: its follower
   * counts entries in its answer to a heartbeat that are not on disk yet, and lie nowhere if it
   * ends then.
   *
   * Which copies go unnoticed? The others remember in memory, for one incarnation. So nothing is
   * noticed if all others that remember are down or were started again while this one was down. The
   * same holds for a copy from after the last report but one. A copy that is as far as the original
   * is no older one.
   *
   * Why does it take no entries either? An older copy that takes from a leader what it lacks looks
   * like the original at its next start, but has still forgotten its votes. A leader whose address
   * is not known here is the exception: its entries may be what brings the address.
   */

  static final int KIND = LeaderLoss.KIND + 1;

  /** The longest time in which another member may answer. */
  static final long ANSWER_MILLIS = 1_000;

  private static final int TELL = 0;
  private static final int ASK = 1;

  /** The log of a group here. Must be safe for use by many threads. */
  interface GroupLog {
    /** Returns how far this member's log is on disk. */
    Promise promise();
  }

  /** The other members. */
  interface Others {
    /** Sends a request to a member, by its name, which calls {@link OlderFolder#answer}. */
    CompletionStage<byte[]> request(String member, byte[] question);
  }

  /**
   * A group that is open here.
   *
   * @param opened how far its log was when this process opened it; null if it began it
   * @param compared the members with whose memory it was compared
   */
  private record OpenGroup(GroupLog log, @Nullable Promise opened, Set<String> compared) {}

  /** The last report of a member, under its id, by group. */
  private record Report(String id, Map<Long, Promise> promises) {}

  private record SeenPromise(long group, Promise promise) {}

  private final String self;
  private final String remedy;
  private final Others others;
  private final Consumer<? super String> log;
  private final Map<Long, OpenGroup> open = new ConcurrentHashMap<>();
  private final Map<String, Report> reports = new ConcurrentHashMap<>();
  private final Map<String, CompletableFuture<List<SeenPromise>>> asked = new ConcurrentHashMap<>();
  private volatile byte[] next = new byte[0];
  private volatile @Nullable String problem;

  /**
   * Creates the detection.
   *
   * @param self this member's id
   * @param remedy the end of the line about an older copy
   */
  OlderFolder(String self, String remedy, Others others, Consumer<? super String> log) {
    this.self = self;
    this.remedy = remedy;
    this.others = others;
    this.log = log;
  }

  /**
   * Notes how far a group's log is, before it takes anything from others.
   *
   * @param kept whether the group was in the folder when this process started
   */
  void opened(long group, GroupLog here, boolean kept) {
    Promise opened = kept ? here.promise() : null;
    open.put(group, new OpenGroup(here, opened, ConcurrentHashMap.newKeySet()));
  }

  void closed(long group) {
    open.remove(group);
  }

  /** Returns whether a group may take requests from others. */
  boolean isOpen(long group) {
    return open.containsKey(group);
  }

  /**
   * Returns whether a group may take entries of its log from another member: this one has compared
   * the group's log with what that one remembers, and is no older copy. If it has not, it asks now.
   */
  boolean mayTake(long group, String member) {
    OpenGroup here = open.get(group);
    if (here == null || problem != null) {
      return false;
    }
    if (here.opened == null || here.compared.contains(member)) {
      return true;
    }
    CompletableFuture<Void> comparison =
        compared(member).thenRun(() -> here.compared.add(member)).toCompletableFuture();
    return comparison.isDone() && !comparison.isCompletedExceptionally();
  }

  /**
   * Compares this member's logs with what another member remembers of them, once for each member
   * that answers. Fails with an {@link IOException} if they are older, or the member does not
   * answer.
   */
  CompletionStage<?> compared(String member) {
    return asked
        .computeIfAbsent(member, this::ask)
        .thenAccept(
            seen -> {
              for (SeenPromise each : seen) {
                compare(member, each);
              }
              requireNotOlder();
            });
  }

  private CompletableFuture<List<SeenPromise>> ask(String member) {
    byte[] question = new ByteWriter().writeByte(ASK).writeText(self).toBytes();
    CompletableFuture<List<SeenPromise>> answer =
        others
            .request(member, question)
            .handle(
                (reply, error) -> {
                  Throwable cause =
                      error instanceof CompletionException && error.getCause() != null
                          ? error.getCause()
                          : error;
                  if (cause instanceof PeerException known && known.outcome() == Outcome.FAILED) {
                    return List.<SeenPromise>of(); // It is older, or not formed yet.
                  }
                  if (cause != null) {
                    throw new CompletionException(cause);
                  }
                  return read(reply);
                })
            .toCompletableFuture();
    Object unused =
        answer.whenCompleteAsync(
            (seen, error) -> {
              if (error != null) {
                asked.remove(member); // Not before it is there: the next vote asks again.
              }
            });
    return answer;
  }

  private void compare(String member, SeenPromise seen) {
    OpenGroup group = open.get(seen.group);
    Promise opened = group == null ? null : group.opened;
    if (opened == null || !opened.lacks(seen.promise)) {
      return;
    }
    String line =
        "the folder is an older copy: group "
            + seen.group
            + " has "
            + opened
            + " in it, and "
            + member
            + " remembers "
            + seen.promise
            + " "
            + remedy;
    synchronized (this) {
      if (problem != null) {
        return;
      }
      problem = line;
    }
    log.accept("cluster: " + line);
  }

  private void requireNotOlder() {
    String line = problem;
    if (line != null) {
      throw new CompletionException(new IOException(line));
    }
  }

  /** Returns the line about an older copy; null if none is known. */
  @Nullable String problem() {
    return problem;
  }

  /**
   * Reports to the other members how far this member's logs were at the call before; to be called
   * about each second. By now, that is on disk. A member gets no report before this one has
   * compared its logs with what that member remembers, which the report replaces.
   */
  void report(Collection<String> members) {
    byte[] report = next;
    ByteWriter out = new ByteWriter().writeByte(TELL).writeText(self);
    Map<Long, Promise> promises = new HashMap<>();
    open.forEach((group, each) -> promises.put(group, each.log.promise()));
    write(out, promises.entrySet().stream().map(OlderFolder::seen).toList());
    next = out.toBytes();
    if (report.length > 0) {
      members.forEach(
          each -> {
            Object unused = compared(each).thenCompose(same -> others.request(each, report));
          });
    }
  }

  private static SeenPromise seen(Map.Entry<Long, Promise> entry) {
    return new SeenPromise(entry.getKey(), entry.getValue());
  }

  /** Answers another member's report, or its question about what this one remembers. */
  byte[] answer(String from, byte[] payload) {
    ByteReader in = new ByteReader(payload, 0);
    int kind = in.readByte();
    String id = in.readText();
    if (kind == TELL) {
      Map<Long, Promise> promises = new HashMap<>();
      read(in).forEach(each -> promises.put(each.group, each.promise));
      reports.put(from, new Report(id, promises));
      return new byte[0];
    }
    List<SeenPromise> known = new ArrayList<>();
    Report report = reports.get(from);
    if (report != null && report.id.equals(id)) {
      report.promises.entrySet().forEach(each -> known.add(seen(each)));
    }
    ByteWriter out = new ByteWriter();
    write(out, known);
    return out.toBytes();
  }

  private static void write(ByteWriter out, List<SeenPromise> promises) {
    out.writeNumber(promises.size());
    for (SeenPromise each : promises) {
      out.writeNumber(each.group);
      each.promise.write(out);
    }
  }

  private static List<SeenPromise> read(byte[] reply) {
    return read(new ByteReader(reply, 0));
  }

  private static List<SeenPromise> read(ByteReader in) {
    List<SeenPromise> promises = new ArrayList<>();
    for (int i = in.readCount(); i > 0; i--) {
      promises.add(new SeenPromise(in.readNumber(), Promise.read(in)));
    }
    return promises;
  }
}
