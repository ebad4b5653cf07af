package dev.weir.cluster.internal.map;

import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.LevelException;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.state.Entry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The members of a cluster, the members of each group, and the group of each key. Immutable.
 *
 * <p>It is a part of the state of group 0: each next one is an entry of its log, see {@link
 * Entry#MAP}. Its replicas are the wanted ones; the logs of the groups are brought to them step by
 * step.
 */
public final class ClusterMap {
  /*
   * How does it change? A pure function makes the next map from the one in force, with an epoch
   * that is one more; an entry proposes it, and every replica of group 0 accepts it if its own
   * epoch is still the one from which the next was made. So two simultaneous changes cannot undo
   * each other, and replicas need not agree on the reasons for a change.
   *
   * A name stands for one incarnation. A member that has lost its folder takes the place of the one
   * of its name by another incarnation, and keeps its groups: the difference to the voters of their
   * logs is the remaining work.
   */

  public static final int SLOTS = Placement.SLOTS;
  static final int MOST_MEMBERS = 256;
  static final int MOST_GROUPS = 256;

  /** The first number of a map of level 1, so that another layout is never taken for this one. */
  private static final int FORMAT = 1;

  /**
   * The first number of all other maps: the next number is the level, which determines the layout.
   */
  private static final int FORMAT_WITH_LEVEL = 2;

  private final int level;
  private final long epoch;
  private final int copies;
  private final List<Member> members;
  private final List<List<String>> replicas;
  private final List<List<Member>> founders;
  private final short[] slots;
  private final List<Move> moves;

  /**
   * A slot that moves from a group to another.
   *
   * @param epoch of the map that began it; for {@link Step#THAWING} that of the map that gave it up
   */
  public record Move(int slot, int from, int to, long epoch, Step step) {}

  /** The next step for a slot that moves. The numbers must never change. */
  public enum Step {
    /** The other group should get it. */
    MOVING(0),
    /** The other group decides it; the former one has to remove it. */
    DROPPING(1),
    /** The other group never will; the former one has to decide it again. */
    THAWING(2);

    private final int code;

    Step(int code) {
      this.code = code;
    }
  }

  private static final Step[] STEPS = Step.values();

  private ClusterMap(Builder parts) {
    level = parts.level;
    epoch = parts.epoch;
    copies = parts.copies;
    members = parts.members.stream().sorted(Comparator.comparing(Member::name)).toList();
    replicas = parts.replicas.stream().map(List::copyOf).toList();
    founders = parts.founders.stream().map(List::copyOf).toList();
    slots = parts.slots.clone();
    moves = List.copyOf(parts.moves);
    check();
  }

  /**
   * Returns a builder of a map.
   *
   * @param level the one in force, see {@link Levels}
   * @param epoch 0 or more, one more than that of the map before it
   */
  public static Builder builder(int level, long epoch) {
    return new Builder(level, epoch);
  }

  /** Returns a builder of the next map, with the content of this one. */
  private Builder next() {
    return new Builder(level, epoch + 1)
        .copies(copies)
        .members(members)
        .replicas(replicas)
        .founders(founders)
        .slots(slots)
        .moves(moves);
  }

  /** A builder of a map. Not safe for use by several threads. */
  public static final class Builder {
    private int level;
    private final long epoch;
    private int copies = 1;
    private List<Member> members = List.of();
    private List<List<String>> replicas = List.of();
    private List<List<Member>> founders = List.of();
    private short[] slots = new short[SLOTS];
    private List<Move> moves = List.of();

    private Builder(int level, long epoch) {
      this.level = level;
      this.epoch = epoch;
    }

    private Builder level(int newLevel) {
      level = newLevel;
      return this;
    }

    /** Sets the number of replicas of a group, if there are that many members; at least 1. */
    public Builder copies(int number) {
      copies = number;
      return this;
    }

    public Builder members(List<Member> newMembers) {
      members = newMembers;
      return this;
    }

    /** Sets the members of each group, by the group's number; a group may have none. */
    public Builder replicas(List<List<String>> newReplicas) {
      replicas = newReplicas;
      return this;
    }

    /**
     * Sets the founders of each group that was added after the cluster was formed (the last ones):
     * the members with which its log begins. Default: none was added.
     */
    public Builder founders(List<List<Member>> newFounders) {
      founders = newFounders;
      return this;
    }

    /** Sets the group of each slot. Default: the first. */
    public Builder slots(short[] newSlots) {
      slots = newSlots;
      return this;
    }

    /** Sets the slots that move. Default: none. */
    public Builder moves(List<Move> newMoves) {
      moves = newMoves;
      return this;
    }

    /**
     * Returns the map.
     *
     * @throws IllegalArgumentException if its parts contradict each other
     */
    public ClusterMap build() {
      return new ClusterMap(this);
    }
  }

  private void check() {
    Set<String> names = new HashSet<>();
    members.forEach(each -> names.add(each.name()));
    need(names.size() == members.size(), "two members of one name");
    need(!members.isEmpty() && members.size() <= MOST_MEMBERS, members.size() + " members");
    need(!replicas.isEmpty() && replicas.size() <= MOST_GROUPS, replicas.size() + " groups");
    need(epoch >= 0 && copies >= 1, "epoch " + epoch + ", " + copies + " copies");
    need(founders.size() < replicas.size(), founders.size() + " groups were added");
    need(
        level >= Levels.SLOT_MOVES || (founders.isEmpty() && moves.isEmpty()),
        moves.size() + " moves, " + founders.size() + " new groups at level " + level);
    need(slots.length == SLOTS, slots.length + " slots");
    for (List<String> each : replicas) {
      need(
          names.containsAll(each) && new HashSet<>(each).size() == each.size(),
          "replicas " + each + " of members " + names);
    }
    for (short each : slots) {
      if (each < 0 || each >= replicas.size()) {
        need(false, "a slot of group " + each);
      }
    }
    Set<Integer> moved = new HashSet<>();
    for (Move each : moves) {
      boolean known =
          each.slot >= 0
              && each.slot < SLOTS
              && each.from >= 0
              && each.from < replicas.size()
              && each.to >= 0
              && each.to < replicas.size()
              && each.from != each.to;
      need(known && moved.add(each.slot), each.toString());
    }
  }

  private static void need(boolean right, String found) {
    if (!right) {
      throw new IllegalArgumentException("map: " + found);
    }
  }

  /** Returns the first map of a cluster, from its charter. */
  public static ClusterMap first(Charter charter) {
    Placement placement = new Placement(charter.groups());
    List<Member> all = charter.members();
    return builder(Levels.FIRST, 1)
        .copies(charter.copies())
        .members(all)
        .replicas(Roster.replicas(all, charter.groups(), charter.copies()))
        .slots(placement.bySlot())
        .build();
  }

  /** Returns the level in force, see {@link Levels}. */
  public int level() {
    return level;
  }

  public long epoch() {
    return epoch;
  }

  /** Returns the number of replicas of a group, if there are that many members. */
  public int copies() {
    return copies;
  }

  /** Returns all members, by name. */
  public List<Member> members() {
    return members;
  }

  /** Returns the member of that name, or null. */
  @Nullable
  public Member member(String name) {
    return members.stream().filter(each -> each.name().equals(name)).findFirst().orElse(null);
  }

  /** Returns whether that incarnation of the member is the one in the map. */
  boolean has(String name, UUID incarnation) {
    Member known = member(name);
    return known != null && known.incarnation().equals(incarnation);
  }

  public int groups() {
    return replicas.size();
  }

  /** Returns the names of the wanted members of that group. */
  public List<String> replicas(int group) {
    return replicas.get(group);
  }

  /** Returns the members of each group. */
  public List<List<String>> replicas() {
    return replicas;
  }

  /**
   * Returns the members with which a group's log begins, as they were then; empty if the group
   * existed when the cluster was formed, or is not known. They never change: two members that began
   * one log with different founders could each decide.
   */
  public List<Member> founders(int group) {
    int added = group - (replicas.size() - founders.size());
    return added < 0 || group >= replicas.size() ? List.of() : founders.get(added);
  }

  /** Returns whether any key belongs to a group. */
  public boolean hasSlots(int group) {
    for (short each : slots) {
      if (each == group) {
        return true;
      }
    }
    return false;
  }

  /** Returns the group of a key. */
  public int group(long fingerprint) {
    return slots[Placement.slot(fingerprint)];
  }

  /** Returns the group of a slot. */
  public int groupOfSlot(int slot) {
    return slots[slot];
  }

  /** Returns the group of each slot, in an array of its own. */
  public short[] slots() {
    return slots.clone();
  }

  /** Returns the slots that are moving. */
  public List<Move> moves() {
    return moves;
  }

  /** Returns the move of a slot; null if it is not moving. */
  @Nullable
  public Move move(int slot) {
    return moves.stream().filter(each -> each.slot == slot).findFirst().orElse(null);
  }

  /** Returns the next map, with other members and replicas. */
  public ClusterMap with(List<Member> others, List<List<String>> of) {
    return next().members(others).replicas(of).build();
  }

  /** Returns the next map, with more groups, which have no slots yet. */
  ClusterMap withMore(List<List<String>> of) {
    List<List<Member>> begun = new ArrayList<>(founders);
    List<List<String>> all = new ArrayList<>(replicas);
    for (List<String> each : of) {
      all.add(each);
      begun.add(members.stream().filter(member -> each.contains(member.name())).toList());
    }
    return next().replicas(all).founders(begun).build();
  }

  /** Returns the next map, with other slots and moves. */
  ClusterMap with(short[] others, List<Move> on) {
    return next().slots(others).moves(on).build();
  }

  /** Returns the next map, at another level. */
  public ClusterMap at(int other) {
    return next().level(other).build();
  }

  /** Writes the map; consecutive slots of one group are written as their number. */
  public void write(ByteWriter out) {
    if (level == Levels.FIRST) {
      out.writeByte(FORMAT);
    } else {
      out.writeByte(FORMAT_WITH_LEVEL).writeNumber(level);
    }
    out.writeNumber(epoch).writeNumber(copies).writeNumber(members.size());
    members.forEach(each -> each.write(out));
    out.writeNumber(replicas.size());
    for (List<String> each : replicas) {
      out.writeNumber(each.size());
      each.forEach(out::writeText);
    }
    if (level >= Levels.SLOT_MOVES) {
      out.writeNumber(founders.size());
      for (List<Member> each : founders) {
        out.writeNumber(each.size());
        each.forEach(member -> member.write(out));
      }
    }
    for (int slot = 0; slot < SLOTS; ) {
      int end = slot + 1;
      while (end < SLOTS && slots[end] == slots[slot]) {
        end++;
      }
      out.writeNumber(end - slot).writeNumber(slots[slot]);
      slot = end;
    }
    out.writeNumber(moves.size());
    for (Move each : moves) {
      out.writeNumber(each.slot).writeNumber(each.from).writeNumber(each.to);
      out.writeNumber(each.epoch).writeByte(each.step.code);
    }
  }

  /**
   * Reads a map that {@link #write} wrote.
   *
   * @throws IllegalArgumentException if it is invalid
   * @throws LevelException if this version of Weir does not understand it
   */
  public static ClusterMap read(ByteReader in) {
    int format = in.readByte();
    need(
        format == FORMAT || format == FORMAT_WITH_LEVEL,
        "format " + format + " (expected: " + FORMAT + " or " + FORMAT_WITH_LEVEL + ")");
    int level = format == FORMAT ? Levels.FIRST : in.readNumber(Levels.FIRST, Integer.MAX_VALUE);
    Levels.HERE.check(level, "map");
    long epoch = in.readNumber();
    int copies = in.readNumber(1, MOST_MEMBERS);
    List<Member> members = readMembers(in);
    List<List<String>> replicas = new ArrayList<>();
    for (int i = in.readCount(); i > 0; i--) {
      List<String> names = new ArrayList<>();
      for (int j = in.readCount(); j > 0; j--) {
        names.add(in.readText());
      }
      replicas.add(names);
    }
    List<List<Member>> founders = new ArrayList<>();
    for (int i = level >= Levels.SLOT_MOVES ? in.readCount() : 0; i > 0; i--) {
      founders.add(readMembers(in));
    }
    short[] slots = new short[SLOTS];
    for (int slot = 0; slot < SLOTS; ) {
      int end = slot + in.readNumber(1, SLOTS - slot);
      short group = (short) in.readNumber(0, MOST_GROUPS - 1);
      while (slot < end) {
        slots[slot++] = group;
      }
    }
    List<Move> moves = new ArrayList<>();
    for (int i = in.readCount(); i > 0; i--) {
      moves.add(
          new Move(
              in.readNumber(0, SLOTS - 1),
              in.readNumber(0, MOST_GROUPS - 1),
              in.readNumber(0, MOST_GROUPS - 1),
              in.readNumber(),
              step(in.readByte())));
    }
    return builder(level, epoch)
        .copies(copies)
        .members(members)
        .replicas(replicas)
        .founders(founders)
        .slots(slots)
        .moves(moves)
        .build();
  }

  private static List<Member> readMembers(ByteReader in) {
    List<Member> members = new ArrayList<>();
    for (int i = in.readCount(); i > 0; i--) {
      members.add(Member.read(in));
    }
    return members;
  }

  private static Step step(int code) {
    need(code < STEPS.length, "a move with step " + code);
    return STEPS[code];
  }

  public byte[] toBytes() {
    ByteWriter out = new ByteWriter();
    write(out);
    return out.toBytes();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ClusterMap same && Arrays.equals(toBytes(), same.toBytes());
  }

  @Override
  public int hashCode() {
    return Long.hashCode(epoch);
  }

  @Override
  public String toString() {
    return "epoch " + epoch + ", members " + members + ", replicas " + replicas;
  }
}
