package dev.weir.checks;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
  private static final String ADAPTIVE = "dev.weir.adaptive";
  private static final String INTERNAL = "dev.weir.internal";
  private static final String[] CORE = {"dev.weir", ADAPTIVE, INTERNAL};

  private static final JavaClasses WEIR =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.weir");

  @Test
  void core_dependsOnNothingButTheJdk() {
    classes()
        .that()
        .resideInAnyPackage(CORE)
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("dev.weir", ADAPTIVE, INTERNAL, "java..", "org.jspecify.annotations")
        .check(WEIR);
  }

  @Test
  void modules_dependOnlyDownwards() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("core")
        .definedBy(CORE)
        .layer("identity")
        .definedBy("dev.weir.identity..")
        .layer("rules")
        .definedBy("dev.weir.rules..")
        .layer("engine")
        .definedBy("dev.weir.engine..")
        .layer("config")
        .definedBy("dev.weir.config..")
        .layer("admin")
        .definedBy("dev.weir.admin..")
        .layer("shared")
        .definedBy("dev.weir.shared..")
        .layer("redis")
        .definedBy("dev.weir.redis..")
        .layer("traffic")
        .definedBy("dev.weir.traffic..")
        .layer("replay")
        .definedBy("dev.weir.replay..")
        .layer("http")
        .definedBy("dev.weir.protocol.http..")
        .layer("server")
        .definedBy("dev.weir.server..")
        .layer("load")
        .definedBy("dev.weir.load..")
        .layer("cli")
        .definedBy("dev.weir.cli..")
        .whereLayer("cli")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("load")
        .mayOnlyBeAccessedByLayers("cli")
        .whereLayer("server")
        .mayOnlyBeAccessedByLayers("load", "cli")
        .whereLayer("http")
        .mayOnlyBeAccessedByLayers("admin", "server")
        .whereLayer("replay")
        .mayOnlyBeAccessedByLayers("admin", "server", "cli")
        .whereLayer("traffic")
        .mayOnlyBeAccessedByLayers("replay", "load", "cli")
        .whereLayer("admin")
        .mayOnlyBeAccessedByLayers("server", "cli")
        .whereLayer("config")
        .mayOnlyBeAccessedByLayers("admin", "server", "cli")
        .whereLayer("shared") // The command uses ClusterMember.
        .mayOnlyBeAccessedByLayers("redis", "server", "cli")
        .whereLayer("redis")
        .mayOnlyBeAccessedByLayers("server")
        .whereLayer("engine")
        .mayOnlyBeAccessedByLayers("config", "admin", "replay", "http", "server", "cli")
        .whereLayer("identity")
        .mayOnlyBeAccessedByLayers("rules", "traffic", "http") // A rule's value may be a range.
        .whereLayer("rules")
        .mayOnlyBeAccessedByLayers(
            "engine", "config", "admin", "traffic", "replay", "http", "server", "load", "cli")
        .check(WEIR);
  }

  @Test
  void identity_dependsOnNothingButTheJdk() {
    classes()
        .that()
        .resideInAPackage("dev.weir.identity..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("dev.weir.identity..", "java..", "javax..", "org.jspecify.annotations")
        .check(WEIR);
  }

  @Test
  void rules_dependOnNoEngineAndNoTransport() {
    classes()
        .that()
        .resideInAPackage("dev.weir.rules..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "dev.weir",
            "dev.weir.internal",
            "dev.weir.identity",
            "dev.weir.rules..",
            "java..",
            "org.snakeyaml..",
            "org.jspecify.annotations")
        .check(WEIR);
  }
}
