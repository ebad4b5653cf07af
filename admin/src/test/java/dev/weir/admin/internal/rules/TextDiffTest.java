package dev.weir.admin.internal.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class TextDiffTest {
  private static final Pattern HUNK =
      Pattern.compile("@@ -(\\d+)(?:,(\\d+))? \\+(\\d+)(?:,(\\d+))? @@");

  @Test
  void oneLine_isShownWithThreeAround() {
    String before = "a\nb\nc\nd\ne\nf\ng\nh\n";
    assertThat(TextDiff.of(Map.of("x", before), Map.of("x", before.replace("e", "E"))))
        .isEqualTo(
            """
            --- a/x
            +++ b/x
            @@ -2,7 +2,7 @@
             b
             c
             d
            -e
            +E
             f
             g
             h
            """);
  }

  @Test
  void filesThatComeGoOrStay_areNamed() {
    assertThat(TextDiff.of(Map.of("a", "1\n", "c", "3"), Map.of("b", "2\n", "c", "3")))
        .isEqualTo(
            "--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-1\n--- /dev/null\n+++ b/b\n@@ -0,0 +1,1 @@\n+2\n");
    assertThat(TextDiff.of(Map.of("a", "1"), Map.of("a", "1\n")))
        .contains("-1\n\\ No newline at end of file\n+1\n");
  }

  @Test
  void randomTexts_areRebuiltByTheirDiff() {
    int runs = 3_000;
    long seed = Trials.random("differences of texts", runs).nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < runs; i++) {
      String before = text(random);
      String after = text(random);
      String diff = TextDiff.of(Map.of("x", before), Map.of("x", after));
      assertThat(applied(before, diff)).as("seed %d, round %d", seed, i).isEqualTo(after);
    }
  }

  @Test
  void textsWithManyEdits_areReplacedAsAWhole() {
    StringBuilder before = new StringBuilder();
    StringBuilder after = new StringBuilder();
    for (int i = 0; i < 50_000; i++) {
      before.append("a").append(i).append('\n');
      after.append("b").append(i).append('\n');
    }
    String diff = TextDiff.of(Map.of("x", "same\n" + before), Map.of("x", "same\n" + after));
    assertThat(diff).contains("@@ -1,50001 +1,50001 @@\n same\n-a0\n").endsWith("... cut off\n");
    assertThat(diff.length()).isLessThan(TextDiff.MAX_CHARS + 100);
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    int lines = random.nextInt(30);
    for (int i = 0; i < lines; i++) {
      text.append((char) ('a' + random.nextInt(4))).append('\n');
    }
    return text.toString();
  }

  /** Applies a unified difference, and checks each of its lines and numbers. */
  private static String applied(String before, String diff) {
    List<String> old = before.lines().toList();
    List<String> made = new ArrayList<>();
    int at = 0;
    List<String> lines = diff.lines().toList();
    for (int i = 2; i < lines.size(); ) {
      Matcher hunk = HUNK.matcher(lines.get(i++));
      assertThat(hunk.matches()).as(diff).isTrue();
      int from = Integer.parseInt(hunk.group(1)) - (count(hunk, 2) == 0 ? 0 : 1);
      while (at < from) {
        made.add(old.get(at++));
      }
      assertThat(Integer.parseInt(hunk.group(3)))
          .isEqualTo(made.size() + (count(hunk, 4) == 0 ? 0 : 1));
      int olds = 0;
      int news = 0;
      while (olds < count(hunk, 2) || news < count(hunk, 4)) {
        String line = lines.get(i++);
        if (line.charAt(0) != '+') {
          assertThat(old.get(at++)).isEqualTo(line.substring(1));
          olds++;
        }
        if (line.charAt(0) != '-') {
          made.add(line.substring(1));
          news++;
        }
      }
    }
    made.addAll(old.subList(at, old.size()));
    return made.isEmpty() ? "" : String.join("\n", made) + "\n";
  }

  private static int count(Matcher hunk, int group) {
    String count = hunk.group(group);
    return count == null ? 1 : Integer.parseInt(count);
  }
}
