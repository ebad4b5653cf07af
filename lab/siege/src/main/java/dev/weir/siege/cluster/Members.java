package dev.weir.siege.cluster;

import dev.weir.siege.ServerProcess;
import dev.weir.siege.Target;
import dev.weir.siege.guests.Guest;
import dev.weir.siege.guests.Protocol;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * The members of a cluster, and the processes that can become members. Not safe for use by several
 * threads.
 */
public final class Members implements AutoCloseable {
  /** The longest time for a cluster to become as it should be, on a busy machine. */
  public static final Duration LONGEST = Duration.ofMinutes(3);

  private static final long MOMENT_MILLIS = 50;

  private final List<MemberProcess> all;
  private final List<MemberProcess> spare;
  private final SplittableRandom random;
  private int probes;

  Members(List<MemberProcess> all, SplittableRandom random) {
    this(all, List.of(), random);
  }

  /**
   * @param spare the processes that can join
   */
  Members(List<MemberProcess> all, List<MemberProcess> spare, SplittableRandom random) {
    this.all = new ArrayList<>(all);
    this.spare = new ArrayList<>(spare);
    this.random = random;
  }

  /** Returns the members as they are now, or are meant to be. */
  public List<MemberProcess> all() {
    return Collections.unmodifiableList(all);
  }

  /** Returns the processes that can join, none of which runs. */
  public List<MemberProcess> spare() {
    return Collections.unmodifiableList(spare);
  }

  /** Returns all processes that are or can become members. */
  List<MemberProcess> every() {
    List<MemberProcess> every = new ArrayList<>(all);
    every.addAll(spare);
    return every;
  }

  /**
   * Starts a process that was no member, with an empty folder: from now on it counts as a member.
   */
  public MemberProcess join() throws IOException {
    MemberProcess newcomer = spare.remove(random.nextInt(spare.size()));
    newcomer.loseFolder();
    all.add(newcomer);
    newcomer.start();
    return newcomer;
  }

  /** Removes a member from the list: it is no member any more. */
  public void removed(MemberProcess member) {
    all.remove(member);
    spare.add(member);
  }

  MemberProcess of(String name) {
    return named(name).orElseThrow();
  }

  private Optional<MemberProcess> named(String name) {
    return all.stream().filter(each -> each.name().equals(name)).findFirst();
  }

  public MemberProcess any() {
    return all.get(random.nextInt(all.size()));
  }

  /** Returns so many members, in any order. */
  public List<MemberProcess> some(int count) {
    List<MemberProcess> left = new ArrayList<>(all);
    List<MemberProcess> some = new ArrayList<>();
    while (some.size() < count) {
      some.add(left.remove(random.nextInt(left.size())));
    }
    return some;
  }

  /** Returns a member that does not lead. */
  public MemberProcess follower() throws IOException, InterruptedException {
    return anyBut(leader());
  }

  public MemberProcess anyBut(MemberProcess one) {
    List<MemberProcess> others = new ArrayList<>(all);
    others.remove(one);
    return others.get(random.nextInt(others.size()));
  }

  /** Starts all members that do not run, and returns at once. */
  void start() throws IOException {
    for (MemberProcess each : all) {
      if (!each.started()) {
        each.start();
      }
    }
  }

  /** Waits until group 0 has a leader, and returns it. */
  public MemberProcess leader() throws IOException, InterruptedException {
    return leader(0);
  }

  /** Waits until a group has a leader, and returns it. */
  public MemberProcess leader(int group) throws IOException, InterruptedException {
    AtomicReference<MemberProcess> found = new AtomicReference<>();
    await(
        () -> {
          page().of(group).stream()
              .filter(ClusterPage.Replica::leads)
              .max(Comparator.comparingLong(ClusterPage.Replica::term))
              .flatMap(leader -> named(leader.member()))
              .ifPresent(found::set);
          return found.get() != null;
        },
        () -> "group " + group + ": no leader within " + LONGEST);
    return Objects.requireNonNull(found.get());
  }

  /** A state that a cluster reaches some time. */
  private interface State {
    boolean holds() throws IOException, InterruptedException;
  }

