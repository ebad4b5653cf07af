# Read by the run script of each example: builds the example once if there is no up-to-date build, then starts it.
#
#   start MAIN_CLASS MODULE... -- ARGUMENT...
#
# The modules are those of Weir that the example is made of: a change of their sources is a reason to build again.
# shellcheck shell=bash

folder=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
home=$(cd "$folder/../.." && pwd)
name=${folder##*/}
stamp=$folder/target/built

fail() {
  echo "$name: $1" >&2
  exit 1
}

up_to_date() {
  [ -e "$stamp" ] || return 1
  local sources=("$home/pom.xml") module
  for module in "${modules[@]}" "examples/$name"; do
    sources+=("$home/$module/pom.xml" "$home/$module/src/main")
  done
  [ -z "$(find "${sources[@]}" -newer "$stamp" -print -quit)" ]
}

build() {
  command -v mvn >/dev/null || fail "mvn: not found (expected: Maven 3.8.7 or newer on the PATH)"
  mkdir -p "$folder/target"
  local log=$folder/target/build.log begun=$SECONDS now
  now=$(mktemp "$folder/target/started.XXXXXX")
  echo "$name: no up-to-date build; building once (the first build downloads libraries and takes a minute or two)" >&2
  if ! (cd "$home" && mvn -B -Dmaven.test.skip=true -Dspotless.check.skip=true -Dforbiddenapis.skip -pl "examples/$name" -am package) >"$log" 2>&1; then
    rm -f "$now"
    grep -E '^\[ERROR\]' "$log" | head -20 >&2 || true
    fail "the build failed; its whole output is in $log"
  fi
  mv "$now" "$stamp"
  echo "$name: built in $((SECONDS - begun)) s" >&2
}

start() {
  local main=$1 java
  shift
  modules=()
  while [ "$1" != -- ]; do
    modules+=("$1")
    shift
  done
  shift
  if [ -n "${JAVA_HOME:-}" ]; then
    java=$JAVA_HOME/bin/java
  else
    java=$(command -v java) || fail "java: not found (expected: a JDK 17 or newer on the PATH or in JAVA_HOME)"
  fi
  [ -x "$java" ] || fail "JAVA_HOME: $JAVA_HOME has no bin/java (expected: a JDK 17 or newer)"
  up_to_date || build
  exec "$java" -cp "$folder/target/example.jar:$folder/target/lib/*" "$main" "$@"
}
