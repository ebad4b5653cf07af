package dev.weir.analysis;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The main or the test sources of a module, and the class path that they are compiled with.
 *
 * @param name the folder of the sources below the root, for example {@code core/src/main/java}
 * @param files the sources
 * @param classPath the class path, as javac takes it
 */
record SourceSet(String name, List<Path> files, String classPath) {
  /** The file that the build writes into a module's folder {@code target}. */
  private static final String CLASS_PATH = "target/class-path.txt";

  private static final int DEEPEST_MODULE = 3;

  @Override
  public String toString() {
    return name;
  }

  /** Returns all that the modules below a folder have, the largest first. */
  static List<SourceSet> below(Path root) {
    List<SourceSet> all = new ArrayList<>();
    for (Path pom : find(root, DEEPEST_MODULE, "pom.xml")) {
      Path module = Objects.requireNonNull(pom.getParent());
      for (String kind : List.of("main", "test")) {
        Path folder = module.resolve("src").resolve(kind).resolve("java");
        List<Path> files =
            Files.isDirectory(folder) ? find(folder, Integer.MAX_VALUE, ".java") : List.of();
        if (!files.isEmpty()) {
          all.add(
              new SourceSet(
                  root.relativize(folder).toString().replace('\\', '/'),
                  files,
                  classPath(module, kind)));
        }
      }
    }
    all.sort(Comparator.comparing(set -> -set.files.size()));
    return all;
  }

  private static String classPath(Path module, String kind) {
    // The tests of a module of poms are compiled by the modules below it, each with another
    // framework.
    Path compiled =
        find(module, 2, "pom.xml").stream()
            .map(Path::getParent)
            .filter(below -> !below.equals(module) && Files.exists(below.resolve(CLASS_PATH)))
            .max(Comparator.naturalOrder())
            .orElse(module);
    Path file = compiled.resolve(CLASS_PATH);
    try {
      String classes = compiled.resolve("target/classes").toString();
      String tests =
          kind.equals("test") ? File.pathSeparator + compiled.resolve("target/test-classes") : "";
      return classes + tests + File.pathSeparator + Files.readString(file).strip();
    } catch (IOException e) {
      throw new IllegalStateException(file + ": not there (expected: built before)", e);
    }
  }

  /** Finds files whose names end so, outside the folders of builds. */
  private static List<Path> find(Path folder, int depth, String ending) {
    try (Stream<Path> files = Files.walk(folder, depth)) {
      return files
          .filter(file -> file.getFileName().toString().endsWith(ending))
          .filter(file -> !folder.relativize(file).startsWith("target"))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
