package dev.weir.server;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import org.junit.jupiter.api.Test;

class ServerArchitectureTest {
  private static final JavaClasses SERVER =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.weir.server");

  @Test
  void packages_haveNoCycle() {
    slices().matching("dev.weir.server.internal.(*)..").should().beFreeOfCycles().check(SERVER);
    slices().matching("dev.weir.server.(*)..").should().beFreeOfCycles().check(SERVER);
  }

  @Test
  void packages_dependOnlyDownwards() {
    LayeredArchitecture rooms =
        layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("start")
            .definedBy("dev.weir.server");
    for (String room :
        new String[] {
          "grpc",
          "http",
          "resp",
          "metrics",
          "telemetry",
          "rules",
          "state",
          "deciding",
          "guard",
          "access",
          "log"
        }) {
      rooms = rooms.layer(room).definedBy("dev.weir.server.internal." + room);
    }
    rooms
        .whereLayer("start")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("grpc")
        .mayOnlyBeAccessedByLayers("start")
        .whereLayer("http")
        .mayOnlyBeAccessedByLayers("start", "rules")
        .whereLayer("rules")
        .mayOnlyBeAccessedByLayers("start")
        .whereLayer("state")
        .mayOnlyBeAccessedByLayers("start")
        .whereLayer("telemetry")
        .mayOnlyBeAccessedByLayers("start")
        .whereLayer("metrics")
        .mayOnlyBeAccessedByLayers("start", "telemetry", "rules")
        .whereLayer("resp")
        .mayOnlyBeAccessedByLayers("start", "metrics")
        .check(SERVER);
  }
}
