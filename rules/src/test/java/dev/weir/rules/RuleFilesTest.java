package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RuleFilesTest {
  @TempDir Path folder;

  @Test
  void folder_isReadInOrderOfNamesWithoutHiddenOtherAndDeeperFiles() throws IOException {
    write("b.yaml", "domain: b\n");
    write("a.yml", "domain: a\n");
    write(".hidden.yaml", "domain: hidden\n");
    write("notes.txt", "no rules\n");
    Files.createDirectory(folder.resolve("deeper.yaml"));
    Rules.LoadResult loaded = Rules.load(List.of(folder));
    assertThat(Objects.requireNonNull(loaded.ruleSet()).domains()).containsExactly("a", "b");
  }

  @Test
  void oneDomainInSeveralFiles_isMerged() throws IOException {
    write("a.yaml", rule("d", "k", "v1"));
    write("b.yaml", rule("d", "k", "v2"));
    RuleSet rules = Objects.requireNonNull(Rules.load(List.of(folder)).ruleSet());
    assertThat(rules.domains()).containsExactly("d");
    assertThat(rules.rules()).extracting(Rule::path).containsExactly("d.k_v1", "d.k_v2");
    assertThat(rules.match("d", List.of(new Entry("k", "v2")))).isSameAs(rules.rules().get(1));
  }

  @Test
  void duplicatesAcrossFiles_areRefusedWithBothPlaces() throws IOException {
    Path a = write("a.yaml", rule("d", "k", "v1"));
    Path b = write("b.yaml", rule("d", "k", "v1"));
    Rules.LoadResult loaded = Rules.load(List.of(folder));
    assertThat(loaded.ruleSet()).isNull();
    assertThat(loaded.problems())
        .extracting(Problem::toString)
        .containsExactly(
            b
                + ":3:5 descriptor \"k_v1\": duplicate of "
                + a
                + ":3:5 (expected: unique key and value per level)");
  }

  private static String rules(String domain, int count, String limit) {
    StringBuilder text = new StringBuilder("domain: " + domain + "\ndescriptors:\n");
    for (int i = 0; i < count; i++) {
      text.append("  - key: k").append(i).append('\n').append(limit);
    }
    return text.toString();
  }

  /**
   * Uses a heap of 30 MiB, a third of which is room for some 2,500 rules of 4 KiB, or 10,000
   * without a limit.
   */
  @Test
  void moreRulesThanTheHeapHasRoomFor_areRefusedWithNumbers() throws IOException {
    long heap = 30L << 20;
    String limit = "    rate_limit: {unit: minute, requests_per_unit: 5}\n";
    Path a = write("a.yaml", rules("a", 1_200, limit));
    Path b = write("b.yaml", rules("b", 1_200, limit));
    Path c = write("c.yaml", rules("c", 1_200, limit));
    assertThat(RuleFiles.read(List.of(a, b), heap).parse(RuleDefaults.DENY, heap).ruleSet())
        .isNotNull();
    Rules.LoadResult loaded = RuleFiles.read(List.of(folder), heap).parse(RuleDefaults.DENY, heap);
    assertThat(loaded.ruleSet()).isNull();
    assertThat(loaded.problems()).hasSize(1);
    assertThat(loaded.problems().get(0).toString())
        .startsWith(c + ":")
        .containsPattern(
            "descriptors: more than there is memory for, 2,5\\d\\d take about 10 MiB"
                + " \\(expected: at most 10 MiB, a third of the heap;");

    Path bare = write("bare.yaml", rules("d", 9_000, ""));
    assertThat(RuleFiles.read(List.of(bare), heap).parse(RuleDefaults.DENY, heap).ruleSet())
        .isNotNull();
  }

  @Test
  void pathsOfDeepRules_countAsWell() throws IOException {
    StringBuilder text = new StringBuilder("domain: d\ndescriptors:\n");
    for (int level = 0; level < 30; level++) {
      text.append("  ".repeat(2 * level + 1)).append("- key: ").append("k".repeat(1_000));
      text.append('\n').append("  ".repeat(2 * level + 2)).append("descriptors:\n");
    }
    for (int i = 0; i < 200; i++) {
      text.append("  ".repeat(61)).append("- key: leaf").append(i).append('\n');
    }
    Path file = write("deep.yaml", text.toString());
    assertThat(
            RuleFiles.read(List.of(file), 32L << 20).parse(RuleDefaults.DENY, 32L << 20).ruleSet())
        .isNull();
    assertThat(RuleFiles.read(List.of(file), 1L << 30).parse(RuleDefaults.DENY, 1L << 30).ruleSet())
        .isNotNull();
  }

  @Test
  void moreBytesThanTheHeapHasRoomFor_areRefusedBeforeTheyAreParsed() throws IOException {
    write("a.yaml", "domain: a\n" + ("#".repeat(60) + "\n").repeat(1_100));
    write("b.yaml", "domain: b\n" + ("#".repeat(60) + "\n").repeat(1_100));
    assertThat(
            RuleFiles.read(List.of(folder), 1 << 20).parse(RuleDefaults.DENY, 1 << 20).problems())
        .extracting(Problem::toString)
        .containsExactly(
            folder.resolve("a.yaml")
                + ":1:1 descriptors: missing (expected: a list; without it the"
                + " domain limits nothing)",
            folder.resolve("b.yaml") + " files: more bytes (expected: at most 131072 in all)");
  }

  @Test
  void problemsOfAllFiles_areReportedInTheirOrder() throws IOException {
    Path b = write("b.yaml", "domain: [\n");
    Path a = write("a.yaml", "domain:\n");
    Path none = folder.resolve("none.yaml");
    Rules.LoadResult loaded = Rules.load(List.of(none, b, a));
    assertThat(loaded.problems())
        .extracting(problem -> problem.position().file())
        .containsExactly(none.toString(), b.toString(), a.toString(), a.toString());
    assertThat(loaded.problems().get(0))
        .hasToString(none + " file: not there (expected: a file to read)");
  }

  @Test
  void nothingToRead_isRefused() {
    assertThat(Rules.load(List.of(folder)).problems())
        .extracting(Problem::toString)
        .containsExactly(folder + " folder: no rule file (expected: at least one *.yaml or *.yml)");
    assertThat(Rules.load(List.of()).ruleSet()).isNull();
  }

  @Test
  void danglingLink_isRefused() throws IOException {
    Path link = Files.createSymbolicLink(folder.resolve("a.yaml"), folder.resolve("gone"));
    assertThat(Rules.load(List.of(folder)).problems())
        .extracting(Problem::toString)
        .containsExactly(link + " file: not there (expected: a file to read)");
  }

  @Test
  void otherThanAFile_isRefused() {
    assertThat(Rules.load(List.of(Path.of("/dev/null"))).problems())
        .extracting(Problem::toString)
        .containsExactly("/dev/null file: neither file nor folder (expected: a regular file)");
  }

  @Test
  void sameFileTwice_isReadOnce() throws IOException {
    Path a = write("a.yaml", rule("d", "k", "v1"));
    assertThat(Rules.load(List.of(a, folder, a)).ruleSet()).isNotNull();
  }

  @Test
  void tooManyFiles_areRefused() throws IOException {
    for (int i = 0; i <= RuleFiles.MAX_FILES; i++) {
      write(i + ".yaml", "domain: d\n");
    }
    assertThat(Rules.load(List.of(folder)).problems())
        .extracting(Problem::toString)
        .containsExactly(folder + " files: more (expected: at most 1000)");
  }

  @Test
  void tooManyRules_areRefusedOnce() throws IOException {
    StringBuilder yaml = new StringBuilder("domain: d\ndescriptors:\n");
    for (int i = 0; i < 25_000; i++) {
      yaml.append("- {key: k%d}\n".formatted(i));
    }
    for (char name = 'a'; name <= 'i'; name++) {
      write(name + ".yaml", yaml.toString().replace("domain: d", "domain: " + name));
    }
    Rules.LoadResult loaded = Rules.load(List.of(folder));
    assertThat(loaded.problems())
        .extracting(Problem::toString)
        .containsExactly(
            folder.resolve("i.yaml") + ":3:3 descriptors: more (expected: at most 200000 in all)");
  }

  private Path write(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private static String rule(String domain, String key, String value) {
    return """
        domain: %s
        descriptors:
          - key: %s
            value: %s
            rate_limit: {unit: minute, requests_per_unit: 1}
        """
        .formatted(domain, key, value);
  }

  @Test
  void textsOfSeveralFiles_areReadAsFilesAre() {
    SortedMap<String, String> texts =
        new TreeMap<>(Map.of("b.yaml", "domain: b\n", "a.yaml", "domain: a\n"));
    Rules.LoadResult loaded = Rules.parse(texts, RuleDefaults.DENY);
    assertThat(Objects.requireNonNull(loaded.ruleSet()).domains()).containsExactly("a", "b");
    texts.put("c.yaml", "domain: 1\nother: 2\n");
    Rules.LoadResult broken = Rules.parse(texts, RuleDefaults.DENY);
    assertThat(broken.ruleSet()).isNull();
    assertThat(broken.problems())
        .filteredOn(each -> each.severity() == Severity.ERROR)
        .isNotEmpty()
        .allMatch(each -> each.position().file().equals("c.yaml"));
  }

  @Test
  void noTexts_areNoEmptyRuleSet() {
    Rules.LoadResult loaded = Rules.parse(new TreeMap<>(), RuleDefaults.DENY);
    assertThat(loaded.ruleSet()).isNull();
    assertThat(loaded.problems())
        .extracting(Problem::toString)
        .containsExactly("rules texts: none (expected: at least one)");
  }
}
