package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.weir.rules.internal.parse.RuleParser;
import dev.weir.rules.internal.parse.Utf8;
import dev.weir.testkit.Trials;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hostile input is refused quickly, in bounded memory, with an exact error. */
class HostileTest {
  /**
   * The most bytes that a refusal may allocate, in total and not at once: a bound on its work as
   * well.
   */
  private static final long MOST_BYTES = 256 << 20;

  @TempDir Path folder;

  @Test
  void aliasBomb_isRefused() {
    StringBuilder yaml = new StringBuilder("domain: d\nbomb:\n  a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 12; i++) {
      String alias = "*a" + (i - 1) + " ";
      yaml.append("  a%d: &a%d [".formatted(i, i)).append((alias + ",").repeat(9)).append(alias);
      yaml.append("]\n");
    }
    assertRefused(
        "rules.yaml:7:47 values: more, aliases written out (expected: at most 100000 a file)",
        () -> Rules.parse("rules.yaml", yaml.toString()));
  }

  @Test
  void aliasBombOfDescriptors_isRefused() {
    StringBuilder yaml = new StringBuilder("domain: d\nx0: &x0 [{key: k}]\n");
    for (int i = 1; i < 30; i++) {
      String inner = "{key: k, descriptors: *x%d }".formatted(i - 1);
      yaml.append("x%d: &x%d [".formatted(i, i)).append(inner).append(", ").append(inner);
      yaml.append("]\n");
    }
    assertRefused("values: more", () -> Rules.parse("rules.yaml", yaml.toString()));
  }

  @Test
  void manyAliases_areRefused() {
    String yaml = "domain: d\nx: &x 1\ny: [" + "*x ,".repeat(2_000) + "]\n";
    assertRefused(
        "rules.yaml:3:4005 aliases: more (expected: at most 1000)",
        () -> Rules.parse("rules.yaml", yaml));
  }

  @Test
  void aliasInsideItself_isRefused() {
    assertRefused(
        "rules.yaml:2:18 alias: *a (expected: not inside &a itself)",
        () -> Rules.parse("rules.yaml", "domain: d\ndescriptors: &a [*a ]\n"));
  }

  @Test
  void unknownAlias_isRefusedWithAHint() {
    assertRefused(
        "rules.yaml:4:12 alias: *foo (expected: an anchor &foo before it, or quotes if it is a text)",
        () -> Rules.parse("rules.yaml", "domain: d\ndescriptors:\n  - key: k\n    value: *foo\n"));
    assertRefused(
        "rules.yaml:4:13 syntax: * without a name (expected: quotes around a text that begins with *)",
        () -> Rules.parse("rules.yaml", "domain: d\ndescriptors:\n  - key: k\n    value: *\n"));
  }

  @Test
  void deepNesting_isRefused() {
    assertRefused(
        "rules.yaml:1:101 nesting: deeper (expected: at most 100 levels)",
        () -> Rules.parse("rules.yaml", "[".repeat(60_000)));
    assertRefused("nesting: deeper", () -> Rules.parse("rules.yaml", "{a: ".repeat(10_000)));
    assertRefused("nesting: deeper", () -> Rules.parse("rules.yaml", "- ".repeat(10_000)));
    StringBuilder block = new StringBuilder();
    for (int i = 0; i < 1_000; i++) {
      block.append(" ".repeat(i)).append("a:\n");
    }
    assertRefused("nesting: deeper", () -> Rules.parse("rules.yaml", block.toString()));
  }

  @Test
  void deepNestingThroughAliases_isRefused() {
    StringBuilder yaml = new StringBuilder("x0: &x0 a\n");
    for (int i = 1; i < 500; i++) {
      yaml.append("x%d: &x%d [*x%d ]\n".formatted(i, i, i - 1));
    }
    assertRefused("nesting: deeper", () -> Rules.parse("rules.yaml", yaml.toString()));
  }

  @Test
  void deepDescriptors_areRefused() {
    StringBuilder yaml = new StringBuilder("domain: d\n");
    for (int i = 0; i < 40; i++) {
      yaml.append("  ".repeat(i)).append("descriptors:\n");
      yaml.append("  ".repeat(i)).append("- key: k\n");
    }
    assertRefused(
        "rules.yaml:66:65 descriptors: a list (expected: at most 32 levels of descriptors)",
        () -> Rules.parse("rules.yaml", yaml.toString()));
  }

