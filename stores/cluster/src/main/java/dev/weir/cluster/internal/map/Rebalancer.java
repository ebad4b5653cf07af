package dev.weir.cluster.internal.map;

import dev.weir.Ticker;
import dev.weir.cluster.internal.map.ClusterMap.Move;
import dev.weir.cluster.internal.map.ClusterMap.Step;
import dev.weir.cluster.internal.state.SlotEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Brings each slot to the group that is to have it, where this member leads group 0. It has no
 * thread of its own: all of it runs in the executor, which runs one task at a time.
 */
public final class Rebalancer {
  /*
   * How fast? A slot is decided by nobody while its keys are on their way. Small slots take a few
   * commits, which many of them can share; of large ones, one goes at a time, and no faster than a
   * part of what the logs can take beside their work. So at any time a small share of the keys waits
   * for a moment, and the whole takes as long as it takes.
   *
   * What moves is in the map. So the member that leads group 0 next goes on with all of it, and the
   * one that led it before, if it does not know that yet, does no harm.
   */

  /** Of 4,096 slots, and each for some milliseconds. */
  static final int MOST_AT_ONCE = 64;

  /** More than this together would keep others waiting in the logs. */
  private static final long MOST_BYTES_AT_ONCE = 1 << 20;

  /** A small part of what a disk and a network take. */
  private static final long BYTES_PER_SECOND = 16 << 20;

  /** Longer than two elections; then a slot goes back to the group that can decide it. */
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  /** For so long a group is left alone that did not answer, or could not take a slot. */
  private static final long REST_NANOS = 5_000_000_000L;

  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private final SlotMove.Way way;
  private final BooleanSupplier leads;
  private final Supplier<ClusterMap> map;
  private final Ticker ticker;
  private final Executor executor;
  private final Consumer<? super String> log;
  private final SlotMove mover;

  /** The slots of which a step is under way. */
  private final Set<Integer> running = new HashSet<>();

  /** When each move was first seen here, by its slot and epoch. */
  private final Map<Move, Long> since = new HashMap<>();

  private final Map<Integer, Long> restsUntilNanos = new HashMap<>();
  private boolean asking;
  private boolean saidBegun;
  private long typicalBytes = MOST_BYTES_AT_ONCE;
  private long nextNanos;
  private @Nullable Placement wanted;

  /**
   * @param leads whether this member leads group 0
   * @param executor runs one task at a time
   */
  public Rebalancer(
      SlotMove.Way way,
      BooleanSupplier leads,
      Supplier<ClusterMap> map,
      Ticker ticker,
      Executor executor,
      Consumer<? super String> log) {
    this.way = way;
    this.leads = leads;
    this.map = map;
    this.ticker = ticker;
    this.executor = executor;
    this.log = log;
    this.mover = new SlotMove(way, bytes -> executor.execute(() -> sized(bytes)));
    nextNanos = ticker.nanos();
  }

  /**
   * Returns whether all slots are where they should be, so that a tick a second will do; to be
   * called in the executor.
   */
  public boolean rests() {
    ClusterMap now = map.get();
    return now.moves().isEmpty() && misplaced(now).isEmpty();
  }

  /** Goes on with what can be done now; to be called some times a second, in the executor. */
  public void tick() {
    if (!leads.getAsBoolean()) {
      since.clear();
      saidBegun = false;
      return;
    }
    ClusterMap now = map.get();
    since.keySet().retainAll(now.moves());
    for (Move each : now.moves()) {
      go(each);
    }
    begin(now);
  }

  private void go(Move move) {
    if (!running.add(move.slot())) {
      return;
    }
    long begun = since.computeIfAbsent(move, unused -> ticker.nanos());
    boolean patient = ticker.nanos() - begun < PATIENCE_NANOS;
    Object unused =
        mover
            .step(move, patient)
            .whenCompleteAsync((inForce, error) -> went(move, inForce), executor);
  }

  /** What has failed is done again at the next tick. */
  private void went(Move move, @Nullable ClusterMap inForce) {
    running.remove(move.slot());
    if (inForce == null || !leads.getAsBoolean()) {
      return;
    }
    Move next = inForce.move(move.slot());
    if (next != null && next.step() == Step.THAWING && move.step() == Step.MOVING) {
      rest(move.to());
      log.accept(
          "cluster: slot "
              + move.slot()
              + " stays in group "
              + move.from()
              + ": group "
              + move.to()
              + " could not take it");
    }
    if (next != null && !next.equals(move)) {
      go(next);
    }
    if (next == null) {
      begin(inForce);
    }
  }

