package dev.weir;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The names under which a limiter's policies are counted. A policy that has a name keeps it; the
 * others get one of the limiter's. Not safe for use by several threads.
 */
final class PolicyNames {
  /*
   * Which counts does a policy without a name continue after a change? Not those of the one at its
   * place: a quota put before it would then take its counts, and it would start fresh. It continues
   * the policy of its window, also one that is no longer in force: that name may still have counts.
   * Policies whose windows are new continue those that are left, each the one of the nearest window;
   * the store carries the counts over. What is still without a name is new.
   *
   * In a store of other limiters too, names are by place: another process that starts with these
   * policies has no other way to name them. A change that would need different names there is
   * refused.
   */

  /** The most names of earlier policies that are remembered. */
  private static final int MOST_EARLIER = 64;

  /** A policy to which this class has given a name. */
  private record Given(String name, long windowNanos) {}

  private final String base;
  private final boolean own;
  private final boolean isNamed;

  /** The policies in force that were given names. */
  private List<Given> current = List.of();

  /** Earlier ones, the latest first. */
  private List<Given> earlier = List.of();

  /**
   * Creates the names of a limiter.
   *
   * @param limiter the limiter's name, or null
   * @param own true if the store is the limiter's own, so that no name is needed
   */
  PolicyNames(@Nullable String limiter, boolean own) {
    this.base = limiter == null ? Policy.DEFAULT_NAME : limiter;
    this.own = own;
    this.isNamed = limiter != null;
  }

  /**
   * Returns the policies under the names that they have in the store. Changes nothing; {@link
   * #inForce} has to be called with them once they are in force.
   *
   * @throws IllegalArgumentException if two have one name, or one needs a name
   */
  Policy[] named(List<Policy> policies) {
    @Nullable String[] names = new @Nullable String[policies.size()];
    Set<String> taken = new HashSet<>();
    for (int i = 0; i < names.length; i++) {
      Policy policy = Check.notNull("policy", policies.get(i));
      if (isGiven(policy)) {
        names[i] = policy.name();
        if (!taken.add(policy.name())) {
          throw twoNamed(policy.name());
        }
      } else if (!own && !isNamed) {
        throw new IllegalArgumentException(
            "policy: without a name (expected: a name, under which the store keeps its counts)");
      }
    }
    List<Given> left = new ArrayList<>(current);
    left.addAll(earlier);
    left.removeIf(each -> taken.contains(each.name()));
    ofTheirWindows(policies, names, left);
    left.removeIf(each -> !current.contains(each));
    ofOtherWindows(policies, names, left);
    addNew(names, taken);
    return checked(policies, names);
  }

  private static IllegalArgumentException twoNamed(String name) {
    return new IllegalArgumentException(
        "policies: two named " + name + " (expected: a name for each)");
  }

  private static boolean isGiven(Policy policy) {
    return !policy.name().equals(Policy.DEFAULT_NAME);
  }

  private static void ofTheirWindows(
      List<Policy> policies, @Nullable String[] names, List<Given> left) {
    for (int i = 0; i < names.length; i++) {
      long window = policies.get(i).quota().windowNanos();
      for (int j = 0; j < left.size() && names[i] == null; j++) {
        if (left.get(j).windowNanos() == window) {
          names[i] = left.remove(j).name();
        }
      }
    }
  }

  private static void ofOtherWindows(
      List<Policy> policies, @Nullable String[] names, List<Given> left) {
    List<Integer> without = new ArrayList<>();
    for (int i = 0; i < names.length; i++) {
      if (names[i] == null) {
        without.add(i);
      }
    }
    while (!left.isEmpty() && !without.isEmpty()) {
      Integer nearest = without.get(0);
      Given continued = left.get(0);
      for (Integer i : without) {
        for (Given each : left) {
          if (ratio(policies.get(i), each) < ratio(policies.get(nearest), continued)) {
            nearest = i;
            continued = each;
          }
        }
      }
      names[nearest] = continued.name();
      left.remove(continued);
      without.remove(nearest);
    }
  }

  /** Returns how many times the longer window is as long as the shorter one. */
  private static double ratio(Policy policy, Given given) {
    long a = policy.quota().windowNanos();
    long b = given.windowNanos();
    return (double) Math.max(a, b) / Math.min(a, b); // For an order only: no permit depends on it.
  }

  /**
   * Names the rest: with the plain name, then with {@code #2}, and so on. In the limiter's own
   * store no earlier name is used again, as its counts are of another window.
   */
  private void addNew(@Nullable String[] names, Set<String> taken) {
    Set<String> known = new HashSet<>(taken);
    current.forEach(each -> known.add(each.name()));
    if (own) {
      earlier.forEach(each -> known.add(each.name()));
    }
    for (int i = 0; i < names.length; i++) {
      if (!own && names[i] == null && taken.contains(atPlace(i))) {
        throw twoNamed(atPlace(i));
      }
      for (int place = i; names[i] == null; place++) {
        names[i] = known.add(atPlace(place)) ? atPlace(place) : null;
      }
    }
  }

  private String atPlace(int place) {
    return place == 0 ? base : base + "#" + (place + 1);
  }

  private Policy[] checked(List<Policy> policies, @Nullable String[] names) {
    Policy[] named = new Policy[names.length];
    for (int i = 0; i < named.length; i++) {
      Policy policy = policies.get(i);
      String name = names[i] == null ? base : names[i];
      if (!own && !isGiven(policy) && !name.equals(atPlace(i))) {
        throw new IllegalArgumentException(
            "policy "
                + (i + 1)
                + ": without a name, and at another place than before (expected: a name, by which"
                + " other processes find its counts)");
      }
      named[i] = policy.named(name);
    }
    return named;
  }

  /** Records that policies are in force, which {@link #named} has returned for those given. */
  void inForce(List<Policy> given, Policy[] named) {
    List<Given> now = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (int i = 0; i < named.length; i++) {
      names.add(named[i].name());
      if (!isGiven(given.get(i))) {
        now.add(new Given(named[i].name(), named[i].quota().windowNanos()));
      }
    }
    List<Given> before = new ArrayList<>(current);
    before.addAll(earlier);
    before.removeIf(each -> names.contains(each.name()));
    current = now;
    earlier = before.subList(0, Math.min(before.size(), MOST_EARLIER));
  }
}
