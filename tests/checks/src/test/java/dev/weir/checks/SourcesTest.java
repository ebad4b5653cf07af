package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The rules for sources that a compiler does not check: long files are explained, tests are named
 * alike, and some words are not used. Offenders from before a rule are counted in {@code
 * tests/checks/to-mend.txt}, a line for each rule and folder; a count may only fall. {@code
 * -Dweir.words=write} writes the present counts.
 */
class SourcesTest {
  private static final Path TO_MEND = Module.ROOT.resolve("tests/checks/to-mend.txt");

  private static final boolean WRITE = "write".equals(System.getProperty("weir.words"));

  /**
   * The most lines of a file without an essay; a longer one explains why it is long and how it
   * works.
   */
  private static final int LONG_LINES = 350;

  private static final int ESSAY_LINES = 6;

  /** A test method, whatever other annotations it has. */
  private static final Pattern TEST =
      Pattern.compile(
          "@(?:Test|ParameterizedTest|RepeatedTest)\\b(?:(?!\\bvoid\\b).)*?\\bvoid\\s+(\\w+)\\s*\\(",
          Pattern.DOTALL);

  private static final Pattern TEST_NAME =
      Pattern.compile("[a-z][A-Za-z0-9]*(_[a-z][A-Za-z0-9]*){1,3}");

  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\\n]*", Pattern.DOTALL);

  private static final Pattern TYPE =
      Pattern.compile("^(?:[\\w@.(), ]+ )?(?:class|interface|enum|record) \\w+", Pattern.MULTILINE);

  /**
   * Words for which the glossary has another word. A fallback method, and the attribute of an
   * annotation that names it, are another thing than a failure mode.
   */
  private static final Pattern WORDS =
      Pattern.compile(
          "\\b(?:(?<![#`])fallback(?! methods?\\b| =|`)|whoever|told|mint(?:s|ed|ing)?|rested|judgements?|lineages?|strangers?)\\b",
          Pattern.CASE_INSENSITIVE);

  private static final Pattern DECLARATION =
      Pattern.compile("\\b(?:class|interface|enum|record) ([A-Z]\\w*)");

  /**
   * Names of types that are no nouns: participles, adverbs, prepositions and pronouns. Those of
   * {@link #NOUNS} have the form and are nouns.
   */
  private static final Pattern NO_NOUN =
      Pattern.compile(
          "(?:Un)?[A-Z][a-z]+(?:ed|ing)|T[o]ld|Said|Held|Known|Lent|Led|Lost|Shown|Seen|Kept|Sent|Taken"
              + "|Written|Frozen|Own|Same|Un[a-z]+|After|Again|Ahead|Away|Before|Behind|Between|By"
              + "|Elsewhere|Here|Nobody|Offline|Out|Outward|There|Together|Who|How|Whether");

  private static final Set<String> NOUNS =
      Set.of(
          "Binding",
          "Feed",
          "Finding",
          "Fitting",
          "Housekeeping",
          "Mapping",
          "Masking",
          "Meeting",
          "Reading",
          "Recording",
          "Seed",
          "Setting",
          "Sharing",
          "Sibling",
          "Standing",
          "Timing",
          "Tracing",
          "Unit");

  /**
   * The first words of a Javadoc that defines nothing: a headless clause, a code that is a person,
   * or a reference instead of a statement. A question is none.
   */
  private static final Pattern OPENING =
      Pattern.compile(
          "/\\*\\*\\s+(?:\\*\\s+)?((?:What|How|Has|As \\{@link|Says|Takes note|Who|Whether|Where|Tells|Knows|Hears|Lets)\\b"
              + "(?:(?!\\*/|\\n\\s*\\*\\s*\\n|\\n\\s*\\*\\s*[@<]).)*)",
          Pattern.DOTALL);

  /** The same for a paragraph, an item or a cell of a page. */
  private static final Pattern OPENING_OF_PAGES =
      Pattern.compile(
          "^(?:[-*] |\\| )?((?:What|Who|Whether|Has)\\b[^.?|]*[.?|])", Pattern.MULTILINE);

  /** Words of the code that users do not read. */
  private static final Pattern WORDS_OF_PAGES =
      Pattern.compile("\\b(?:doors?)\\b", Pattern.CASE_INSENSITIVE);

  /** Offenders by rule and folder, for example {@code word core}. */
  private final Map<String, List<String>> offenders = new TreeMap<>();

  @Test
  void sources_breakNoRuleMoreOftenThanBefore() throws IOException {
    for (Module module : Module.all()) {
      for (Path source : module.sources("main")) {
        String text = Module.read(source);
        essay(module, source, text);
        typeNames(module, source, text);
        words(module.name(), source, comments(text), WORDS);
        openings(module.name(), source, text, OPENING);
      }
      for (Path source : module.sources("test")) {
        words(module.name(), source, comments(Module.read(source)), WORDS);
        openings(module.name(), source, Module.read(source), OPENING);
      }
      for (String kind : List.of("main", "test")) {
        module.sources(kind).forEach(source -> testNames(module, source));
      }
      for (Path script : Module.files(module.folder().resolve("src/main/resources"), ".lua")) {
        words(module.name(), script, Module.read(script), WORDS);
      }
    }
    List<Path> pages = new ArrayList<>(Module.files(Module.ROOT.resolve("docs"), ".md"));
    for (String page : List.of("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")) {
      pages.add(Module.ROOT.resolve(page));
    }
    for (Path page : pages) {
      // The glossary names the words that are not used.
      if (!page.endsWith("glossary.md")) {
        words("docs", page, Module.read(page), WORDS);
        words("docs", page, Module.read(page), WORDS_OF_PAGES);
        openings("docs", page, Module.read(page), OPENING_OF_PAGES);
      }
    }
    compare();
  }

  @Test
  void essay_isFoundInATypesJavadocAndAtItsStart() {
    String lines = "\n * line".repeat(ESSAY_LINES);
    assertThat(hasEssay("/** One line. */\nfinal class A {\n  int a;\n}\n")).isFalse();
    assertThat(hasEssay("/**" + lines + "\n */\nfinal class A {\n  int a;\n}\n")).isTrue();
    assertThat(hasEssay("class A {\n  /*" + lines + "\n */\n  int a;\n}\n")).isTrue();
    assertThat(hasEssay("class A {\n  int a;\n  /**" + lines + "\n */\n  int b;\n}\n")).isFalse();
  }

  @Test
  void testName_isAConditionAndAResult() {
    assertThat(List.of("limitOfZero_refuses", "store_away_isUncertain"))
        .allMatch(SourcesTest::wellNamed);
    assertThat(
            List.of("refuses", "a_limit_refuses", "a_limit_of_zero_refuses_all", "Limit_refuses"))
        .noneMatch(SourcesTest::wellNamed);
  }

  private void essay(Module module, Path source, String text) {
    long lines = text.lines().count();
    if (lines > LONG_LINES && !hasEssay(text)) {
      add(
          "essay",
          module.name(),
          source
              + ": "
              + lines
              + " lines (expected: at most "
              + LONG_LINES
              + ", or an essay of "
              + ESSAY_LINES
              + " lines)");
    }
  }

  /**
   * Returns whether the first type has a Javadoc, or begins with a block comment, of several lines.
   */
  private static boolean hasEssay(String text) {
    Matcher type = TYPE.matcher(text);
    if (!type.find()) {
      return false;
    }
    int body = text.indexOf('{', type.end());
    Matcher comment = COMMENT.matcher(text);
    while (comment.find()) {
      boolean before = comment.start() < type.start() && comment.group().startsWith("/**");
      boolean first =
          comment.start() > body
              && text.substring(body + 1, comment.start()).isBlank()
              && comment.group().startsWith("/*");
      // The lines between the first and the last, which only open and close it.
      if ((before || first) && comment.group().lines().count() - 2 >= ESSAY_LINES) {
        return true;
      }
    }
    return false;
  }

  private void typeNames(Module module, Path source, String text) {
    Matcher type = DECLARATION.matcher(COMMENT.matcher(text).replaceAll(""));
    while (type.find()) {
      if (!isNoun(type.group(1))) {
        add("type-name", module.name(), source + ": " + type.group(1) + " (expected: a noun)");
      }
    }
  }

  private static boolean isNoun(String name) {
    return NOUNS.contains(name) || !NO_NOUN.matcher(name).matches();
  }

  @Test
  void typeName_isANoun() {
    assertThat(List.of("Binding", "PendingRequest", "KnownKey", "Unit", "Seed", "ByteReader"))
        .allMatch(SourcesTest::isNoun);
    assertThat(List.of("Pending", "Known", "Behind", "Unread", "Lent", "Unasked", "Deciding"))
        .noneMatch(SourcesTest::isNoun);
  }

  private void testNames(Module module, Path source) {
    Matcher test = TEST.matcher(Module.read(source));
    while (test.find()) {
      if (!wellNamed(test.group(1))) {
        add(
            "test-name",
            module.name(),
            source
                + ": "
                + test.group(1)
                + " (expected: condition_result, each of them in camel case)");
      }
    }
  }

  /**
   * Returns whether a name has two to four parts; from three on they must not be a sentence written
   * with underscores.
   */
  private static boolean wellNamed(String name) {
    boolean twoParts = name.indexOf('_') == name.lastIndexOf('_');
    return TEST_NAME.matcher(name).matches()
        && (twoParts || name.chars().anyMatch(Character::isUpperCase));
  }

  private void words(String folder, Path source, String text, Pattern words) {
    Matcher word = words.matcher(text);
    while (word.find()) {
      add("word", folder, source + ": " + word.group() + " (expected: docs/glossary.md's word)");
    }
  }

  private void openings(String folder, Path source, String text, Pattern pattern) {
    Matcher opening = pattern.matcher(text);
    while (opening.find()) {
      String sentence =
          opening
              .group(1)
              .replaceAll("\\s*\\n\\s*\\*\\s*", " ")
              .strip()
              .split("(?<=[.?!])\\s", 2)[0];
      if (!sentence.endsWith("?")) {
        add(
            "opening",
            folder,
            source + ": " + sentence + " (expected: a noun phrase, or a verb as in \"Returns\")");
      }
    }
  }

  private static String comments(String source) {
    StringBuilder comments = new StringBuilder();
    Matcher comment = COMMENT.matcher(source);
    while (comment.find()) {
      comments.append(comment.group()).append('\n');
    }
    return comments.toString();
  }

  private void add(String rule, String folder, String offender) {
    offenders
        .computeIfAbsent(rule + " " + folder, key -> new ArrayList<>())
        .add(offender.replace(Module.ROOT + "/", ""));
  }

  private void compare() throws IOException {
    Map<String, Integer> allowed = allowed();
    List<String> problems = new ArrayList<>();
    StringBuilder counts = new StringBuilder();
    offenders.forEach(
        (rule, found) -> {
          int most = allowed.getOrDefault(rule, 0);
          if (found.size() > most) {
            problems.add(rule + ": " + found.size() + " (expected: at most " + most + ")");
            found.forEach(offender -> problems.add("  " + offender));
          }
          counts.append(rule).append(' ').append(found.size()).append('\n');
        });
    if (WRITE) {
      Files.writeString(TO_MEND, counts);
    } else if (!problems.isEmpty()) {
      fail("%s", String.join(System.lineSeparator(), problems));
    }
  }

  private static Map<String, Integer> allowed() {
    Map<String, Integer> allowed = new LinkedHashMap<>();
    for (String line : Module.read(TO_MEND).lines().toList()) {
      int end = line.lastIndexOf(' ');
      allowed.put(line.substring(0, end), Integer.parseInt(line.substring(end + 1)));
    }
    return allowed;
  }
}
