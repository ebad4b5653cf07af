package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules that {@code package-info.java} states for the packages. */
class PackageTest {
  private static final Path SOURCES = Path.of("src", "main", "java", "dev", "weir", "cluster");
  private static final String PAGE = "package-info.java";
  private static final Pattern WORD = Pattern.compile("\\b[A-Z]\\w+\\b");
  private static final Pattern TWO_WORDS = Pattern.compile("(?:[A-Z][a-z]+){2,}");

  @Test
  void everyType_isInOneGroup() throws IOException {
    String page = Files.readString(SOURCES.resolve(PAGE));
    String groups =
        page.substring(page.indexOf("* a member"), page.indexOf("* The groups are one package"));
    List<String> types = types();
    List<String> listed =
        WORD.matcher(groups)
            .results()
            .map(MatchResult::group)
            .filter(word -> types.contains(word) || TWO_WORDS.matcher(word).matches())
            .toList();
    assertThat(listed).containsExactlyInAnyOrderElementsOf(types);
  }

  private static List<String> types() throws IOException {
    try (Stream<Path> files = Files.list(SOURCES)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".java") && !name.equals(PAGE))
          .map(name -> name.substring(0, name.length() - ".java".length()))
          .toList();
    }
  }
}
