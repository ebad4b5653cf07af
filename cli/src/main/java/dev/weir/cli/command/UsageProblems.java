package dev.weir.cli.command;

import dev.weir.rules.DidYouMean;
import dev.weir.rules.ValueErrors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The problems with a command's arguments in the form of all other messages, {@code name: value
 * (expected: constraint)}. The parser's own messages speak of indexes, types and other things that
 * no user has written.
 */
public final class UsageProblems {
  private UsageProblems() {}

  /**
   * Returns the problems, at least one.
   *
   * @param arguments all arguments of the program
   */
  public static List<String> of(ParameterException exception, String[] arguments) {
    if (exception instanceof UnmatchedArgumentException unmatched
        && !unmatched.getUnmatched().isEmpty()) {
      return unknown(unmatched.getCommandLine(), unmatched.getUnmatched());
    }
    if (exception instanceof OverwrittenOptionException twice) {
      return List.of(ValueErrors.line(name(twice.getOverwritten()), "given twice", "once"));
    }
    if (exception instanceof MissingParameterException missing && !missing.getMissing().isEmpty()) {
      // A flag that is missing was perhaps mistyped.
      List<String> problems = unknownFlags(missing.getCommandLine(), Arrays.asList(arguments));
      if (problems.isEmpty()) {
        for (ArgSpec each : missing.getMissing()) {
          problems.add(missing(each, arguments));
        }
      }
      return problems;
    }
    ArgSpec flag = exception.getArgSpec();
    String value = exception.getValue();
    if (flag != null && value != null) {
      return List.of(ValueErrors.line(name(flag), value, expected(flag)));
    }
    if (value != null) { // The help command's own argument.
      return List.of(command(exception.getCommandLine(), value));
    }
    return List.of(String.valueOf(exception.getMessage()));
  }

  private static List<String> unknownFlags(CommandLine line, List<String> arguments) {
    List<String> known = new ArrayList<>(line.getCommandSpec().optionsMap().keySet());
    List<String> problems = new ArrayList<>();
    for (String each : arguments) {
      String flag = each.split("=", 2)[0];
      if (flag.startsWith("-") && flag.length() > 1 && !known.contains(flag)) {
        String command = line.getCommandSpec().qualifiedName();
        problems.add(
            ValueErrors.line(flag, "unknown", "a flag of '" + command + "'" + likely(flag, known)));
      }
    }
    return problems;
  }

  private static List<String> unknown(CommandLine line, List<String> unmatched) {
    List<String> problems = unknownFlags(line, unmatched);
    if (!problems.isEmpty()) {
      return problems; // The other arguments are probably the values of these flags.
    }
    String first = unmatched.get(0);
    if (!line.getSubcommands().isEmpty()) {
      return List.of(command(line, first));
    }
    boolean flagsAlone = line.getCommandSpec().positionalParameters().isEmpty();
    return List.of(
        ValueErrors.line("argument", first, flagsAlone ? "only flags" : "fewer arguments"));
  }

  private static String command(CommandLine line, String given) {
    List<String> known = new ArrayList<>(line.getSubcommands().keySet());
    String expected =
        line.getParent() == null
            ? "a command that '" + line.getCommandName() + " help' lists"
            : "one of " + String.join(", ", known);
    return ValueErrors.line("command", given, expected + likely(given, known));
  }

  private static String likely(String given, List<String> known) {
    return DidYouMean.of(given, known).replaceFirst("^,", ";");
  }

  private static String missing(ArgSpec argument, String[] arguments) {
    if (!(argument instanceof OptionSpec flag)) {
      return ValueErrors.line(argument.paramLabel(), "missing", summary(argument));
    }
    // Without a label of its own a flag has one that repeats its name: <domain>.
    String label = flag.paramLabel().startsWith("<") ? "" : flag.paramLabel();
    List<String> names = Arrays.asList(flag.names());
    for (String each : arguments) {
      if (names.contains(each.split("=", 2)[0])) {
        return ValueErrors.line(name(flag), "no value", label.isEmpty() ? "a value" : label);
      }
    }
    String before = label.isEmpty() ? "" : label + ", ";
    return ValueErrors.line(name(flag), "missing", before + summary(argument));
  }

  private static String summary(ArgSpec argument) {
    String[] lines = argument.description();
    String first = lines.length == 0 ? "a value" : UsageText.firstSentence(lines[0]);
    String plain = first.endsWith(".") ? first.substring(0, first.length() - 1) : first;
    return plain.substring(0, 1).toLowerCase(Locale.ROOT) + plain.substring(1);
  }

  private static String name(ArgSpec argument) {
    return argument instanceof OptionSpec flag ? flag.longestName() : argument.paramLabel();
  }

  private static String expected(ArgSpec argument) {
    Class<?> type = argument.type();
    if (type.isEnum()) {
      List<String> choices = new ArrayList<>();
      for (Object each : type.getEnumConstants()) {
        choices.add(each.toString());
      }
      return "one of " + String.join(", ", choices);
    }
    if (type == int.class || type == Integer.class || type == long.class || type == Long.class) {
      return "a whole number";
    }
    if (type == double.class || type == Double.class) {
      return "a number";
    }
    return type == boolean.class || type == Boolean.class ? "true or false" : summary(argument);
  }
}
