package dev.weir.cli.command;

import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** The texts about commands, in plain text: for lists, manual pages and shells. */
final class UsageText {
  private UsageText() {}

  /** Returns the first sentence of a command's description. */
  static String summary(CommandSpec command) {
    UsageMessageSpec usage = command.usageMessage();
    String[] lines = usage.header().length > 0 ? usage.header() : usage.description();
    return lines.length == 0 ? "" : firstSentence(lines[0]);
  }

  /** Returns the lines of a command's description, without blank ones at the end. */
  static List<String> description(CommandSpec command) {
    String whole = formatted(String.join("\n", command.usageMessage().description()));
    return whole.stripTrailing().lines().toList();
  }

  /** Returns the lines of a flag's or a parameter's description. */
  static List<String> lines(String[] description) {
    return Arrays.stream(description).flatMap(line -> formatted(line).lines()).toList();
  }

  static String firstSentence(String text) {
    String plain = formatted(text).strip();
    int end = plain.indexOf(". ");
    return end < 0 ? plain : plain.substring(0, end + 1);
  }

  /** Formats a text, in which %n is a line's end and %% a percent sign. */
  private static String formatted(String text) {
    return text.replace("%n", "\n").replace("%%", "%");
  }
}
