package dev.weir.cli.command;

import dev.weir.cli.Main;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.UsageMessageSpec;

/** A list of the commands, grouped by purpose. */
public final class CommandGroups {
  private static final int COLUMNS = 80;

  private static final Map<String, List<String>> GROUPS = groups();

  private CommandGroups() {}

  private static Map<String, List<String>> groups() {
    Map<String, List<String>> groups = new LinkedHashMap<>();
    groups.put("Run a server, and ask one", List.of("serve", "check", "cluster", "bench"));
    groups.put("Rule files", List.of("lint", "explain", "import"));
    groups.put(
        "What rules do to traffic", List.of("inspect", "replay", "compare", "suggest", "generate"));
    groups.put(
        "Administration of a server",
        List.of("dashboard", "rules", "limits", "tokens", "audit", "config"));
    return groups;
  }

  /**
   * The section of the help with the list. It is a class and not a lambda, for the reason that
   * {@link Main} gives.
   */
  private static final class Section implements IHelpSectionRenderer {
    @Override
    public String render(Help help) {
      return list(help);
    }
  }

  public static void showIn(CommandLine main) {
    main.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, new Section());
  }

  /** Returns the list; commands without a group come last. */
  private static String list(Help help) {
    Map<String, Help> commands = help.subcommands();
    int width = commands.keySet().stream().mapToInt(String::length).max().orElse(0) + 4;
    Set<String> left = new LinkedHashSet<>(commands.keySet());
    StringBuilder text = new StringBuilder();
    GROUPS.forEach(
        (title, names) -> {
          group(title, present(names, left), commands, width, text);
        });
    group("Other", List.copyOf(left), commands, width, text);
    return text.toString();
  }

  private static List<String> present(List<String> names, Set<String> left) {
    List<String> present = new ArrayList<>();
    for (String name : names) {
      if (left.remove(name)) {
        present.add(name);
      }
    }
    return present;
  }

  private static void group(
      String title, List<String> names, Map<String, Help> commands, int width, StringBuilder text) {
    if (names.isEmpty()) {
      return;
    }
    text.append(System.lineSeparator()).append(title).append(':').append(System.lineSeparator());
    for (String name : names) {
      Help help = commands.get(name);
      StringBuilder line = new StringBuilder("  ").append(name);
      line.append(" ".repeat(width - line.length()));
      for (String word :
          (help == null ? "" : UsageText.summary(help.commandSpec())).split(" ", -1)) {
        if (line.length() + word.length() > COLUMNS) {
          text.append(line.toString().stripTrailing()).append(System.lineSeparator());
          line.setLength(0);
          line.append(" ".repeat(width));
        }
        line.append(word).append(' ');
      }
      text.append(line.toString().stripTrailing()).append(System.lineSeparator());
    }
  }
}
