# Read by ./weir and by the examples: finds Java, and builds modules for running, without checks.
#
# Set before it is read: home, the root of the sources, and command, the name with which messages begin.
# shellcheck shell=bash

fail() {
  echo "$command: $1" >&2
  exit 1
}

if [ -n "${JAVA_HOME:-}" ]; then
  java=$JAVA_HOME/bin/java
else
  java=$(command -v java) || fail "java: not found (expected: a JDK 17 or newer on the PATH or in JAVA_HOME)"
fi
[ -x "$java" ] || fail "JAVA_HOME: $JAVA_HOME has no bin/java (expected: a JDK 17 or newer)"

# Succeeds if no source of these modules is newer than a file.
unchanged() {
  local since=$1 module sources=()
  shift
  [ -e "$since" ] || return 1
  for module in "$@"; do
    sources+=("$home/$module/pom.xml" "$home/$module/src/main")
  done
  [ -z "$(find "$home/pom.xml" "${sources[@]}" -newer "$since" -print -quit)" ]
}

# Builds modules and those below them, for running, without checks. One line shows the progress, and after a failure the
# last line shows the reason. Built and fetched files stay, so the next call goes on from there.
#   maven LOG TITLE MODULES...   MODULES: the arguments by which Maven chooses them
maven() {
  local log=$1 title=$2 major begun=$SECONDS pid status=0 said=0
  shift 2
  major=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = //p')
  [ "${major%%.*}" -ge 17 ] 2>/dev/null || fail "java: version ${major:-unknown} (expected: 17 or newer)"
  [ -x "$(dirname "$(readlink -f "$java")")/javac" ] || fail "java: $java has no javac beside it (expected: a JDK, 17 or newer)"
  command -v mvn >/dev/null || fail "mvn: not found (expected: Maven 3.8.7 or newer on the PATH)"
  drop_halves "$log.unfinished"
  : >"$log.unfinished"
  # Short builds end before better code would pay; Maven runs on the Java that Weir will run on.
  (cd "$home" && JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$java")")") \
    MAVEN_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseParallelGC ${MAVEN_OPTS:-}" \
    exec mvn -B -T 1C -Dweir.run -Dmaven.test.skip=true "$@" package) >"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null || true; echo >&2; echo "$command: interrupted; the next call goes on from here" >&2; exit 130' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    progress "$log" "$title" $((SECONDS - begun))
  done
  wait "$pid" || status=$?
  trap - INT TERM
  [ ! -t 2 ] || printf '\r\033[K' >&2
  [ "$status" -eq 0 ] || fail "$(cause "$log")"
  rm -f "$log.unfinished"
  echo "$command: $title: built in $((SECONDS - begun)) s" >&2
}

# Deletes the incomplete files of a build that was killed, which the next one would take for complete ones: classes that
# are newer than their module's jar, and the jars that it has written.
#   drop_halves MARK   MARK: a file that exists from the beginning of a build until it has succeeded
drop_halves() {
  local run jar mark=$1
  for run in "$home"/*/target/run "$home"/*/*/target/run; do
    [ -d "$run/classes" ] || continue
    jar=$(find "$run" -maxdepth 1 -name '*.jar' -print -quit)
    if [ -z "$jar" ] || [ -n "$(find "$run/classes" -newer "$jar" -print -quit)" ]; then
      rm -rf "$run/classes" "$run/maven-status" "$run/generated-sources" "$run"/proto* "$run"/*.jar
    elif [ -e "$mark" ] && [ "$jar" -nt "$mark" ]; then
      rm -f "$jar"
    fi
  done
}

# Shows the number of the module that is built, and the total: on a terminal in one line, elsewhere every ten seconds.
progress() {
  local log=$1 title=$2 seconds=$3 line
  if [ ! -t 2 ]; then
    [ "$seconds" -ge $((said + 10)) ] || return 0
    said=$seconds
  fi
  line=$(awk '/^\[INFO\] Building .*\[/ { sub(/^\[INFO\] Building /, ""); sub(/ [0-9][^ ]*-SNAPSHOT */, " "); name = $0; sub(/ *\[.*/, "", name)
                of = $0; sub(/.*\//, "", of); sub(/\].*/, "", of); n++ }
              /^Downloaded from/ { fetched++ }
              END { if (n) printf "%s, %d of %d", name, n, of; else printf "reading the project"
                    if (fetched) printf "; %d files fetched", fetched }' "$log")
  if [ -t 2 ]; then
    printf '\r\033[K%s: %s: %s; %d s' "$command" "$title" "$line" "$seconds" >&2
  else
    echo "$command: $title: $line; $seconds s" >&2
  fi
}

# Prints in one line the reason for which Maven failed.
cause() {
  local log=$1 line
  if grep -q 'No space left on device' "$log"; then
    echo "the build failed: no space left on the disk of $home or of Maven's local repository (expected: 500 MB)"
  elif line=$(grep -m 1 -oE 'Could not transfer artifact [^ ]+ from/to [^ ]+.*' "$log"); then
    line=${line#Could not transfer artifact }
    echo "the build failed: ${line%% *} cannot be fetched: $(sed -E 's/.*\): //; s/ -> \[Help.*//; s/ @ line .*//' <<<"$line") (expected: a network, or a mirror in Maven's settings); the next call goes on from here"
  elif line=$(grep -m 1 -E '^\[ERROR\] .*(Permission denied|AccessDeniedException)' "$log"); then
    echo "the build failed: ${line#\[ERROR\] } (expected: a clone and a local repository of Maven that can be written to)"
  elif line=$(grep -m 1 -E '^\[ERROR\] /.*\.java:\[' "$log"); then
    line=${line#\[ERROR\] }
    echo "the build failed: ${line#"$home"/}"
  else
    line=$(grep -m 1 -E '^\[(ERROR|FATAL)\]' "$log" || tail -n 1 "$log")
    line=${line#\[ERROR\] }
    echo "the build failed: ${line%% -> \[Help*}"
  fi
}

# Runs a command under a lock, if the system has locks: two first calls at the same time build once.
#   alone LOCK COMMAND...
alone() {
  local lock=$1
  shift
  if command -v flock >/dev/null; then
    exec 9>"$lock"
    flock 9
    "$@"
    exec 9>&-
  else
    "$@"
  fi
}

# Makes a folder for built files.
writable() {
  mkdir -p "$1" 2>/dev/null && [ -w "$1" ] || fail "$1: cannot be written to (expected: a clone of your own, which is built once)"
}
