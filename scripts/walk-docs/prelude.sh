# Before the commands of a page. `at` says where we are, so that what fails can be named.
set -euo pipefail
set -m # what is served gets a process group, and with it the signals of a terminal
SERVED=()
at() { printf '\n@@ %s  %s\n' "$1" "$2"; }
curl() { command curl --silent --show-error --fail-with-body "$@"; }

# Starts what goes on until it is told to end, and waits for what it says first.
serve() {
  local says=$1 log; shift
  hush
  log=$(mktemp "$WALK/served.XXXXXX")
  "$@" > "$log" 2>&1 &
  SERVED=($!)
  for _ in $(seq 1 1800); do
    if grep -qE "$says" "$log"; then return 0; fi
    if ! kill -0 "${SERVED[0]}" 2> /dev/null; then break; fi
    sleep 0.1
  done
  cat "$log"
  return 1
}

# Ends what is served as Ctrl-C would, before somebody at the terminal could go on.
hush() {
  local pid code
  for pid in ${SERVED[@]+"${SERVED[@]}"}; do
    kill -INT -- "-$pid" 2> /dev/null || true
    code=0
    wait "$pid" || code=$?
    case $code in
      0 | 130 | 143) ;;
      *) echo "what was served ended with $code" && return 1 ;;
    esac
  done
  SERVED=()
}

# A look at what never ends.
glance() {
  local code=0
  timeout --signal=INT 3 "$@" || code=$?
  [ "$code" = 0 ] || [ "$code" = 124 ] || [ "$code" = 130 ]
}

# Advice is as good when it says that something is wrong, such as no way out of this machine.
advised() {
  local code=0
  "$@" || code=$?
  [ "$code" -le 1 ]
}

finish() {
  local code=$? pid
  for pid in ${SERVED[@]+"${SERVED[@]}"}; do kill -TERM -- "-$pid" 2> /dev/null || true; done
  wait
  exit "$code"
}
trap finish EXIT
