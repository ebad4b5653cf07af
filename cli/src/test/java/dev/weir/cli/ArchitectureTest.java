package dev.weir.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
  private static final JavaClasses WEIR =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.weir");

  @Test
  void core_dependsOnNothingButTheJdk() {
    classes()
        .that()
        .resideInAPackage("dev.weir")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("dev.weir", "java..", "org.jspecify.annotations")
        .check(WEIR);
  }

  @Test
  void modules_dependOnlyDownwards() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("core")
        .definedBy("dev.weir")
        .layer("rules")
        .definedBy("dev.weir.rules..")
        .layer("engine")
        .definedBy("dev.weir.engine..")
        .layer("redis")
        .definedBy("dev.weir.redis..")
        .layer("replay")
        .definedBy("dev.weir.replay..")
        .layer("server")
        .definedBy("dev.weir.server..")
        .layer("cli")
        .definedBy("dev.weir.cli..")
        .whereLayer("cli")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("server")
        .mayOnlyBeAccessedByLayers("cli")
        .whereLayer("replay")
        .mayOnlyBeAccessedByLayers("cli")
        .whereLayer("redis")
        .mayOnlyBeAccessedByLayers("server")
        .whereLayer("engine")
        .mayOnlyBeAccessedByLayers("replay", "server", "cli")
        .whereLayer("rules")
        .mayOnlyBeAccessedByLayers("engine", "replay", "server", "cli")
        .check(WEIR);
  }

  @Test
  void rules_knowNoEngineAndNoTransport() {
    classes()
        .that()
        .resideInAPackage("dev.weir.rules")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "dev.weir", "dev.weir.rules", "java..", "org.snakeyaml..", "org.jspecify.annotations")
        .check(WEIR);
  }
}