  private void rest(int group) {
    restsUntilNanos.put(group, ticker.nanos() + REST_NANOS);
  }

  private boolean rests(int group) {
    Long until = restsUntilNanos.get(group);
    return until != null && ticker.nanos() - until < 0;
  }

  private void sized(int bytes) {
    typicalBytes = Math.max(bytes, typicalBytes / 2);
    long pause = bytes * NANOS_PER_SECOND / BYTES_PER_SECOND;
    nextNanos = Math.max(nextNanos, ticker.nanos()) + pause;
  }

  /** Has more slots move, as many as may at once, if the groups that they are for answer. */
  private void begin(ClusterMap now) {
    long room = Math.min(MOST_AT_ONCE, Math.max(1, MOST_BYTES_AT_ONCE / typicalBytes));
    room -= now.moves().size();
    if (asking || room <= 0 || ticker.nanos() - nextNanos < 0) {
      return;
    }
    TreeMap<Integer, Integer> chosen = new TreeMap<>();
    Map<Integer, CompletableFuture<Boolean>> answers = new HashMap<>();
    int toGo = 0;
    for (Misplaced each : misplaced(now)) {
      toGo++;
      boolean free = !rests(each.from) && !rests(each.to) && now.move(each.slot) == null;
      if (free && chosen.size() < room) {
        chosen.put(each.slot, each.to);
        for (int group : new int[] {each.from, each.to}) {
          answers.computeIfAbsent(group, unused -> answers(group, each.slot));
        }
      }
    }
    say(toGo, now);
    if (chosen.isEmpty()) {
      return;
    }
    asking = true;
    Object unused =
        CompletableFuture.allOf(answers.values().toArray(CompletableFuture<?>[]::new))
            .thenCompose(
                all ->
                    way.change(
                        draft ->
                            chosen.forEach(
                                (slot, to) -> {
                                  if (answer(answers, now.groupOfSlot(slot))
                                      && answer(answers, to)) {
                                    draft.begin(slot, to);
                                  }
                                })))
            .whenCompleteAsync((inForce, error) -> begun(answers, inForce), executor);
  }

  private void begun(
      Map<Integer, CompletableFuture<Boolean>> answers, @Nullable ClusterMap inForce) {
    asking = false;
    for (int group : answers.keySet()) {
      if (!answer(answers, group)) {
        rest(group);
      }
    }
    if (inForce != null && leads.getAsBoolean()) {
      inForce.moves().forEach(this::go);
    }
  }

  private static boolean answer(Map<Integer, CompletableFuture<Boolean>> answers, int group) {
    CompletableFuture<Boolean> answer = answers.get(group);
    return answer != null && answer.getNow(false);
  }

  private CompletableFuture<Boolean> answers(int group, int slot) {
    return way.apply(group, SlotEntry.question(slot))
        .handle((state, error) -> state != null)
        .toCompletableFuture();
  }

  private void say(int toGo, ClusterMap now) {
    if (toGo > 0 && !saidBegun) {
      log.accept("cluster: " + toGo + " slots are to move, over " + now.groups() + " groups");
    } else if (toGo == 0 && saidBegun && now.moves().isEmpty()) {
      log.accept("cluster: all slots are where they should be");
    } else {
      return;
    }
    saidBegun = toGo > 0;
  }

  /** A slot that another group is to have. */
  public record Misplaced(int slot, int from, int to) {}

  private List<Misplaced> misplaced(ClusterMap now) {
    Placement known = wanted;
    if (known == null || known.size() != now.groups()) {
      known = new Placement(now.groups());
      wanted = known;
    }
    return misplaced(now, known);
  }

  /** Returns the slots that are not where a placement has them. */
  public static List<Misplaced> misplaced(ClusterMap now, Placement wanted) {
    short[] is = now.slots();
    short[] should = wanted.bySlot();
    List<Misplaced> all = new ArrayList<>();
    for (int slot = 0; slot < is.length; slot++) {
      if (is[slot] != should[slot]) {
        all.add(new Misplaced(slot, is[slot], should[slot]));
      }
    }
    return all;
  }
}
