package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The constructors of all modules: none has more than {@value #MOST} parameters, since a reader of
 * a call cannot match more of them; a builder names them. The canonical constructor of a record is
 * excepted. Those from before the rule are in {@code tests/checks/constructors.txt}, each with its
 * number of parameters; the list may only become shorter.
 */
class ConstructorsTest {
  private static final Path LIST = Module.ROOT.resolve("tests/checks/constructors.txt");

  private static final int MOST = 6;

  private static final Pattern COMMENT_OR_TEXT =
      Pattern.compile(
          "/\\*.*?\\*/|//[^\\n"
              + "]*|\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n"
              + "])*\"|'(?:\\\\.|[^'\\\\\\n"
              + "])+'",
          Pattern.DOTALL);

  private static final Pattern TYPE = Pattern.compile("\\b(?:class|enum|(record)) (\\w+)");

  private static final Pattern HEAD =
      Pattern.compile(
          "^ *(?:(?:public|protected|private) )?(?:<[^>]+> )?([A-Z]\\w*)\\(", Pattern.MULTILINE);

  @Test
  void constructors_haveFewParameters() {
    Set<String> found = new TreeSet<>();
    for (Module module : Module.all()) {
      for (Path source : module.sources("main")) {
        found.addAll(tooLong(Module.read(source)));
      }
    }
    assertThat(found)
        .as("a builder instead, or fewer parts; %s may only become shorter", LIST.getFileName())
        .containsExactlyInAnyOrderElementsOf(Module.read(LIST).lines().toList());
  }

  @Test
  void longConstructor_isFound_exceptACanonicalOne() {
    String seven = "int a, Map<A, B> b, int c, int d, int e, @F(g = \",\") int f, int g";
    assertThat(tooLong("class A<T> {\n  A(" + seven + ") {\n  }\n}\n")).containsExactly("A 7");
    assertThat(tooLong("class A {\n  A(int a) {\n    b(new A(1, 2, 3, 4, 5, 6, 7));\n  }\n}\n"))
        .isEmpty();
    assertThat(tooLong("record A(" + seven + ") {\n  A {\n  }\n}\n")).isEmpty();
    assertThat(tooLong("record A(" + seven + ") {\n  A(" + seven + ") {\n  }\n}\n")).isEmpty();
    assertThat(
            tooLong(
                "record A(int z, " + seven + ") {\n  public A(\n" + seven + ")\n throws B {}\n}"))
        .containsExactly("A 7");
  }

  /** Returns the long constructors of a source, each as its type and its number of parameters. */
  private static List<String> tooLong(String source) {
    String code = COMMENT_OR_TEXT.matcher(source).replaceAll("0");
    Set<String> types = new TreeSet<>();
    TreeMap<String, Integer> components = new TreeMap<>();
    Matcher type = TYPE.matcher(code);
    while (type.find()) {
      types.add(type.group(2));
      if (type.group(1) != null) {
        components.put(type.group(2), parameters(code, code.indexOf('(', type.end())));
      }
    }
    List<String> found = new ArrayList<>();
    Matcher head = HEAD.matcher(code);
    while (head.find()) {
      String name = head.group(1);
      int number = parameters(code, head.end() - 1);
      String rest = code.substring(end(code, head.end() - 1) + 1).stripLeading();
      boolean declared = rest.startsWith("{") || rest.startsWith("throws ");
      boolean canonical = components.getOrDefault(name, -1) == number;
      if (types.contains(name) && declared && !canonical && number > MOST) {
        found.add(name + " " + number);
      }
    }
    return found;
  }

  /** Returns the number of parameters between the parentheses that open at an index. */
  private static int parameters(String code, int open) {
    String inside = code.substring(open + 1, end(code, open));
    int depth = 0;
    int commas = 0;
    for (int i = 0; i < inside.length(); i++) {
      char c = inside.charAt(i);
      if (c == '<' || c == '(') {
        depth++;
      } else if (c == '>' || c == ')') {
        depth--;
      } else if (c == ',' && depth == 0) {
        commas++;
      }
    }
    return inside.isBlank() ? 0 : commas + 1;
  }

  /** Returns the index of the parenthesis that closes the one at an index. */
  private static int end(String code, int open) {
    int depth = 0;
    for (int i = open; i < code.length(); i++) {
      if (code.charAt(i) == '(') {
        depth++;
      } else if (code.charAt(i) == ')' && --depth == 0) {
        return i;
      }
    }
    throw new IllegalArgumentException("parentheses: not closed");
  }
}
