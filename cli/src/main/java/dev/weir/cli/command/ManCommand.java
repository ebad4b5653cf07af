package dev.weir.cli.command;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Spec;

@Command(
    name = "man",
    mixinStandardHelpOptions = true,
    description = {"Prints the manual page: 'weir man > weir.1', or 'weir man | man -l -'.", ""})
public final class ManCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    CommandLine main = spec.root().commandLine();
    PrintWriter out = spec.commandLine().getOut();
    out.println(".TH WEIR 1 \"\" \"weir " + escaped(Version.number()) + "\" \"Weir\"");
    out.println(".SH NAME\nweir \\- rate limits that hold");
    out.println(".SH SYNOPSIS\n.B weir\n.I COMMAND\n[\\fIFLAGS\\fR]");
    out.println(".SH EXIT STATUS");
    for (String line :
        List.of(
            "0: the command succeeded.",
            "1: it found problems, or the request was refused.",
            "2: it was used wrongly.",
            "3: it could not do its work.")) {
      out.println(".PP\n" + escaped(line));
    }
    out.println(".SH COMMANDS");
    for (Map.Entry<String, CommandLine> each : main.getSubcommands().entrySet()) {
      command("weir " + each.getKey(), each.getValue().getCommandSpec(), out);
      each.getValue()
          .getSubcommands()
          .forEach(
              (verb, line) ->
                  command("weir " + each.getKey() + " " + verb, line.getCommandSpec(), out));
    }
  }

  private static void command(String name, CommandSpec command, PrintWriter out) {
    out.println(".SS \"" + escaped(name) + "\"");
    for (String line : UsageText.description(command)) {
      out.println(line.isBlank() ? ".PP" : escaped(line));
    }
    for (PositionalParamSpec parameter : command.positionalParameters()) {
      out.println(".TP\n.I " + escaped(parameter.paramLabel()));
      described(parameter.description(), out);
    }
    for (OptionSpec option : command.options()) {
      if (option.hidden()) {
        continue;
      }
      String value = option.arity().max() > 0 ? "=" + option.paramLabel() : "";
      out.println(".TP\n.B " + escaped(String.join(", ", option.names()) + value));
      described(option.description(), out);
    }
  }

  private static void described(String[] lines, PrintWriter out) {
    UsageText.lines(lines).forEach(line -> out.println(escaped(line)));
  }

  /** Returns the text such that no part of it is read as a request of the page's language. */
  private static String escaped(String text) {
    String safe = text.replace("\\", "\\e").replace("-", "\\-").strip();
    return safe.startsWith(".") || safe.startsWith("'") ? "\\&" + safe : safe;
  }
}
