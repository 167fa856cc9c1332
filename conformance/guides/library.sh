# What the guides share. $CONSUL is the address of the server, such as http://127.0.0.1:8500.
set -euo pipefail

die() {
  echo "guide: $*" >&2
  exit 1
}

# get PATH: the body of an answer that is a success.
get() {
  curl --silent --show-error --fail --max-time 60 "$CONSUL$1"
}

# put PATH BODY: the same for a PUT, without white space around it.
put() {
  curl --silent --show-error --fail --max-time 60 --request PUT --data-binary "$2" "$CONSUL$1" | tr -d ' \n'
}

# expect WHAT GOT WANTED
expect() {
  [ "$2" = "$3" ] || die "$1: got '$2', expected '$3'"
}

# field NAME: the first value of that name in the JSON on standard input; nothing if it is not there.
field() {
  tr -d ' \n' | { grep -o "\"$1\":[^,}]*" || true; } | head -n 1 | cut -d : -f 2- | tr -d '"'
}

# index PATH: X-Consul-Index of a read, whatever its status.
index() {
  curl --silent --show-error --max-time 60 --dump-header - --output /dev/null "$CONSUL$1" |
    tr -d '\r' | sed -n 's/^X-Consul-Index: //p'
}

# create_session JSON: the id of a new session.
create_session() {
  put /v1/session/create "$1" | field ID
}
