package dev.weir.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The command-line tools of this machine, and the figures in their output. */
public final class Tools {
  private Tools() {}

  /** Returns whether a tool is on the path. */
  public static boolean there(String tool) {
    for (String folder : System.getenv("PATH").split(":", -1)) {
      if (Files.isExecutable(Path.of(folder, tool))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the command that runs another one on one processor; empty if there is no tool for that,
   * or only one processor.
   */
  public static List<String> onProcessor(int processor) {
    return Runtime.getRuntime().availableProcessors() > 1 && there("taskset")
        ? List.of("taskset", "-c", Integer.toString(processor))
        : List.of();
  }

  /** Returns the last number that a pattern's first group finds. */
  public static double number(String pattern, String output) throws IOException {
    Matcher matcher = Pattern.compile(pattern).matcher(output);
    double number = Double.NaN;
    while (matcher.find()) {
      number = Double.parseDouble(matcher.group(1));
    }
    if (Double.isNaN(number)) {
      throw new IOException("no figure like " + pattern + " in\n" + output);
    }
    return number;
  }
}
