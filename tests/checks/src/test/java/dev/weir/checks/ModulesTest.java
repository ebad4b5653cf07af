package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The order of the modules, their packages and the BOM. */
class ModulesTest {
  private static final Pattern INTERNAL =
      Pattern.compile(
          "^import (?:static )?(dev\\.weir[.\\w]*?)\\.internal\\.[.\\w]+", Pattern.MULTILINE);

  private static final List<Module> MODULES = Module.all();

  @Test
  void modules_useOnlyModulesListedBeforeThem() {
    List<String> before = new ArrayList<>();
    List<String> upward = new ArrayList<>();
    for (Module module : MODULES) {
      for (String used : module.uses()) {
        if (!before.contains(used)) {
          upward.add(module.name() + " uses " + used + " (expected: listed before it)");
        }
      }
      before.add(module.artifact());
    }
    assertThat(upward).isEmpty();
  }

  @Test
  void publishedModules_doNotUseUnpublishedOnes() {
    List<String> unpublished =
        MODULES.stream().filter(module -> !module.published()).map(Module::artifact).toList();
    assertThat(MODULES.stream().filter(Module::published))
        .allSatisfy(module -> assertThat(module.uses()).doesNotContainAnyElementsOf(unpublished));
  }

  @Test
  void bom_namesEveryPublishedModuleOnce() {
    List<Module> boms =
        MODULES.stream().filter(module -> module.artifact().equals("weir-bom")).toList();
    assertThat(boms).hasSize(1);
    List<String> jars =
        MODULES.stream()
            .filter(module -> module.published() && module.jar())
            .map(Module::artifact)
            .toList();
    assertThat(boms.get(0).manages()).containsExactlyElementsOf(jars);
  }

  /**
   * Checks that no package named internal is used as an API; a provider of a module may use its
   * module's.
   */
  @Test
  void internalPackages_areUsedByTheirModuleOnly() {
    List<String> strangers = new ArrayList<>();
    for (Module module : MODULES) {
      for (Path source : module.sources("main")) {
        Matcher used = INTERNAL.matcher(Module.read(source));
        while (used.find()) {
          if (!(module.javaName() + ".").startsWith(used.group(1) + ".")) {
            strangers.add(source + ": " + used.group() + " (expected: a type of its own, or API)");
          }
        }
      }
    }
    assertThat(strangers).isEmpty();
  }

  /**
   * Checks the order of the build: a parallel build would read the public types of a module before
   * they are compiled.
   */
  @Test
  void checks_areBuiltAfterAllThatIsPublished() {
    assertThat(Module.dependencies(Module.ROOT.resolve("tests/checks")))
        .containsAll(
            MODULES.stream()
                .filter(module -> module.published() && module.jar())
                .map(Module::artifact)
                .toList());
  }

  @Test
  void nameOfTheJavaModule_isItsPackage() {
    assertThat(MODULES.stream().filter(module -> !module.sources("main").isEmpty()))
        .allSatisfy(module -> assertThat(module.javaName()).isEqualTo(module.packageName()));
  }

  /**
   * Checks that no two modules share a package, and that the name of the jar's module fits. Tests
   * that stand for a user's code are in {@code dev.example}.
   */
  @Test
  void sources_areInThePackageThatIsTheModulesNameOrBelow() {
    List<String> elsewhere = new ArrayList<>();
    for (Module module : MODULES) {
      for (String kind : List.of("main", "test")) {
        String folder = "src/" + kind + "/java/" + module.packageName().replace('.', '/') + "/";
        module.sources(kind).stream()
            .map(source -> module.folder().relativize(source).toString().replace('\\', '/'))
            .filter(source -> !source.startsWith(folder))
            .filter(source -> !source.startsWith("src/test/java/dev/example/"))
            .map(source -> module.name() + "/" + source + " (expected: in " + folder + ")")
            .forEach(elsewhere::add);
      }
    }
    assertThat(elsewhere).isEmpty();
  }
}
