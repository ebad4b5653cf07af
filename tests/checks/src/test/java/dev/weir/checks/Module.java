package dev.weir.checks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/**
 * A module of the build, as in its pom: new modules are found, and no list here names them.
 *
 * @param name its folder below the root, for example {@code stores/redis}
 * @param artifact its artifact, for example {@code weir-redis}
 * @param javaName the name of its Java module, for example {@code dev.weir.redis}; empty for a pom
 * @param published false for a module that is never deployed
 * @param jar false for a module that is only a pom
 * @param uses the artifacts of Weir that its main code may use
 * @param manages the artifacts of Weir whose versions it sets
 */
record Module(
    String name,
    String artifact,
    String javaName,
    boolean published,
    boolean jar,
    List<String> uses,
    List<String> manages) {
  static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();

  /** Returns all modules in the order of the poms that list them, those of profiles last. */
  static List<Module> all() {
    List<Module> modules = new ArrayList<>();
    collect(ROOT, modules);
    return modules.stream().distinct().toList(); // Two profiles may list the same one.
  }

  private static void collect(Path folder, List<Module> modules) {
    Element project = pom(folder);
    for (Element list : listsOfModules(project)) {
      for (Element module : children(list, "module")) {
        Path below = folder.resolve(module.getTextContent().strip());
        Element pom = pom(below);
        if (listsOfModules(pom).isEmpty()) {
          modules.add(module(below, pom));
        } else {
          collect(below, modules);
        }
      }
    }
  }

  private static List<Element> listsOfModules(Element project) {
    List<Element> lists = new ArrayList<>(children(project, "modules"));
    for (Element profiles : children(project, "profiles")) {
      for (Element profile : children(profiles, "profile")) {
        lists.addAll(children(profile, "modules"));
      }
    }
    return lists;
  }

  private static Module module(Path folder, Element pom) {
    List<String> uses = new ArrayList<>();
    for (Element dependencies : children(pom, "dependencies")) {
      uses.addAll(weirs(dependencies, dependency -> !text(dependency, "scope").equals("test")));
    }
    List<String> manages = new ArrayList<>();
    for (Element management : children(pom, "dependencyManagement")) {
      for (Element dependencies : children(management, "dependencies")) {
        manages.addAll(weirs(dependencies, dependency -> true));
      }
    }
    boolean published = !property(pom, "maven.deploy.skip").equals("true");
    return new Module(
        ROOT.relativize(folder).toString().replace('\\', '/'),
        text(pom, "artifactId"),
        property(pom, "module.name"),
        published,
        !text(pom, "packaging").equals("pom"),
        List.copyOf(uses),
        List.copyOf(manages));
  }

  /** Returns a property of a pom, empty if it does not set it. */
  static String property(Element pom, String name) {
    return children(pom, "properties").stream()
        .map(properties -> text(properties, name))
        .findFirst()
        .orElse("");
  }

  /** Returns all artifacts of Weir that a module's pom depends on, for its tests as well. */
  static List<String> dependencies(Path folder) {
    List<String> all = new ArrayList<>();
    for (Element dependencies : children(pom(folder), "dependencies")) {
      all.addAll(weirs(dependencies, dependency -> true));
    }
    return all;
  }

  private static List<String> weirs(Element dependencies, Predicate<Element> which) {
    return children(dependencies, "dependency").stream()
        .filter(dependency -> text(dependency, "groupId").equals("dev.weir"))
        .filter(which)
        .map(dependency -> text(dependency, "artifactId"))
        .toList();
  }

  Path folder() {
    return ROOT.resolve(name);
  }

  Path classes() {
    return folder().resolve("target/classes");
  }

  /**
   * Returns the package that the module's name stands for: {@code dev.weir.redis} for weir-redis.
   * The words for Spring's starters and a gateway add nothing: {@code dev.weir.spring.gateway}.
   */
  String packageName() {
    return "dev."
        + artifact
            .replaceFirst("-core$|-boot-autoconfigure$|-boot-starter$|-cloud(?=-gateway$)", "")
            .replace('-', '.');
  }

  /** Returns all Java sources, of the main code or of the tests. */
  List<Path> sources(String kind) {
    return files(folder().resolve("src/" + kind + "/java"), ".java");
  }

  static List<Path> files(Path folder, String ending) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
    } catch (IOException e) {
      throw new IllegalStateException(folder.toString(), e);
    }
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new IllegalStateException(file.toString(), e);
    }
  }

  static Element pom(Path folder) {
    return xml(folder.resolve("pom.xml"));
  }

  static Element xml(Path file) {
    try {
      return DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .parse(file.toFile())
          .getDocumentElement();
    } catch (IOException | SAXException | ParserConfigurationException e) {
      throw new IllegalStateException(file.toString(), e);
    }
  }

  static List<Element> children(Element parent, String name) {
    List<Element> found = new ArrayList<>();
    for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (node instanceof Element element && element.getTagName().equals(name)) {
        found.add(element);
      }
    }
    return found;
  }

  static String text(Element parent, String name) {
    List<Element> found = children(parent, name);
    return found.isEmpty() ? "" : found.get(0).getTextContent().strip();
  }
}
