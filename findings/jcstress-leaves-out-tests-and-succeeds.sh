#!/usr/bin/env bash
# jcstress 0.16: a test with more actors than processors is left out, and the run succeeds.
#
# The guess: a test of three actors on two processors is run with its threads taking turns, or the run fails and says
# that it needs three. (An unknown number of processors in -c is refused in that way.)
# Seen: the test is listed by -l, is not run, and is not named. If it is the only one, the last line says "FATAL: No
# matching tests.", and the exit status is 0. Every outcome of it is forbidden here, so it would fail if it was run; the
# same test with two actors does fail.
# Why it matters here: a claim about three threads was taken for shown, on machines of two processors. Weir's tests have
# two actors, and their number is compared with the list that the annotation processor has made.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mkdir -p sources/finding classes
write() {
  cat >"sources/finding/$1.java" <<JAVA
package finding;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

@JCStressTest
@Outcome(expect = Expect.FORBIDDEN, desc = "any")
@State
public class $1 {
  @Actor public void one(III_Result result) { result.r1 = 1; }
  @Actor public void two(III_Result result) { result.r2 = 1; }
  $2
}
JAVA
}
write Two ''
write Three '@Actor public void three(III_Result result) { result.r3 = 1; }'
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.openjdk.jcstress</groupId><artifactId>jcstress-core</artifactId><version>0.16</version>
    </dependency>
  </dependencies>
</project>
XML
mvn -q -B dependency:build-classpath -Dmdep.outputFile=path >/dev/null
javac -cp "$(cat path)" -proc:full -d classes sources/finding/*.java 2>/dev/null ||
  javac -cp "$(cat path)" -d classes sources/finding/*.java

# Runs the tests of a name on two processors; prints the exit status and whether one was run.
run() {
  local status=0
  java -cp "classes:$(cat path)" org.openjdk.jcstress.Main -t "finding.$1" -c 2 -time 50 -iters 1 -f 1 >log 2>&1 ||
    status=$?
  if grep -q 'Observed forbidden state' log; then
    echo "$1: run, exit status $status"
  elif grep -q 'FATAL: No matching tests' log; then
    echo "$1: no matching tests, exit status $status"
  else
    echo "$1: another output, exit status $status"
  fi
}
seen=$(
  java -cp "classes:$(cat path)" org.openjdk.jcstress.Main -l -t finding 2>&1 | grep '^finding' | sort
  run Two
  run Three
)
printf '%s\n' "$seen"
expected=$'finding.Three\nfinding.Two\nTwo: run, exit status 1\nThree: no matching tests, exit status 0'
[ "$seen" = "$expected" ] || { echo "changed" >&2; exit 1; }
