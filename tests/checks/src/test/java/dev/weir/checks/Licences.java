package dev.weir.checks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.w3c.dom.Element;

/**
 * The licences of libraries, as the poms in the local repository name them.
 *
 * @param repository the folder of the local repository
 */
record Licences(Path repository) {
  /** The open licences that a library may have, by the ways in which poms name them. */
  private static final Map<String, Pattern> OPEN = new TreeMap<>();

  /** The most poms that inherit a licence from each other. */
  private static final int MOST_PARENTS = 10;

  static {
    open("Apache-2.0", "apache.*2|^apache$");
    open("BSD", "\\b0?bsd\\b");
    open("CC0 or public domain", "public domain|\\bcc0");
    open("CDDL-1.0", "\\bcddl\\b");
    open("EDL-1.0", "\\bedl\\b|eclipse distribution");
    open("EPL", "\\bepl\\b|eclipse public");
    open("GPL-2.0 with the classpath exception", "(gpl|general public).*(classpath|cpe)");
    open("LGPL", "lgpl|lesser general public");
    open("MIT", "\\bmit\\b|bouncy castle");
    open("MPL", "\\bmpl\\b|mozilla public");
  }

  private static void open(String name, String pattern) {
    OPEN.put(name, Pattern.compile(pattern, Pattern.CASE_INSENSITIVE));
  }

  /** A library of one version. */
  record Library(String group, String artifact, String version) {
    String name() {
      return group + ":" + artifact;
    }
  }

  /**
   * Returns the licences of a library in the words of its pom, or its parent's; empty if unnamed.
   */
  List<String> named(Library library) {
    Library at = library;
    for (int i = 0; i < MOST_PARENTS; i++) {
      Element pom = Module.xml(file(at, "pom"));
      List<String> names = new ArrayList<>();
      for (Element list : Module.children(pom, "licenses")) {
        for (Element licence : Module.children(list, "license")) {
          String name = Module.text(licence, "name");
          names.add(name.isEmpty() ? Module.text(licence, "url") : name);
        }
      }
      List<Element> parents = Module.children(pom, "parent");
      if (!names.isEmpty() || parents.isEmpty()) {
        return names;
      }
      Element parent = parents.get(0);
      at =
          new Library(
              Module.text(parent, "groupId"),
              Module.text(parent, "artifactId"),
              Module.text(parent, "version"));
    }
    return List.of();
  }

  /** Returns those of a library's licences that are open, by their short names. */
  List<String> open(Library library) {
    return open(named(library));
  }

  /** Returns the open ones of the licences that a pom names, by their short names. */
  static List<String> open(List<String> names) {
    List<String> open = new ArrayList<>();
    for (String name : names) {
      OPEN.forEach(
          (shortName, pattern) -> {
            if (pattern.matcher(name).find() && !open.contains(shortName)) {
              open.add(shortName);
            }
          });
    }
    return open;
  }

  boolean has(Library library) {
    return Files.exists(file(library, "pom"));
  }

  private Path file(Library library, String extension) {
    return repository
        .resolve(library.group.replace('.', '/'))
        .resolve(library.artifact)
        .resolve(library.version)
        .resolve(library.artifact + "-" + library.version + "." + extension);
  }

  /** Returns the library of a jar in the repository; null if the jar is elsewhere. */
  @Nullable Library of(Path jar) {
    if (!jar.startsWith(repository) || !jar.toString().endsWith(".jar")) {
      return null;
    }
    Path below = repository.relativize(jar);
    int parts = below.getNameCount();
    return new Library(
        below.subpath(0, parts - 3).toString().replace(below.getFileSystem().getSeparator(), "."),
        below.getName(parts - 3).toString(),
        below.getName(parts - 2).toString());
  }

  /** Returns a version with the properties of the root's pom, or of its own, in their places. */
  static String resolved(String text, Element own) {
    String value = text;
    for (int i = 0; i < MOST_PARENTS; i++) {
      Matcher property = Pattern.compile("\\$\\{([^}]+)}").matcher(value);
      if (!property.find()) {
        return value;
      }
      String name = property.group(1);
      String found = Module.property(own, name);
      if (found.isEmpty()) {
        found = Module.property(Module.pom(Module.ROOT), name);
      }
      value = value.replace(property.group(), found);
    }
    return value;
  }
}
