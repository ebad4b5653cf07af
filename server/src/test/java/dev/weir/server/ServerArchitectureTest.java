package dev.weir.server;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ServerArchitectureTest {
  private static final JavaClasses SERVER =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.weir.server");

  @Test
  void packages_haveNoCycle() {
    slices().matching("dev.weir.server.(*)..").should().beFreeOfCycles().check(SERVER);
  }

  @Test
  void packages_dependOnlyDownwards() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("server")
        .definedBy("dev.weir.server")
        .layer("grpc")
        .definedBy("dev.weir.server.grpc")
        .layer("http")
        .definedBy("dev.weir.server.http")
        .layer("resp")
        .definedBy("dev.weir.server.resp")
        .layer("metrics")
        .definedBy("dev.weir.server.metrics")
        .layer("telemetry")
        .definedBy("dev.weir.server.telemetry")
        .layer("door")
        .definedBy("dev.weir.server.door")
        .layer("settings")
        .definedBy("dev.weir.server.settings")
        .whereLayer("server")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("grpc")
        .mayOnlyBeAccessedByLayers("server")
        .whereLayer("http")
        .mayOnlyBeAccessedByLayers("server")
        .whereLayer("telemetry")
        .mayOnlyBeAccessedByLayers("server")
        .whereLayer("metrics")
        .mayOnlyBeAccessedByLayers("server", "telemetry")
        .whereLayer("resp")
        .mayOnlyBeAccessedByLayers("server", "metrics")
        .whereLayer("door")
        .mayOnlyBeAccessedByLayers("server", "grpc", "http", "resp", "metrics", "telemetry")
        .check(SERVER);
  }
}
