package dev.weir.replay.internal.judge;

import dev.weir.internal.IoCauses;
import dev.weir.rules.Rules;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A file that is to be written. It is checked before anything is read, so that a mistyped name can
 * neither overwrite a log nor lose an hour's work because of a folder that does not exist.
 */
public final class Target {
  private Target() {}

  /**
   * Adds the problems with a file that is to be written.
   *
   * @param what the option's name
   * @param target the file; null for none, which is no problem
   * @param sources files that are read, and folders of rules
   */
  public static void check(
      String what, @Nullable Path target, List<Path> sources, List<String> problems) {
    if (target == null) {
      return;
    }
    if (Files.isDirectory(target)) {
      problems.add(what + ": " + target + " (expected: a file, not a folder)");
      return;
    }
    Path folder = target.toAbsolutePath().getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      problems.add(what + ": " + target + " (expected: a file in a folder that exists)");
    } else if (sources.stream().anyMatch(source -> read(source, target, folder))) {
      problems.add(what + ": " + target + " (expected: not what is read)");
    } else if (!Files.isWritable(Files.exists(target) ? target : folder)) {
      problems.add(
          what + ": " + IoCauses.file(target, new AccessDeniedException(target.toString())));
    }
  }

  private static boolean read(Path source, Path target, Path folder) {
    return Files.isDirectory(source)
        ? Rules.isRuleFile(target) && same(source, folder)
        : same(source, target);
  }

  /** Returns whether two paths lead to the same file, even if it does not exist. */
  public static boolean same(Path a, Path b) {
    if (a.toAbsolutePath().normalize().equals(b.toAbsolutePath().normalize())) {
      return true;
    }
    try {
      return Files.exists(a) && Files.exists(b) && Files.isSameFile(a, b);
    } catch (IOException e) {
      return true; // If in doubt, the file is kept.
    }
  }
}
