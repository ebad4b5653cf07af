package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Every library has an open licence: those of all modules and of the command with what they bring,
 * and each one that a pom names, for tests too. {@code docs/licences.md} lists the former; a change
 * writes it anew with {@code -Dweir.licences=write}.
 */
class LicencesTest {
  private static final Path PAGE = Module.ROOT.resolve("docs/licences.md");

  /** The folders from a jar up to the repository: version, artifact, and a group of two parts. */
  private static final int FOLDERS_OF_ASSERTJ = 5;

  private final Licences licences = new Licences(repository());

  private static Path repository() {
    try {
      Path folder =
          Path.of(Assertions.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      for (int i = 0; i < FOLDERS_OF_ASSERTJ; i++) {
        folder = Objects.requireNonNull(folder.getParent());
      }
      return folder;
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private List<Licences.Library> used() {
    String paths =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return Arrays.stream(paths.split(File.pathSeparator, -1))
        .map(path -> licences.of(Path.of(path)))
        .filter(Objects::nonNull)
        .toList();
  }

  /** Returns the libraries that the poms name with a version, as far as this build has them. */
  private List<Licences.Library> named() {
    List<Licences.Library> all = new ArrayList<>();
    List<Path> folders = new ArrayList<>(List.of(Module.ROOT));
    Module.all().forEach(module -> folders.add(module.folder()));
    for (Path folder : folders) {
      Element pom = Module.pom(folder);
      NodeList dependencies = pom.getElementsByTagName("dependency");
      for (int i = 0; i < dependencies.getLength(); i++) {
        Element each = (Element) dependencies.item(i);
        Licences.Library library =
            new Licences.Library(
                Licences.resolved(Module.text(each, "groupId"), pom),
                Module.text(each, "artifactId"),
                Licences.resolved(Module.text(each, "version"), pom));
        boolean own = library.group().equals("dev.weir") || library.group().contains("$");
        if (!own && !library.version().isEmpty() && licences.has(library)) {
          all.add(library);
        }
      }
    }
    return all;
  }

  @Test
  void everyLibrary_hasAnOpenLicence() {
    List<Licences.Library> all = new ArrayList<>(used());
    assertThat(all).hasSizeGreaterThan(50);
    int many = all.size();
    all.addAll(named());
    assertThat(all).hasSizeGreaterThan(many + 50);
    List<String> problems = new ArrayList<>();
    for (Licences.Library each : all) {
      if (licences.open(each).isEmpty()) {
        problems.add(
            each.name()
                + ":"
                + each.version()
                + ": "
                + licences.named(each)
                + " (expected: one of the open licences in Licences)");
      }
    }
    assertThat(problems).isEmpty();
  }

  @Test
  void termsOfVendors_areNotOpen() {
    assertThat(
            Licences.open(
                List.of(
                    "DynamoDB Local License Agreement",
                    "Server Side Public License, v 1",
                    "Business Source License 1.1",
                    "Elastic License 2.0",
                    "GNU General Public License, version 2")))
        .isEmpty();
    assertThat(Licences.open(List.of("The Apache Software License, Version 2.0", "GPL2 w/ CPE")))
        .containsExactly("Apache-2.0", "GPL-2.0 with the classpath exception");
  }

  @Test
  void page_hasTheLicenceOfEachLibrary() throws IOException {
    Map<String, String> lines = new TreeMap<>();
    for (Licences.Library each : used()) {
      lines.put(each.name(), String.join(", ", licences.open(each)));
    }
    StringBuilder page =
        new StringBuilder(
            """
            # Licences of libraries

            The libraries of all modules, of the command and of their checks, by their poms. Where a library has several licences, one of
            them is enough, or each is that of a part. `LicencesTest` writes this page, and fails at a library without an open licence.

            | library | licence |
            |---|---|
            """);
    lines.forEach((name, text) -> page.append("| `%s` | %s |%n".formatted(name, text)));
    if ("write".equals(System.getProperty("weir.licences"))) {
      Files.writeString(PAGE, page);
    }
    assertThat(Files.readString(PAGE))
        .as("written with -Dweir.licences=write")
        .isEqualTo(page.toString());
  }
}
