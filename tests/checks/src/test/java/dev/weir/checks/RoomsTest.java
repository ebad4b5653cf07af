package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The packages of all modules beside {@code docs/rooms.md}, which lists them with their first
 * sentence. A change of the packages writes the page anew with {@code -Dweir.rooms=write}. A
 * package has at most {@value #MOST_TYPES} types, and a reason in its package-info from {@value
 * #MANY_TYPES} on.
 */
class RoomsTest {
  private static final Path PAGE = Module.ROOT.resolve("docs/rooms.md");

  private static final int MANY_TYPES = 21;
  private static final int MOST_TYPES = 40;

  /** A package with so many types has a package-info of {@value #LEAST_LINES} lines. */
  private static final int SOME_TYPES = 15;

  private static final int LEAST_LINES = 5;

  private static final Pattern SUMMARY = Pattern.compile("/\\*\\*(.*?)\\*/", Pattern.DOTALL);

  /** A package of a module. */
  private record Room(String name, int types, String text) {
    /** Returns the first sentence of the package-info, as Markdown. */
    String summary() {
      Matcher comment = SUMMARY.matcher(text);
      String body = comment.find() ? comment.group(1).replaceAll("\\s*\\n \\*\\s?", " ") : "";
      String sentence = body.strip().split("(?<=\\.)\\s|<p>|<ul>", 2)[0].strip();
      return sentence
          .replaceAll("\\{@code\\s+([^}]*)\\}", "`$1`")
          .replaceAll("\\{@link\\s+(?:[\\w.]*\\.)?(\\w+)\\}", "`$1`");
    }
  }

  private static Map<String, List<Room>> rooms() {
    Map<String, List<Room>> rooms = new TreeMap<>();
    for (Module module : Module.all()) {
      Map<Path, Integer> types = new TreeMap<>();
      for (Path source : module.sources("main")) {
        if (!source.endsWith("package-info.java")) {
          types.merge(source.getParent(), 1, Integer::sum);
        }
      }
      Path sources = module.folder().resolve("src/main/java");
      types.forEach(
          (folder, count) -> {
            Path info = folder.resolve("package-info.java");
            String name = sources.relativize(folder).toString().replace('/', '.');
            rooms
                .computeIfAbsent(module.name(), key -> new ArrayList<>())
                .add(new Room(name, count, Files.exists(info) ? Module.read(info) : ""));
          });
    }
    return rooms;
  }

  @Test
  void packages_areNotLargerThanOneCanHoldInTheHead() {
    List<String> problems = new ArrayList<>();
    for (List<Room> module : rooms().values()) {
      for (Room room : module) {
        // The core is one package by design: its parts share state that nothing else may see.
        boolean core = room.name().equals("dev.weir");
        if (room.types() > MOST_TYPES && !core) {
          problems.add(
              room.name() + ": " + room.types() + " types (expected: 1.." + MOST_TYPES + ")");
        }
        if (room.types() >= MANY_TYPES && !core && !room.text().contains("More than 20 types")) {
          problems.add(
              room.name() + ": " + room.types() + " types (expected: \"More than 20 types: ...\")");
        }
        if (room.types() >= SOME_TYPES && room.text().lines().count() < LEAST_LINES) {
          problems.add(room.name() + ": package-info (expected: " + LEAST_LINES + " lines)");
        }
      }
    }
    assertThat(problems).isEmpty();
  }

  @Test
  void page_listsAllPackages() throws IOException {
    StringBuilder page = new StringBuilder();
    page.append("# Rooms\n\n");
    page.append("All packages, by module, with the number of their types. ");
    page.append("Packages named `internal` are no API.\n");
    rooms()
        .forEach(
            (module, rooms) -> {
              page.append("\n## ").append(module).append("\n\n| package | types | content |\n");
              page.append("|---|---|---|\n");
              for (Room room : rooms) {
                page.append(
                    "| `%s` | %d | %s |\n".formatted(room.name(), room.types(), room.summary()));
              }
            });
    if ("write".equals(System.getProperty("weir.rooms"))) {
      Files.writeString(PAGE, page);
    }
    assertThat(Files.readString(PAGE))
        .as("written with -Dweir.rooms=write")
        .isEqualTo(page.toString());
  }
}
