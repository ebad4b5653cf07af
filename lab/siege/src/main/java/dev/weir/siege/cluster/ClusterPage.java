package dev.weir.siege.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The state of a cluster in the view of one of its members.
 *
 * @param text the page; empty if there was no answer
 * @param replicas the replicas of the members that are up
 */
public record ClusterPage(String text, List<Replica> replicas) {
  static final ClusterPage NONE = new ClusterPage("", List.of());

  private static final Pattern MEMBER = Pattern.compile("\\{\"name\":\"(\\w+)\"");
  private static final Pattern LEVEL = Pattern.compile("\"level\":(\\d+)");
  private static final Pattern REPLICA =
      Pattern.compile(
          "\\{\"group\":(\\d+),\"leader\":\"\\w*\",\"leads\":(true|false),\"term\":(\\d+),"
              + "[^}]*?\"compared_at\":(\\d+),\"sum\":\"(\\w*)\",\"diverged\":(true|false),"
              + "[^}]*?\"voters\":\\[([^]]*)]");

  /**
   * A member's replica of a group.
   *
   * @param comparedAt the index of the last comparison of replicas; 0 if there was none
   * @param sum the sum of this replica at that index
   * @param voters the voters in the form of the page
   */
  public record Replica(
      String member,
      int group,
      boolean leads,
      long term,
      long comparedAt,
      String sum,
      boolean diverged,
      String voters) {
    public boolean hasVoter(String name) {
      return voters.contains("\"" + name + "\"");
    }
  }

  static ClusterPage of(String text) {
    List<Replica> replicas = new ArrayList<>();
    for (String part : text.split("(?=\\{\"name\":)", -1)) {
      Matcher name = MEMBER.matcher(part);
      if (name.lookingAt() && part.contains("\"up\":true")) {
        Matcher each = REPLICA.matcher(part);
        while (each.find()) {
          replicas.add(
              new Replica(
                  name.group(1),
                  Integer.parseInt(each.group(1)),
                  each.group(2).equals("true"),
                  Long.parseLong(each.group(3)),
                  Long.parseLong(each.group(4)),
                  each.group(5),
                  each.group(6).equals("true"),
                  each.group(7)));
        }
      }
    }
    return new ClusterPage(text, List.copyOf(replicas));
  }

  boolean healthy() {
    return text.contains("\"health\":\"healthy\"");
  }

  /** Returns the level at which members write; 0 if the page does not have it. */
  public int level() {
    Matcher level = LEVEL.matcher(text);
    return level.find() ? Integer.parseInt(level.group(1)) : 0;
  }

  /** Returns whether each slot of keys is in the group where it should be. */
  public boolean settled() {
    return text.contains("\"slots_to_move\":0,\"moves\":[]");
  }

  /** Returns whether the page names a member. */
  public boolean names(String member) {
    return text.contains("{\"name\":\"" + member + "\"");
  }

  /** Returns the replicas of a group. */
  public List<Replica> of(int group) {
    return replicas.stream().filter(each -> each.group() == group).toList();
  }

  /** Returns the numbers of the groups with replicas that are up. */
  public List<Integer> groups() {
    return replicas.stream().map(Replica::group).distinct().sorted().toList();
  }
}