  @Test
  void hugeFile_isRefusedWithoutReadingIt() throws IOException {
    Path file = folder.resolve("huge.yaml");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(100 << 20);
    }
    assertRefused(
        file + " size: 104857600 bytes (expected: at most 1048576)",
        () -> Rules.load(List.of(file)));
    assertRefused(
        "rules.yaml size: 104857600 bytes (expected: at most 1048576)",
        parse("a".repeat(100 << 20)));
  }

  @Test
  void largestFileOfJunk_isRefused() {
    int size = RuleFiles.MAX_FILE_BYTES;
    assertRefused("values: more", parse("[" + "a,\n".repeat(size / 3 - 1) + "]"));
    assertRefused("values: more", parse("domain: d\ndescriptors:\n" + "- a\n".repeat(size / 5)));
    assertRefused("values: more", parse("domain: d\ndescriptors:\n" + "- [a: b]\n".repeat(80_000)));
    assertRefused("file: empty", parse(("#".repeat(79) + "\n").repeat(size / 80)));
    assertRefused("file: empty", parse("\n".repeat(size)));
    assertRefused("file: aaaa", parse(("a".repeat(79) + "\n").repeat(size / 80)));
  }

  @Test
  void longLines_areRefused() {
    String most = "#".repeat(Utf8.MAX_LINE);
    assertRefused(
        "rules.yaml:2:65537 line: longer (expected: at most 65536 characters)",
        parse("domain: d\n" + most + "#\n"));
    assertThat(Texts.rules("domain: d\r\n" + most + "\r\n" + most).domains()).hasSize(1);
    assertRefused("file: empty", parse((most + "\n").repeat(15)));
    assertRefused("line: longer", parse("a".repeat(RuleFiles.MAX_FILE_BYTES)));
    assertRefused("unit: xxx", parse(Texts.file("{unit: " + "x".repeat(60_000) + "}")));
  }

  @Test
  void duplicateKeys_areRefused() {
    assertRefused(
        "rules.yaml:2:1 domain: duplicate of line 1 (expected: once in a map)",
        parse("domain: a\ndomain: b\n"));
    StringBuilder yaml = new StringBuilder("domain: d\n");
    for (int i = 0; i < 100_000; i++) {
      yaml.append("a: 1\n");
    }
    assertRefused("a: duplicate of line 2", parse(yaml.toString()));
    assertRefused(
        "problems: at least 2 more (expected: none; the first 1,000 are listed)",
        parse(yaml.toString()));
  }

  @Test
  void tags_areRefused() {
    assertRefused(
        "rules.yaml:1:9 tag: !foo (expected: none; quotes make a value a text)",
        parse("domain: !foo d\n"));
    assertRefused(
        "rules.yaml:1:9 tag: !!javax.script.ScriptEngineManager (expected: none",
        parse("domain: !!javax.script.ScriptEngineManager [a]\n"));
    assertRefused("tag: !!binary", parse("domain: !!binary aGk=\n"));
  }

  @Test
  void otherKeysThanTexts_areRefused() {
    assertRefused("rules.yaml:1:3 key: a list (expected: a text)", parse("? [a]\n: 1\n"));
    assertRefused("rules.yaml:1:3 key: a map (expected: a text)", parse("? {a: b}\n: 1\n"));
    assertRefused("rules.yaml:1:1 key: 1 (expected: a text)", parse("1: 1\n"));
    assertRefused("rules.yaml:1:1 key: true (expected: a text)", parse("true: 1\n"));
    assertRefused("rules.yaml:1:1 key: nothing (expected: a text)", parse("~: 1\n"));
  }

  @Test
  void otherThanOneMap_isRefused() {
    assertRefused(
        "rules.yaml:1:1 file: empty (expected: a map of domain and descriptors)", parse(""));
    assertRefused("rules.yaml:1:1 file: empty", parse("# nothing but a comment\n"));
    assertRefused("rules.yaml:1:1 file: a list (expected: a map", parse("- domain: d\n"));
    assertRefused("rules.yaml:1:1 file: text (expected: a map", parse("text"));
    assertRefused(
        "rules.yaml:2:1 document: a second one (expected: one document a file)",
        parse("domain: a\n---\ndomain: b\n"));
  }

  @Test
  void brokenSyntax_isRefusedAtItsPlace() {
    assertRefused("rules.yaml:2:1 indentation: a tab", parse("domain: d\n\tdescriptors: []\n"));
    assertRefused("rules.yaml:1:9 quote: not closed", parse("domain: 'd\n"));
    assertRefused(
        "rules.yaml:1:12 syntax: mapping values are not allowed", parse("domain: a b: c"));
    assertRefused("rules.yaml:2:1 syntax: expected ',' or ']'", parse("domain: [d\n"));
    assertRefused("syntax: ", parse("%YAML 3.0\n---\ndomain: d\n"));
  }

  @Test
  void otherThanPrintableUtf8_isRefusedAtItsPlace() throws IOException {
    assertRefused(
        "rules.yaml:2:4 character: U+0000 (expected: printable ones)",
        parse("domain: d\n# \u00e9\0x\n"));
    assertRefused("rules.yaml text: half a surrogate pair", parse("domain: \ud800\n"));
    Path file = folder.resolve("latin1.yaml");
    Files.write(file, "domain: d\r\n# caf\u00e9\r\n".getBytes(StandardCharsets.ISO_8859_1));
    assertRefused(file + ":2:6 byte: 0xE9 (expected: UTF-8)", () -> Rules.load(List.of(file)));
    Files.write(file, "domain: d\n".getBytes(StandardCharsets.UTF_16LE));
    assertRefused(file + ":1:2 character: U+0000", () -> Rules.load(List.of(file)));
    Files.write(file, "domain: d\n".getBytes(StandardCharsets.UTF_16));
    assertRefused(file + ":1:1 byte: 0xFE", () -> Rules.load(List.of(file)));
  }

  @Test
  void byteOrderMark_isSkipped() {
    assertThat(Texts.rules("\ufeffdomain: d\n").domains()).containsExactly("d");
  }

  @Test
  void tooLongTexts_areRefused() {
    String longText = "x".repeat(RuleParser.MAX_TEXT + 1);
    assertRefused("rules.yaml:1:1 domain: xxxx", parse("domain: " + longText + "\n"));
    assertRefused(
        "(expected: at most 1024 characters, not 1025)",
        parse("domain: d\ndescriptors:\n  - key: " + longText + "\n"));
    assertThat(Texts.rules("domain: " + longText.substring(1) + "\n").domains()).hasSize(1);
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void randomDamage_neverThrows() {
    String sound =
        """
        domain: foo
        descriptors:
          - key: k1
            value: "v*"
            rate_limit: &l {unit: minute, requests_per_unit: 3, name: a, replaces: [{name: b}]}
            descriptors:
              - key: k2
                rate_limit: {<<: *l, burst: 3, algorithm: token-bucket}
                metadata: {a: [1, .inf, -.INF, .nan, 0o17, 1e5, ~]}
        """;
    int runs = Trials.runs(2_000, 10_000);
    long seed = Trials.random("damaged rules", runs).nextLong();
    Random random = new Random(seed);
    String letters = "{}[]:,-?*&!|>'\"%@`# \n\tabk1~<=.0";
    for (int i = 0; i < runs; i++) {
      StringBuilder yaml = new StringBuilder(sound);
      for (int edits = 1 + random.nextInt(5); edits > 0; edits--) {
        if (yaml.isEmpty()) {
          break;
        }
        int at = random.nextInt(Math.max(1, yaml.length() - 1));
        switch (random.nextInt(3)) {
          case 0 -> yaml.deleteCharAt(at);
          case 1 -> yaml.insert(at, letters.charAt(random.nextInt(letters.length())));
          default -> yaml.setLength(at + 1);
        }
      }
      try {
        Rules.LoadResult loaded = Rules.parse("r", yaml.toString());
        boolean error =
            loaded.problems().stream().anyMatch(problem -> problem.severity() == Severity.ERROR);
        assertThat(loaded.ruleSet() == null).as("seed %d%n%s", seed, yaml).isEqualTo(error);
      } catch (RuntimeException e) {
        throw new AssertionError("seed " + seed + "\n" + yaml, e);
      }
    }
  }

  private static Supplier<Rules.LoadResult> parse(String yaml) {
    return () -> Rules.parse("rules.yaml", yaml);
  }

  /** Asserts the refusal, and that it needs few resources. */
  private static void assertRefused(String problem, Supplier<Rules.LoadResult> load) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    Rules.LoadResult loaded = load.get();
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(MOST_BYTES);
    assertThat(loaded.ruleSet()).isNull();
    assertThat(loaded.problems()).anyMatch(found -> found.toString().contains(problem));
  }
}
