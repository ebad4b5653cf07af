package dev.weir.server.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A page in one of Prometheus's text formats, read more strictly than by Prometheus.
 *
 * @param types by the family's name
 * @param helps by the family's name
 * @param samples their values, by name and labels in the form of the page
 */
public record Exposition(
    Map<String, String> types, Map<String, String> helps, Map<String, Double> samples) {
  private static final String NAME = "[a-zA-Z_][a-zA-Z0-9_]*";
  private static final String LABEL = NAME + "=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\"";
  private static final Pattern META = Pattern.compile("# (HELP|TYPE|UNIT) (" + NAME + ") ([^\n]+)");
  private static final Pattern SAMPLE =
      Pattern.compile("((" + NAME + ")(?:\\{" + LABEL + "(?:," + LABEL + ")*})?) (\\S+)");
  private static final Map<String, List<String>> CLASSIC =
      Map.of(
          "counter", List.of(""),
          "gauge", List.of(""),
          "summary", List.of("", "_sum", "_count"),
          "histogram", List.of("_bucket", "_sum", "_count"));
  private static final Map<String, List<String>> OPEN_METRICS =
      Map.of(
          "counter", List.of("_total"),
          "gauge", List.of(""),
          "info", List.of("_info"),
          "summary", List.of("", "_sum", "_count"),
          "histogram", List.of("_bucket", "_sum", "_count"));

  /** Reads a page in format 0.0.4. */
  public static Exposition classic(String page) {
    assertThat(page).doesNotContain("# EOF").doesNotContain("# UNIT").endsWith("\n");
    Exposition read = read(page, CLASSIC);
    read.types.forEach(
        (name, type) ->
            assertThat(name.endsWith("_total")).as(name).isEqualTo(type.equals("counter")));
    return read;
  }

  /** Reads a page in OpenMetrics 1.0.0. */
  public static Exposition openMetrics(String page) {
    assertThat(page).endsWith("\n# EOF\n");
    Exposition read = read(page.substring(0, page.length() - "# EOF\n".length()), OPEN_METRICS);
    assertThat(read.types.keySet()).noneMatch(name -> name.matches(".*_(total|info|bucket)"));
    return read;
  }

  private static Exposition read(String page, Map<String, List<String>> suffixes) {
    Exposition read = new Exposition(new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
    Set<String> seen = new HashSet<>();
    String family = "";
    for (String line : page.lines().toList()) {
      Matcher meta = META.matcher(line);
      if (meta.matches()) {
        if (!meta.group(2).equals(family)) {
          family = meta.group(2);
          assertThat(seen.add(family)).as("once and in one piece: " + line).isTrue();
        }
        assertThat(read.samples.keySet().stream().filter(family::equals)).isEmpty();
        switch (meta.group(1)) {
          case "TYPE" -> assertThat(read.types.put(family, meta.group(3))).as(line).isNull();
          case "HELP" -> assertThat(read.helps.put(family, meta.group(3))).as(line).isNull();
          default -> assertThat(family).endsWith("_" + meta.group(3));
        }
        continue;
      }
      Matcher sample = SAMPLE.matcher(line);
      assertThat(sample.matches()).as(line).isTrue();
      assertThat(sample.group(2)).as(line).startsWith(family);
      assertThat(suffixes.getOrDefault(read.types.getOrDefault(family, ""), List.of()))
          .as(line)
          .contains(sample.group(2).substring(family.length()));
      assertThat(read.helps).as(line).containsKey(family);
      assertThat(read.samples.put(sample.group(1), value(sample.group(3)))).as(line).isNull();
    }
    return read;
  }

  private static double value(String text) {
    return switch (text) {
      case "+Inf" -> Double.POSITIVE_INFINITY;
      case "-Inf" -> Double.NEGATIVE_INFINITY;
      default -> Double.parseDouble(text);
    };
  }

  /** Returns the names of all families and samples. */
  public Set<String> names() {
    Set<String> names = new HashSet<>(types.keySet());
    samples.keySet().forEach(sample -> names.add(sample.split("\\{", 2)[0]));
    return names;
  }
}
