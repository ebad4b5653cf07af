package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The public types of each published module beside the list of them in {@code docs/api}, so that a
 * review shows a change of the API that others depend on. Packages named {@code internal} are no
 * API. An intended change is written with {@code mvn verify -Dtest=PublicApiTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dweir.api=write}.
 */
class PublicApiTest {
  /*
   * Why a list of its own, and not a comparison of jars? japicmp and revapi compare with an
   * artifact that was released, and none was yet. The JDK's javap prints the API of a class file,
   * with generics and the values of constants, and prints the same on every JDK from 17 on; sorted
   * and without members that are private to a package, it is the list. It does not print which
   * types may be null, nor which classes a sealed type permits.
   */
  private static final Path LISTS = Module.ROOT.resolve("docs/api");

  private static final boolean WRITE = "write".equals(System.getProperty("weir.api"));

  @Test
  void publicTypes_areThoseOfTheTrackedList() throws IOException {
    List<String> problems = new ArrayList<>();
    Set<Path> lists = new TreeSet<>();
    for (Module module : Module.all()) {
      if (!module.published()
          || !module.jar()
          || module.name().equals("cli")
          || module.sources("main").isEmpty()) {
        continue; // Others depend on the command's flags, not on its types. A starter is a
        // list of dependencies; of generated messages the protocol is
        // promised.
      }
      Path list = LISTS.resolve(module.artifact() + ".txt");
      lists.add(list);
      assertThat(module.classes())
          .as("%s: its classes (expected: compiled before, as mvn verify does)", module.name())
          .isDirectory();
      String api = api(module);
      if (WRITE) {
        Files.createDirectories(LISTS);
        Files.writeString(list, api);
      } else if (Files.exists(list)) {
        problems.addAll(differences(list, Files.readString(list), api));
      } else {
        problems.add(
            Module.ROOT.relativize(list) + ": missing (expected: written with -Dweir.api=write)");
      }
    }
    for (Path list : Module.files(LISTS, ".txt")) {
      if (!lists.contains(list)) {
        if (WRITE) {
          Files.delete(list);
        } else {
          problems.add(
              Module.ROOT.relativize(list)
                  + ": of no module (expected: deleted, or written with -Dweir.api=write)");
        }
      }
    }
    if (!problems.isEmpty()) {
      fail(
          "The public API differs from docs/api. If the change is meant, write the lists with"
              + " -Dweir.api=write and commit them:%n%s",
          String.join(System.lineSeparator(), problems));
    }
  }

  /** Returns the lines that only one of both has, each with the type it belongs to. */
  private static List<String> differences(Path file, String tracked, String now) {
    Set<String> before = qualified(tracked);
    Set<String> after = qualified(now);
    Set<String> all = new TreeSet<>(before);
    all.addAll(after);
    List<String> differences = new ArrayList<>();
    for (String line : all) {
      if (!after.contains(line)) {
        differences.add("- " + line);
      } else if (!before.contains(line)) {
        differences.add("+ " + line);
      }
    }
    if (!differences.isEmpty()) {
      differences.add(0, Module.ROOT.relativize(file) + ":");
    }
    return differences;
  }

  private static Set<String> qualified(String api) {
    Set<String> lines = new TreeSet<>();
    String type = "";
    for (String line : api.lines().toList()) {
      if (!line.startsWith(" ")) {
        type = line;
      }
      lines.add(line.equals(type) ? type : type + " { " + line.strip());
    }
    return lines;
  }

  private static String api(Module module) {
    TreeMap<String, Set<String>> types = new TreeMap<>();
    String type = "";
    for (String line : javap(module).lines().toList()) {
      if (line.startsWith("Compiled from") || line.equals("}")) {
        type = "";
      } else if (line.endsWith("{") && !line.startsWith(" ")) {
        type = line.substring(0, line.length() - 1).strip();
        if (type.startsWith("public ")) {
          types.put(type, new TreeSet<>());
        }
      } else if (types.containsKey(type) && !line.isBlank()) {
        types.get(type).add("  " + line.strip());
      }
    }
    StringBuilder text = new StringBuilder();
    types.forEach(
        (name, members) -> {
          text.append(name).append('\n');
          members.forEach(member -> text.append(member).append('\n'));
        });
    return text.toString();
  }

  private static String javap(Module module) {
    List<String> arguments = new ArrayList<>(List.of("-protected", "-constants"));
    Path folder = module.classes().resolve(module.packageName().replace('.', '/'));
    try (Stream<Path> classes = Files.walk(folder)) {
      classes
          .filter(file -> file.toString().endsWith(".class"))
          .filter(file -> !file.endsWith("package-info.class"))
          .filter(file -> !folder.relativize(file).startsWith("internal"))
          .sorted()
          .forEach(file -> arguments.add(file.toString()));
    } catch (IOException e) {
      throw new IllegalStateException(folder.toString(), e);
    }
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        ToolProvider.findFirst("javap")
            .orElseThrow()
            .run(new PrintWriter(out), new PrintWriter(err), arguments.toArray(String[]::new));
    assertThat(status).as("javap: %s", err).isZero();
    return out.toString();
  }
}
