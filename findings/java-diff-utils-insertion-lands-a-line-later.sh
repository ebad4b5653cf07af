#!/usr/bin/env bash
# java-diff-utils 4.12: a unified difference without context is applied at the wrong line; 4.18 is right.
#
# The guess: what the library calls the unified form is what patch and git read, also without lines of context.
# Seen: for an empty side the form has the line BEFORE the change, 0 at the beginning of a file. 4.12 writes the line
# after it: "@@ -2,0 +2,1 @@" where "-1,0" is right, "-1,0" for an empty file where "-0,0" is. GNU patch takes the
# first as it stands, without a warning, and inserts the line one place too late.
# Why it matters here: the dashboard shows what a change of rules changes, and people keep such differences as patches.
# Weir uses 4.18, in which this is mended.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >Insertion.java <<'JAVA'
import com.github.difflib.DiffUtils;
import com.github.difflib.UnifiedDiffUtils;
import java.util.List;

public class Insertion {
  public static void main(String[] none) {
    List<String> before = List.of("a", "b");
    List<String> after = List.of("a", "n", "b");
    UnifiedDiffUtils.generateUnifiedDiff("f", "f", before, DiffUtils.diff(before, after), 0)
        .forEach(System.out::println);
  }
}
JAVA

try() {
  cat >pom.xml <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.github.java-diff-utils</groupId><artifactId>java-diff-utils</artifactId><version>$1</version>
    </dependency>
  </dependencies>
</project>
XML
  mvn -q -B dependency:build-classpath -Dmdep.outputFile=path >/dev/null
  mkdir -p "$1"
  javac -cp "$(cat path)" -d "$1" Insertion.java
  java -cp "$1:$(cat path)" Insertion >"$1/patch"
  printf 'a\nb\n' >"$1/f"
  patch -s "$1/f" "$1/patch"
  seen="$(grep @@ "$1/patch") makes $(tr '\n' ' ' <"$1/f")"
  printf 'java-diff-utils %s: %s\n' "$1" "$seen"
  [ "$seen" = "$2" ] || { echo "changed" >&2; exit 1; }
}

patch --version | head -n 1
try 4.12 '@@ -2,0 +2,1 @@ makes a b n '
try 4.18 '@@ -1,0 +2,1 @@ makes a n b '
