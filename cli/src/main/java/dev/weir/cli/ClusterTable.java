package dev.weir.cli;

import dev.weir.cli.ClusterView.Member;
import dev.weir.cli.ClusterView.Replica;
import dev.weir.rules.ShownText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** How a cluster is, as text for people. */
final class ClusterTable {
  private static final long KIBI = 1024;
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};
  private static final int ID_LENGTH = 8;

  private ClusterTable() {}

  /**
   * Returns the text.
   *
   * @param now by the wall clock of this machine, with which the time of groups is compared
   */
  static String of(ClusterView view, Instant now) {
    List<String> lines = new ArrayList<>();
    long up = view.members().stream().filter(Member::up).count();
    lines.add(
        (view.id().isEmpty() ? "no cluster yet" : "cluster " + shortId(view.id()))
            + ": "
            + view.health().name().toLowerCase(Locale.ROOT)
            + ", "
            + up
            + " of "
            + Text.count(view.members().size(), "member")
            + " up, "
            + Text.count(view.groups(), "group")
            + ", as "
            + ShownText.plain(view.by())
            + " says");
    lines.add("");
    lines.add(members(view).toString());
    lines.add("");
    lines.add(groups(view, now).toString());
    List<String> problems = problems(view);
    if (!problems.isEmpty()) {
      lines.add("");
      lines.addAll(problems);
    }
    return String.join(System.lineSeparator(), lines);
  }

  private static String shortId(String id) {
    return ShownText.plain(id.substring(0, Math.min(ID_LENGTH, id.length())));
  }

  private static TextTable members(ClusterView view) {
    TextTable table = new TextTable("MEMBER", "STATE", "LEADS", "KEYS", "BEHIND", "LOG");
    for (Member member : view.members()) {
      if (!member.up()) {
        table.add(member.name(), "down", "", "", "", "");
        continue;
      }
      List<String> leads = new ArrayList<>();
      long keys = 0;
      long behind = 0;
      long log = 0;
      for (Replica each : member.replicas()) {
        Replica leader = view.leader(each.group());
        if (leader != null) {
          behind = Math.max(behind, leader.committed() - each.applied());
          if (leader.member().equals(member.name())) {
            leads.add(String.valueOf(each.group()));
          }
        }
        keys += each.keys();
        log += each.logBytes();
      }
      boolean diverged = member.replicas().stream().anyMatch(Replica::diverged);
      table.add(
          member.name(),
          diverged ? "diverged" : "up",
          String.join(",", leads),
          number(keys),
          number(behind),
          bytes(log));
    }
    return table;
  }

  private static TextTable groups(ClusterView view, Instant now) {
    TextTable table = new TextTable("GROUP", "LEADER", "TERM", "INDEX", "TIME", "REPLICAS");
    for (int group = 0; group < view.groups(); group++) {
      Replica leader = view.leader(group);
      String replicas =
          String.join(" ", view.replicas(group).stream().map(Replica::member).toList());
      if (leader == null) {
        table.add(String.valueOf(group), "", "", "", "", replicas);
      } else {
        table.add(
            String.valueOf(group),
            leader.member(),
            number(leader.term()),
            number(leader.committed()),
            clock(leader.time(), now),
            replicas);
      }
    }
    return table;
  }

  private static List<String> problems(ClusterView view) {
    List<String> problems = new ArrayList<>();
    for (int group = 0; group < view.groups(); group++) {
      if (view.leader(group) == null) {
        problems.add(
            "group " + group + " has no leader: its keys are answered by each rule's on_failure");
      }
      for (Replica each : view.replicas(group)) {
        if (each.diverged()) {
          problems.add(
              "group "
                  + group
                  + ": the replica of "
                  + ShownText.plain(each.member())
                  + " has come to other counts than the leader's, and answers nothing");
        }
      }
    }
    return problems;
  }

  /** Returns how far a group's time is behind the wall clock; empty while it has none. */
  private static String clock(Instant time, Instant now) {
    if (time.equals(Instant.EPOCH)) {
      return "";
    }
    long tenths = Math.round(Duration.between(time, now).toMillis() / 100.0);
    String seconds = Math.abs(tenths) / 10 + "." + Math.abs(tenths) % 10 + " s";
    return tenths < 0 ? seconds + " ahead" : seconds + " behind";
  }

  private static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  private static String bytes(long bytes) {
    int unit = 0;
    double value = bytes;
    while (value >= KIBI && unit < UNITS.length - 1) {
      value /= KIBI;
      unit++;
    }
    return unit == 0
        ? bytes + " B"
        : String.format(Locale.ROOT, value < 10 ? "%.1f %s" : "%.0f %s", value, UNITS[unit]);
  }
}
