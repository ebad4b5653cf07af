package dev.weir.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Error Prone and NullAway find nothing in the sources of any module. */
@Tag("analysis")
class AnalysisTest {
  private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();

  @Test
  @Timeout(value = 20, unit = TimeUnit.MINUTES)
  void sources_haveNoKnownMistake() {
    List<SourceSet> all = SourceSet.below(ROOT);
    assertThat(all).hasSizeGreaterThan(1);
    // On all processors: each set is a compilation of its own.
    assertThat(all.parallelStream().flatMap(set -> Analysis.ofFiles(set).stream()).toList())
        .isEmpty();
  }

  @Test
  void mistakesMadeOnPurpose_areFound() {
    assertThat(Analysis.of(source("int wrong(int a) { return a * 3 >>> 2; }")))
        .singleElement(InstanceOfAssertFactories.STRING)
        .contains("Wrong.java:4", "[OperatorPrecedence]");
    assertThat(Analysis.of(source("String wrong() { return null; }")))
        .singleElement(InstanceOfAssertFactories.STRING)
        .contains("Wrong.java:4", "[NullAway]");
  }

  private static JavaFileObject source(String method) {
    return new SimpleJavaFileObject(
        URI.create("string:///dev/weir/Wrong.java"), JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return "package dev.weir;\n\nfinal class Wrong {\n  %s\n}\n".formatted(method);
      }
    };
  }
}
