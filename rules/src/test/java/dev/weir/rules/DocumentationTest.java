package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.rules.internal.parse.Place;
import dev.weir.rules.internal.parse.Plans;
import dev.weir.rules.internal.parse.Problems;
import dev.weir.rules.internal.parse.RateLimitParser;
import dev.weir.rules.internal.parse.RuleParser;
import dev.weir.rules.internal.parse.RuleTree;
import dev.weir.rules.internal.parse.Utf8;
import dev.weir.rules.internal.parse.Words;
import dev.weir.rules.internal.parse.YamlNode;
import dev.weir.rules.internal.parse.YamlNode.Field;
import dev.weir.rules.internal.parse.YamlNode.Mapping;
import dev.weir.rules.internal.parse.YamlNode.Sequence;
import dev.weir.rules.internal.parse.YamlNode.Text;
import dev.weir.rules.internal.parse.YamlReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The reference page and the schema agree with the parser. */
class DocumentationTest {
  private static final Path DOCS = Path.of("..", "docs");
  private static final Pattern BLOCK =
      Pattern.compile("```yaml\\n(.*?)```(?:\\n\\n```text\\n(.*?)```)?", Pattern.DOTALL);

  @Test
  void examples_giveWhatThePageSays() throws IOException {
    Matcher blocks = BLOCK.matcher(Files.readString(DOCS.resolve("rules.md")));
    List<String> expected = new ArrayList<>();
    List<String> actual = new ArrayList<>();
    int count = 0;
    while (blocks.find()) {
      count++;
      expected.add(blocks.group(2) == null ? "" : blocks.group(2).strip());
      actual.add(
          Rules.parse("rules.yaml", blocks.group(1)).problems().stream()
              .map(Problem::shown)
              .collect(Collectors.joining("\n")));
    }
    assertThat(count).isGreaterThanOrEqualTo(5);
    assertThat(actual).isEqualTo(expected);
  }

  @Test
  void page_namesEveryKeyAlgorithmAndLimit() throws IOException {
    String page = Files.readString(DOCS.resolve("rules.md"));
    for (Place place : Place.values()) {
      assertThat(place.keys()).allSatisfy(key -> assertThat(page).contains("`" + key + "`"));
    }
    for (Algorithm algorithm : Algorithm.values()) {
      assertThat(page).contains("| `" + algorithm.text() + "` |");
    }
    for (long limit :
        new long[] {
          Utf8.MAX_LINE,
          RuleFiles.MAX_FILES,
          YamlReader.MAX_NODES,
          YamlReader.MAX_ALIASES,
          YamlReader.MAX_DEPTH,
          RuleParser.MAX_LEVELS,
          RuleTree.MAX_RULES,
          RuleParser.MAX_TEXT,
          RateLimitParser.MAX_REPLACES,
          Plans.MAX_LIMITS,
          Problems.MAX_PROBLEMS
        }) {
      assertThat(page).containsPattern("\\| " + Words.count(limit) + "\\b");
    }
    assertThat(page).contains("| 1 MiB").contains("and 64 MiB");
    assertThat(RuleFiles.MAX_FILE_BYTES).isEqualTo(1 << 20);
    assertThat(RuleFiles.MAX_TOTAL_BYTES).isEqualTo(64 << 20);
    assertThat(RuleWatcher.QUIET_MILLIS).isEqualTo(200);
    assertThat(RuleWatcher.RECHECK_MILLIS).isEqualTo(5_000);
  }

  @Test
  void schema_hasTheKeysOfTheParser() throws IOException {
    Mapping schema = schema();
    assertThat(names(map(schema, "properties"))).isEqualTo(Place.FILE.keys());
    Mapping definitions = map(schema, "$defs");
    assertThat(names(map(map(definitions, "descriptor"), "properties")))
        .isEqualTo(Place.DESCRIPTOR.keys());
    assertThat(names(map(map(definitions, "rate_limit"), "properties")))
        .isEqualTo(Place.RATE_LIMIT.keys());
    assertThat(names(map(map(definitions, "replaces"), "properties")))
        .isEqualTo(Place.REPLACES.keys());
    assertThat(names(map(map(definitions, "plan_limit"), "properties")))
        .isEqualTo(Place.PLAN_LIMIT.keys());
    Mapping limits = map(map(definitions, "rate_limit"), "properties");
    Sequence throttles = (Sequence) value(map(limits, "throttle"), "oneOf");
    assertThat(names(map((Mapping) throttles.items().get(1), "properties")))
        .isEqualTo(Place.THROTTLE.keys());
    Sequence onLimit = (Sequence) value(map(limits, "on_limit"), "oneOf");
    Mapping actions = map((Mapping) onLimit.items().get(1), "properties");
    assertThat(names(actions)).isEqualTo(Place.ON_LIMIT.keys());
    assertThat(names(map(map(actions, "queue"), "properties"))).isEqualTo(Place.QUEUE.keys());
  }

  @Test
  void schema_hasTheAlgorithmsOfTheCore() throws IOException {
    Mapping limits = map(map(map(schema(), "$defs"), "rate_limit"), "properties");
    YamlNode names = value(map(limits, "algorithm"), "enum");
    assertThat(((Sequence) names).items())
        .extracting(item -> ((Text) item).text())
        .isEqualTo(List.of(Algorithm.values()).stream().map(Algorithm::text).toList());
  }

  /** Returns the schema, read as YAML, since JSON is YAML. */
  private static Mapping schema() throws IOException {
    String text = Files.readString(DOCS.resolve("rules.schema.json"));
    Problems problems = new Problems();
    YamlNode node = YamlReader.read("rules.schema.json", text, problems);
    assertThat(problems.sorted()).isEmpty();
    return (Mapping) Objects.requireNonNull(node);
  }

  private static List<String> names(Mapping map) {
    return map.fields().stream().map(field -> field.key().text()).toList();
  }

  private static Mapping map(Mapping map, String key) {
    return (Mapping) value(map, key);
  }

  private static YamlNode value(Mapping map, String key) {
    return map.fields().stream()
        .filter(field -> field.key().text().equals(key))
        .map(Field::value)
        .findFirst()
        .orElseThrow();
  }
}
