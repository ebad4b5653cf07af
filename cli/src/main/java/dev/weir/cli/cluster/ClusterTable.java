package dev.weir.cli.cluster;

import dev.weir.cli.cluster.ClusterView.Member;
import dev.weir.cli.cluster.ClusterView.Replica;
import dev.weir.cli.command.HeadedTable;
import dev.weir.cli.command.Text;
import dev.weir.internal.Choice;
import dev.weir.rules.ShownText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The state of a cluster, as text for people. */
final class ClusterTable {
  private static final long KIBI = 1024;
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};
  private static final int ID_LENGTH = 8;

  private ClusterTable() {}

  /**
   * Returns the text.
   *
   * @param now the wall clock of this machine, with which the time of groups is compared
   */
  static String of(ClusterView view, Instant now) {
    List<String> lines = new ArrayList<>();
    long up = view.members().stream().filter(Member::up).count();
    lines.add(
        (view.id().isEmpty() ? "no cluster yet" : "cluster " + shortId(view.id()))
            + ": "
            + Choice.text(view.health())
            + ", "
            + up
            + " of "
            + Text.count(view.members().size(), "member")
            + " up, "
            + Text.count(view.groups(), "group")
            + ", epoch "
            + view.epoch()
            + ", level "
            + view.level()
            + ", as "
            + ShownText.plain(view.by())
            + " says");
    lines.add("");
    lines.add(members(view).toString());
    lines.add("");
    lines.add(groups(view, now).toString());
    if (view.slotsToMove() > 0 || !view.moves().isEmpty()) {
      lines.add("");
      lines.add(onTheWay(view));
    }
    List<String> problems = problems(view);
    if (!problems.isEmpty()) {
      lines.add("");
      lines.addAll(problems);
    }
    if (!view.levelWaitsFor().isEmpty()) {
      lines.add("");
      lines.add("the cluster stays at level " + view.level() + " for now, because:");
      view.levelWaitsFor().forEach(each -> lines.add("  " + ShownText.plain(each)));
    }
    return String.join(System.lineSeparator(), lines);
  }

  private static String onTheWay(ClusterView view) {
    return Text.count(view.slotsToMove(), "slot")
        + " to move, of which "
        + view.moves().size()
        + " on the way";
  }

  /** Returns a table of each group's slots, and of the slots that move. */
  static String slots(ClusterView view) {
    HeadedTable table = new HeadedTable("GROUP", "SLOTS", "LEADER");
    for (int group = 0; group < view.slots().size(); group++) {
      Replica leader = view.leader(group);
      table.add(
          String.valueOf(group),
          ShownText.plain(view.slots().get(group)),
          leader == null ? "" : leader.member());
    }
    List<String> lines = new ArrayList<>(List.of(table.toString(), ""));
    boolean done = view.slotsToMove() == 0 && view.moves().isEmpty();
    lines.add(done ? "every slot is where it should be" : onTheWay(view));
    for (ClusterView.Move each : view.moves()) {
      lines.add(
          "slot "
              + each.slot()
              + ": group "
              + each.from()
              + " -> "
              + each.to()
              + ", "
              + ShownText.plain(each.step()));
    }
    return String.join(System.lineSeparator(), lines);
  }

  private static String shortId(String id) {
    return ShownText.plain(id.substring(0, Math.min(ID_LENGTH, id.length())));
  }

  private static HeadedTable members(ClusterView view) {
    HeadedTable table =
        new HeadedTable("MEMBER", "STATE", "LEADS", "KEYS", "BEHIND", "LOG", "ZONE");
    for (Member member : view.members()) {
      if (!member.up()) {
        table.add(member.name(), "down", "", "", "", "", member.zone());
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
      table.add(
          member.name(),
          state(view, member),
          String.join(",", leads),
          number(keys),
          number(behind),
          bytes(log),
          member.zone());
    }
    return table;
  }

  private static String state(ClusterView view, Member member) {
    if (member.replicas().isEmpty()) {
      return "spare";
    }
    if (member.replicas().stream().anyMatch(Replica::diverged)) {
      return "diverged";
    }
    for (Replica each : member.replicas()) {
      Replica leader = view.leader(each.group());
      if (leader != null && view.listens(member.name(), each.group())) {
        long percent = 100 * each.applied() / Math.max(1, leader.committed());
        return "catching up " + Math.min(100, percent) + " %";
      }
    }
    return "up";
  }

  private static HeadedTable groups(ClusterView view, Instant now) {
    HeadedTable table =
        new HeadedTable("GROUP", "LEADER", "TERM", "INDEX", "SLOTS", "TIME", "REPLICAS");
    for (int group = 0; group < view.groups(); group++) {
      Replica leader = view.leader(group);
      String slots = group < view.slots().size() ? view.slots().get(group) : "";
      String replicas =
          String.join(" ", view.replicas(group).stream().map(each -> replica(view, each)).toList());
      if (leader == null) {
        table.add(String.valueOf(group), "", "", "", slots, "", replicas);
      } else {
        table.add(
            String.valueOf(group),
            leader.member(),
            number(leader.term()),
            number(leader.committed()),
            slots,
            clock(leader.calendar(), now),
            replicas);
      }
    }
    return table;
  }

  private static String replica(ClusterView view, Replica each) {
    return each.member() + (view.listens(each.member(), each.group()) ? "(listener)" : "");
  }

  private static List<String> problems(ClusterView view) {
    List<String> problems = new ArrayList<>();
    for (Member each : view.members()) {
      if (!each.problem().isEmpty()) {
        problems.add(ShownText.plain(each.name()) + ": " + ShownText.plain(each.problem()));
      }
    }
    for (int group = 0; group < view.groups(); group++) {
      Replica leader = view.leader(group);
      if (leader != null && leader.clockFault()) {
        problems.add(
            "group "
                + group
                + ": its calendar does not follow the wall clock of "
                + ShownText.plain(leader.member())
                + ", which is too far off; windows aligned to the calendar are late until one of"
                + " the two is set (weir cluster calendar)");
      }
      boolean empty = group < view.slots().size() && view.slots().get(group).equals("0");
      if (leader == null && !empty) {
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

  /**
   * Returns the time by which a group's calendar is behind the wall clock; empty while it has none.
   */
  static String clock(Instant time, Instant now) {
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
