package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.languagetool.JLanguageTool;
import org.languagetool.Languages;
import org.languagetool.language.AmericanEnglish;
import org.languagetool.rules.Rule;
import org.languagetool.rules.RuleMatch;

/**
 * The grammar of the README and of all pages, by LanguageTool. Only rules that are certain are in
 * force. Right words that they take for wrong are in {@code tests/checks/grammar.txt}.
 */
@Tag("analysis")
class GrammarTest {
  /*
   * Why so few rules, and no division of sentences into phrases? Of LanguageTool's 6,200 rules, 66
   * find something in the pages, nearly always wrongly: they do not know code, commands and the
   * language of specifications. The rules in force find known mistakes, which are below, and only
   * these. The division into phrases takes half of the time and is needed by none of them.
   */

  private static final Path EXCEPTIONS = Module.ROOT.resolve("tests/checks/grammar.txt");

  private static final Set<String> RULES =
      Set.of(
          "BASE_FORM",
          "BEEN_PART_AGREEMENT",
          "COMPARISONS_THEN",
          "ENGLISH_WORD_REPEAT_RULE",
          "EN_A_VS_AN",
          "HE_NEED",
          "MD_BASEFORM",
          "MODAL_OF",
          "MOST_COMPARATIVE",
          "PREPOSITION_VERB",
          "THIS_NNS",
          "TO_NON_BASE");

  /** The tool, which takes seconds to load. */
  private static final JLanguageTool TOOL = tool();

  private static JLanguageTool tool() {
    AmericanEnglish english = (AmericanEnglish) Languages.getLanguageForShortCode("en-US");
    english.setChunker(tokens -> {});
    JLanguageTool tool = new JLanguageTool(english);
    for (Rule rule : tool.getAllRules()) {
      if (!RULES.contains(rule.getId())) {
        tool.disableRule(rule.getId());
      }
    }
    return tool;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "EN_A_VS_AN | It decides an request at once.",
        "EN_A_VS_AN | It keeps a hour of history.",
        "ENGLISH_WORD_REPEAT_RULE | The server keeps the the entries.",
        "MD_BASEFORM | The server can decides a request.",
        "THIS_NNS | This servers are members of a cluster.",
        "COMPARISONS_THEN | It is faster then the others.",
        "PREPOSITION_VERB | A session ends 12 hours after its begin.",
        "TO_NON_BASE | The server want to decides it.",
        "BASE_FORM | They decides it.",
        "HE_NEED | It need a key.",
        "MODAL_OF | It could of been refused.",
        "MOST_COMPARATIVE | More faster than that.",
        "BEEN_PART_AGREEMENT | The limit was choose by the user.",
      })
  void knownMistake_isFound(String rule, String sentence) throws IOException {
    assertThat(TOOL.check(sentence)).extracting(match -> match.getRule().getId()).contains(rule);
  }

  @Test
  void pages_haveNoMistake() throws IOException {
    List<String> exceptions = Module.read(EXCEPTIONS).lines().toList();
    List<Path> pages = new ArrayList<>(List.of(Module.ROOT.resolve("README.md")));
    pages.addAll(Module.files(Module.ROOT.resolve("docs"), ".md"));
    List<String> problems = new ArrayList<>();
    Set<String> checked = new HashSet<>();
    for (Path page : pages) {
      for (Prose.Piece piece : Prose.of(page)) {
        if (!checked.add(piece.text())) {
          continue; // A quarter of the pieces are cells of tables and titles that occur again.
        }
        for (RuleMatch match : TOOL.check(piece.text())) {
          int from = match.getFromPos();
          boolean known = exceptions.stream().anyMatch(each -> piece.text().startsWith(each, from));
          if (!known && !piece.isCode(from)) {
            problems.add(problem(piece, match));
          }
        }
      }
    }
    assertThat(problems).isEmpty();
  }

  private static String problem(Prose.Piece piece, RuleMatch match) {
    List<String> better = match.getSuggestedReplacements();
    return "%s:%d: %s (expected: %s; rule %s) in: %s"
        .formatted(
            Module.ROOT.relativize(piece.page()),
            piece.line(),
            piece.text().substring(match.getFromPos(), match.getToPos()),
            better.isEmpty() ? "other words" : better.get(0),
            match.getRule().getId(),
            piece.text());
  }
}