  /**
   * Waits until the state holds.
   *
   * @throws IOException if it does not hold within {@link #LONGEST}; the message has all logs
   */
  private void await(State state, Supplier<String> trouble)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + LONGEST.toNanos();
    while (!state.holds()) {
      if (System.nanoTime() - deadline >= 0) {
        throw new IOException(trouble.get() + "\n" + logs());
      }
      TimeUnit.MILLISECONDS.sleep(MOMENT_MILLIS);
    }
  }

  /** Returns whether a member admits a request for a fresh key. */
  public boolean admits(MemberProcess member) {
    Target target = member.target();
    if (target == null) {
      return false;
    }
    try (Guest guest = Protocol.HTTP.connect(target)) {
      return guest.request(Ration.RULE, "probe-" + probes++).allowed();
    } catch (IOException away) {
      return false;
    }
  }

  /**
   * Waits until one of those members admits a request for a fresh key.
   *
   * @throws IOException if none does within {@link #LONGEST}
   */
  public void awaitAdmission(List<MemberProcess> some) throws IOException, InterruptedException {
    await(
        () -> some.stream().anyMatch(this::admits), () -> "nothing is admitted within " + LONGEST);
  }

  /** Waits until all members take part, and one of them reports that all is well. */
  public void awaitHealthy() throws IOException, InterruptedException {
    for (MemberProcess each : all) {
      each.process().awaitReady();
    }
    await(
        () -> well(page()),
        () -> "not healthy within " + LONGEST + ": " + page().text() + "\n" + raftThreads());
  }

  /**
   * Replaces a member by another version in order, and waits until the cluster is healthy again.
   */
  public void upgrade(MemberProcess member, int level) throws IOException, InterruptedException {
    member.end();
    member.understands(level);
    member.start();
    awaitHealthy();
  }

  /** Waits until members write at a level. */
  public void awaitLevel(int level) throws IOException, InterruptedException {
    await(() -> page().level() == level, () -> "not at level " + level + ": " + page().text());
  }

  /** Waits until each slot of keys is in the group where it should be. */
  public void awaitSettled() throws IOException, InterruptedException {
    await(() -> page().settled(), () -> "slots still move: " + page().text());
  }

  /** Returns whether a page reports that all is well, with exactly these members. */
  private boolean well(ClusterPage page) {
    return page.healthy()
        && all.stream().allMatch(each -> page.names(each.name()))
        && spare.stream().noneMatch(each -> page.names(each.name()));
  }

  /**
   * Waits until all replicas of each group have compared their sums at one place of its log.
   *
   * @throws IOException if they differ, or have not compared within {@link #LONGEST}
   */
  void verify() throws IOException, InterruptedException {
    Map<String, Map<String, String>> places = new HashMap<>();
    Set<Integer> same = new HashSet<>();
    await(
        () -> {
          ClusterPage page = page();
          compare(page, places, same);
          return !page.groups().isEmpty() && same.containsAll(page.groups());
        },
        () -> "not compared within " + LONGEST + ": " + places);
  }

  private static void compare(
      ClusterPage page, Map<String, Map<String, String>> places, Set<Integer> same)
      throws IOException {
    for (ClusterPage.Replica each : page.replicas()) {
      if (each.diverged()) {
        throw new IOException(each.member() + " has diverged: " + page.text());
      }
      if (each.comparedAt() > 0) {
        Map<String, String> place =
            places.computeIfAbsent(
                each.group() + " at " + each.comparedAt(), at -> new HashMap<>());
        place.put(each.member(), each.sum());
        if (new HashSet<>(place.values()).size() > 1) {
          throw new IOException("sums of group " + each + " differ: " + place);
        }
        if (page.of(each.group()).stream().allMatch(one -> place.containsKey(one.member()))) {
          same.add(each.group());
        }
      }
    }
  }

  /**
   * Returns the state of the cluster from the first member that answers; an empty page if none
   * does.
   */
  public ClusterPage page() {
    for (MemberProcess each : all) {
      ClusterPage page = each.goesOn() ? each.page() : ClusterPage.NONE;
      if (!page.replicas().isEmpty()) {
        return page;
      }
    }
    return ClusterPage.NONE;
  }

  /**
   * Changes the cluster by {@code weir cluster}, in the way of an operator who tries again at any
   * member that is up, as long as it is refused.
   *
   * @throws IOException if it is refused for {@link #LONGEST}
   */
  public void change(String... words) throws IOException, InterruptedException {
    AtomicReference<String> said = new AtomicReference<>("none is up");
    await(
        () -> {
          MemberProcess asked = any();
          Target target = asked.goesOn() ? asked.target() : null;
          if (target == null) {
            return false;
          }
          ServerProcess.CommandResult answer = ServerProcess.cluster(target, words);
          said.set(answer.text());
          return answer.status() == 0;
        },
        () -> String.join(" ", words) + ": " + said.get());
  }

  /** Returns the stack traces of each group's threads, which show why nobody leads it. */
  private String raftThreads() {
    StringBuilder text = new StringBuilder();
    for (MemberProcess each : every()) {
      if (each.started()) {
        text.append(each.name()).append(":\n");
        try {
          for (String thread : each.process().command("Thread.print").split("\n\n", -1)) {
            if (thread.startsWith("\"") && thread.contains("@group-")) { // Named by Ratis.
              text.append(thread).append('\n');
            }
          }
        } catch (IOException e) { // It has ended, or stands still, which is of interest too.
          text.append(e.getMessage()).append('\n');
        }
      }
    }
    return text.toString();
  }

  /** Returns the ends of all members' outputs. */
  String logs() {
    StringBuilder text = new StringBuilder();
    for (MemberProcess each : every()) {
      String log = each.started() ? each.process().log() : "ended\n";
      text.append(each.name()).append(": ");
      text.append(log.substring(Math.max(0, log.length() - 2_000)));
    }
    return text.toString();
  }

  @Override
  public void close() {
    every().forEach(MemberProcess::close);
  }
}
