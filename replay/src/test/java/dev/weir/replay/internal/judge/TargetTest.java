package dev.weir.replay.internal.judge;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test that problems with a file to be written are reported before anything is read. */
class TargetTest {
  @TempDir Path folder;

  private static List<String> problems(Path target, Path... sources) {
    List<String> problems = new ArrayList<>();
    Target.check("report", target, List.of(sources), problems);
    return problems;
  }

  @Test
  void folderThatIsNotThere_isSaidBeforeTheWork() {
    assertThat(problems(folder.resolve("none").resolve("report.html")))
        .singleElement()
        .asString()
        .endsWith("(expected: a file in a folder that exists)");
    assertThat(problems(folder)).singleElement().asString().contains("not a folder");
    assertThat(problems(folder.resolve("report.html"))).isEmpty();
    assertThat(problems(Path.of("report.html"))).isEmpty();
  }

  @Test
  void whatIsRead_isNotOverwrittenUnderAnyName() throws IOException {
    Path rules = Files.createDirectory(folder.resolve("rules"));
    Path rule = Files.writeString(rules.resolve("a.yaml"), "domain: d");
    Path other = Files.createSymbolicLink(folder.resolve("other.html"), rule);
    assertThat(problems(rule, rule)).hasSize(1);
    assertThat(problems(other, rule)).hasSize(1);
    assertThat(problems(rules.resolve("..").resolve("rules").resolve("a.yaml"), rule)).hasSize(1);
    assertThat(problems(rule, rules)).as("one of a folder's").hasSize(1);
    assertThat(problems(rules.resolve("report.html"), rules)).as("no rules").isEmpty();
  }

  @Test
  void twoNamesOfAFileThatIsNotThereYet_areTheSame() {
    assertThat(Target.same(Path.of("x.html"), Path.of(".", "x.html"))).isTrue();
    assertThat(Target.same(Path.of("x.html"), Path.of("y.html"))).isFalse();
  }
}
