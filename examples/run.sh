# Read by the run script of each example: builds the example once if there is no up-to-date build, then starts it.
#
#   start MAIN_CLASS MODULE... -- ARGUMENT...
#
# The modules are those of Weir that the example is made of: a change of their sources is a reason to build again.
# shellcheck shell=bash

folder=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
home=$(cd "$folder/../.." && pwd)
command=${folder##*/}
target=$folder/target/run
stamp=$target/built
# shellcheck source=../.mvn/build.sh
. "$home/.mvn/build.sh"

build() {
  ! unchanged "$stamp" "${modules[@]}" || return 0
  local now
  now=$(mktemp "$target/started.XXXXXX") || fail "$target: cannot be written to (expected: free space)"
  maven "$target/build.log" "building the example" -pl "examples/$command" -am
  mv "$now" "$stamp"
}

start() {
  local main=$1
  shift
  modules=()
  while [ "$1" != -- ]; do
    modules+=("$1")
    shift
  done
  shift
  modules+=("examples/$command")
  if ! unchanged "$stamp" "${modules[@]}"; then
    writable "$target"
    alone "$target/build.lock" build
  fi
  exec "$java" -cp "$target/example.jar:$target/lib/*" "$main" "$@"
}
