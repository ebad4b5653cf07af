package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Every test is run by some build: the name of its class is one that Surefire finds, and its tags
 * are kinds of which the root pom runs a sample or all.
 */
class TestKindsTest {
  private static final Pattern TEST =
      Pattern.compile("@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\\b");

  private static final Pattern TAG = Pattern.compile("@Tag\\(\"([^\"]*)\"\\)");

  /** A suite that makes fewer runs by default; not the test of that method itself. */
  private static final Pattern SAMPLING =
      Pattern.compile(
          "^import dev\\.weir\\.testkit\\.Trials;.*\\bTrials\\.runs\\(",
          Pattern.MULTILINE | Pattern.DOTALL);

  /** The class, interface or record that a file is named after. */
  private static final Pattern TYPE =
      Pattern.compile(
          "^(?:public )?(abstract |final )?(?:class|interface|record) (\\w+)", Pattern.MULTILINE);

  /** The line in the pom of a module whose tests profile rest leaves out. */
  private static final String NO_KIND = "<tests.of.no.kind>true<";

  /** The tag of tests against a service, which a script of .ci starts. */
  private final String elsewhere = Module.property(Module.pom(Module.ROOT), "tests.elsewhere");

  /**
   * The tags of what mvn verify runs too: a sample, which is shorter there, and what is as long
   * everywhere, so that profile rest leaves it out.
   */
  private static final List<String> EVERYDAY = List.of("sample", "once");

  private final List<String> kinds =
      Pattern.compile(" \\| ")
          .splitAsStream(Module.property(Module.pom(Module.ROOT), "tests.kinds"))
          .toList();

  @Test
  void kinds_areExplainedToContributors() {
    String page = Module.read(Module.ROOT.resolve("CONTRIBUTING.md"));
    assertThat(kinds).isNotEmpty().allSatisfy(kind -> assertThat(page).contains("`" + kind + "`"));
  }

  @Test
  void tags_areKindsOrSamplesOfOne() {
    List<String> problems = new ArrayList<>();
    for (Module module : Module.all()) {
      for (Path source : module.sources("test")) {
        String text = Module.read(source);
        List<String> tags = new ArrayList<>();
        Matcher tag = TAG.matcher(text);
        while (tag.find()) {
          tags.add(tag.group(1));
        }
        for (String each : tags) {
          if (!kinds.contains(each) && !EVERYDAY.contains(each) && !each.equals(elsewhere)) {
            problems.add(source + ": " + each + " (expected: one of " + kinds + ")");
          }
        }
        boolean ofAKind = tags.stream().anyMatch(kinds::contains);
        if (tags.stream().anyMatch(EVERYDAY::contains) && !ofAKind) {
          problems.add(source + ": a sample, or once, of no kind");
        }
        if (SAMPLING.matcher(text).find() && !ofAKind) {
          problems.add(
              source + ": fewer runs by default (expected: a kind, or no build makes all)");
        }
      }
    }
    assertThat(problems).isEmpty();
  }

  /** Main sources with a tag are contracts: the classes that inherit them have tests of a kind. */
  @Test
  void modulesWhoseTestsHaveNoKind_haveNoTag() {
    List<String> contracts = new ArrayList<>();
    for (Module module : Module.all()) {
      for (Path source : module.sources("main")) {
        Matcher type = TYPE.matcher(Module.read(source));
        if (TAG.matcher(Module.read(source)).find() && type.find()) {
          contracts.add(type.group(2));
        }
      }
    }
    assertThat(contracts).isNotEmpty();
    Pattern ofAKind =
        Pattern.compile(
            "@Tag\\(\"(?!"
                + elsewhere
                + "\")|\\bextends (?:"
                + String.join("|", contracts)
                + ")\\b");
    List<String> problems = new ArrayList<>();
    for (Module module : Module.all()) {
      if (Module.read(module.folder().resolve("pom.xml")).contains(NO_KIND)) {
        for (Path source : module.sources("test")) {
          if (ofAKind.matcher(Module.read(source)).find()) {
            problems.add(source + ": of a kind (expected: none, by its pom's " + NO_KIND + ")");
          }
        }
      }
    }
    assertThat(problems).isEmpty();
  }

  /**
   * Excepts abstract classes and interfaces, which are contracts: their tests run in the classes
   * that inherit them.
   */
  @Test
  void classesWithTests_haveNamesThatAreLookedFor() {
    List<String> problems = new ArrayList<>();
    for (Module module : Module.all()) {
      for (Path source : module.sources("test")) {
        String text = Module.read(source);
        Matcher type = TYPE.matcher(text);
        if (TEST.matcher(text).find()
            && type.find()
            && !"abstract ".equals(type.group(1))
            && !type.group().contains("interface ")
            && !isLookedFor(module, type.group(2))) {
          problems.add(source + " (expected: a name that ends in Test)");
        }
      }
    }
    assertThat(problems).isEmpty();
  }

  /**
   * Returns whether Surefire finds a class; the command's packed tests have an execution of their
   * own.
   */
  private static boolean isLookedFor(Module module, String name) {
    return name.endsWith("Test") || (module.name().equals("cli") && name.endsWith("IT"));
  }
}
