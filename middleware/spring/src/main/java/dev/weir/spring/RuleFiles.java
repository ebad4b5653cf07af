package dev.weir.spring;

import dev.weir.engine.RunningEngine;
import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/**
 * The source of the rules: {@code weir.rules}, or {@code classpath:weir.yaml} if that is there.
 * Files in the file system are watched, on the class path too; files in a jar cannot change.
 */
final class RuleFiles {
  static final String DEFAULT = "classpath:weir.yaml";
  private static final String NAME = "weir.rules";
  private static final String FILE = "file:";
  private static final String CLASSPATH = "classpath:";

  private final ResourceLoader loader;
  private final List<PropertyProblem> problems = new ArrayList<>();
  private final List<Path> files = new ArrayList<>();
  private final List<Resource> packed = new ArrayList<>();

  private RuleFiles(ResourceLoader loader) {
    this.loader = loader;
  }

  /**
   * Passes the rules to the builder of the engine.
   *
   * @throws WeirPropertiesException if they cannot be found, or are in a jar and have errors
   */
  static void give(
      WeirProperties properties,
      String domain,
      ResourceLoader loader,
      RunningEngine.Builder builder) {
    List<String> locations = properties.rules();
    boolean packedFile = locations == null && loader.getResource(DEFAULT).exists();
    if (packedFile && !properties.limits().isEmpty()) {
      throw new WeirPropertiesException(
          new PropertyProblem(
              "weir.limits",
              null,
              "none beside " + DEFAULT + "; an empty weir.rules leaves that file out"));
    }
    if (!properties.limits().isEmpty()) {
      builder.rules(LimitRules.rules(domain, properties.limits()));
    } else if (packedFile) {
      new RuleFiles(loader).give(List.of(DEFAULT), builder);
    } else if (locations != null && !locations.isEmpty()) {
      new RuleFiles(loader).give(locations, builder);
    }
  }

  private void give(List<String> locations, RunningEngine.Builder builder) {
    locations.forEach(this::find);
    if (!packed.isEmpty() && files.size() + packed.size() > 1) {
      problems.add(
          new PropertyProblem(
              NAME,
              String.join(",", locations),
              "files and folders only, or one file alone within a jar"));
    }
    if (!problems.isEmpty()) {
      throw new WeirPropertiesException(problems);
    }
    if (packed.isEmpty()) {
      builder.rules(files.toArray(Path[]::new));
    } else {
      builder.rules(parsed(locations.get(0), packed.get(0)));
    }
  }

  private void find(String location) {
    if (!location.startsWith(FILE) && !location.startsWith(CLASSPATH)) {
      files.add(Path.of(location));
      return;
    }
    Resource resource = loader.getResource(location);
    try {
      if (resource.isFile()) {
        files.add(resource.getFile().toPath());
      } else if (resource.exists()) {
        packed.add(resource);
      } else {
        problems.add(new PropertyProblem(NAME, location, "a file that is there"));
      }
    } catch (IOException e) {
      problems.add(new PropertyProblem(NAME, location, "a file to read: " + e.getMessage()));
    }
  }

  private static RuleSet parsed(String location, Resource resource) {
    Rules.LoadResult loaded;
    try {
      loaded = Rules.parse(location, resource.getContentAsString(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new WeirPropertiesException(
          new PropertyProblem(NAME, location, "a file to read: " + e.getMessage()));
    }
    RuleSet rules = loaded.ruleSet();
    if (rules == null) {
      throw new RuleProblemsException(
          loaded.problems().stream().map(Problem::shown).collect(Collectors.joining("\n")));
    }
    return rules;
  }
}
