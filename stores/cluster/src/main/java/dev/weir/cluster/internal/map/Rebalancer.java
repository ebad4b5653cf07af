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
 * The mover of slots to their groups, on the member that leads group 0. It has no thread of its
 * own: all of it runs in the executor, which runs one task at a time.
 */
public final class Rebalancer {
  /*
   * How fast? No group decides a slot while its keys are on their way. Small slots take a few
   * commits, which many of them can share; large ones move one at a time, with only a part of the
   * capacity of the logs. So at any time a small share of the keys waits for a moment, and there is
   * no bound on the whole time.
   *
   * The moves are in the map. So the next leader of group 0 goes on with all of them, and a former
   * leader that has not noticed its replacement does no harm.
   */

  /** The most slots that move at once: of 4,096, and each for some milliseconds. */
  static final int MOST_AT_ONCE = 64;

  /** The most bytes that move at once; more would delay others in the logs. */
  private static final long MOST_BYTES_AT_ONCE = 1 << 20;

  /** The bytes that move in a second; a small part of the capacity of a disk and a network. */
  private static final long BYTES_PER_SECOND = 16 << 20;

  /**
   * The longest time of a move, longer than two elections; then a slot goes back to the group that
   * can decide it.
   */
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  /** The time for which a group is left alone that did not answer, or could not take a slot. */
  private static final long REST_NANOS = 5_000_000_000L;

  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private final SlotMove.Way way;
  private final BooleanSupplier leads;
  private final Supplier<ClusterMap> map;
  private final Ticker ticker;
  private final Executor executor;
  private final Consumer<? super String> log;
  private final SlotMove mover;

  /** The slots with a step in progress. */
  private final Set<Integer> running = new HashSet<>();

  /** The time when each move was first seen here, by its slot and epoch. */
  private final Map<Move, Long> since = new HashMap<>();

  private final Map<Integer, Long> restsUntilNanos = new HashMap<>();
  private boolean asking;
  private boolean saidBegun;
  private long typicalBytes = MOST_BYTES_AT_ONCE;
  private long nextNanos;
  private @Nullable Placement wanted;

  /**
   * Creates the mover.
   *
   * @param leads returns whether this member leads group 0
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
   * Returns whether all slots are in their places, so that one tick a second suffices; to be called
   * in the executor.
   */
  public boolean rests() {
    ClusterMap now = map.get();
    return now.moves().isEmpty() && misplaced(now).isEmpty();
  }

  /**
   * Continues with all steps that are possible now; to be called several times a second, in the
   * executor.
   */
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

  /** Continues after a step; a failed one is repeated at the next tick. */
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

  /** Begins further moves, as many as may run at once, if the groups concerned answer. */
  private void begin(ClusterMap now) {
    long room = Math.min(MOST_AT_ONCE, Math.max(1, MOST_BYTES_AT_ONCE / typicalBytes));
    room -= now.moves().size();
    if (asking || room <= 0 || ticker.nanos() - nextNanos < 0) {
      return;
    }
    TreeMap<Integer, Integer> chosen = new TreeMap<>();
    Map<Integer, CompletableFuture<Boolean>> answers = new HashMap<>();
    int toGo = 0;
    for (MisplacedSlot each : misplaced(now)) {
      toGo++;
      boolean free = !rests(each.from) && !rests(each.to) && now.move(each.slot) == null;
      if (free && chosen.size() < room) {
        chosen.put(each.slot, each.to);
        for (int group : new int[] {each.from, each.to}) {
          answers.computeIfAbsent(group, unused -> answers(group, each.slot));
        }
      }
    }
    log(toGo, now);
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
            .whenCompleteAsync((inForce, error) -> started(answers, inForce), executor);
  }

  private void started(
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

  private void log(int toGo, ClusterMap now) {
    if (toGo > 0 && !saidBegun) {
      log.accept("cluster: " + toGo + " slots are to move, over " + now.groups() + " groups");
    } else if (toGo == 0 && saidBegun && now.moves().isEmpty()) {
      log.accept("cluster: all slots are where they should be");
    } else {
      return;
    }
    saidBegun = toGo > 0;
  }

  /** A slot that belongs in another group. */
  public record MisplacedSlot(int slot, int from, int to) {}

  private List<MisplacedSlot> misplaced(ClusterMap now) {
    Placement known = wanted;
    if (known == null || known.size() != now.groups()) {
      known = new Placement(now.groups());
      wanted = known;
    }
    return misplaced(now, known);
  }

  /** Returns the slots that are not where a placement has them. */
  public static List<MisplacedSlot> misplaced(ClusterMap now, Placement wanted) {
    short[] is = now.slots();
    short[] should = wanted.bySlot();
    List<MisplacedSlot> all = new ArrayList<>();
    for (int slot = 0; slot < is.length; slot++) {
      if (is[slot] != should[slot]) {
        all.add(new MisplacedSlot(slot, is[slot], should[slot]));
      }
    }
    return all;
  }
}
