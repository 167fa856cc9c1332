#!/usr/bin/env bash
# The guide to leader election with ACLs, by a command line: from the policy to the released lock, then with a permission
# missing. $BINARY is a `consul` whose verbs these are, $MANAGEMENT a token that may do everything.
# A command line has no verbs for sessions: `lock` makes them, and asks the agent for itself first.
. "$(dirname "$0")/library.sh"
key=service/guide-$$
export CONSUL_HTTP_ADDR=$CONSUL

# consul TOKEN VERB...: runs the command line with a token in its environment.
consul() {
  CONSUL_HTTP_TOKEN=$1 "$BINARY" "${@:2}"
}

# token NAME RULES: the secret of a new token with a policy of these rules.
token() {
  consul "$MANAGEMENT" acl policy create -name "$1" -rules "$2" >/dev/null
  consul "$MANAGEMENT" acl token create -policy-name "$1" | awk '/^SecretID/ { print $2 }'
}

# refused TOKEN WORDS VERB...: a command that ends with 1 and these words, and prints nothing else.
refused() {
  local said status=0
  said=$(consul "$1" "${@:3}" 2>&1 >/dev/null </dev/null) || status=$?
  expect "the status of ${*:3}" "$status" 1
  grep -q "403.*$2" <<<"$said" || die "${*:3}: $said"
}

agent='agent_prefix "" { policy = "read" }'
session='session_prefix "" { policy = "write" }'
leader=$(token "guide-$$-leader" "$agent $session key_prefix \"service/\" { policy = \"write\" }")
agentless=$(token "guide-$$-agentless" "$session key_prefix \"service/\" { policy = \"write\" }")
sessionless=$(token "guide-$$-sessionless" "$agent key_prefix \"service/\" { policy = \"write\" }")
keyless=$(token "guide-$$-keyless" "$agent $session key_prefix \"service/\" { policy = \"read\" }")

# The lock is held while the program runs, and released when it ends.
held=$(consul "$leader" lock "$key" "echo held")
expect "the work under the lock" "$held" "held"
consul "$leader" kv put "$key/done" yes >/dev/null
expect "what is done" "$(consul "$leader" kv get "$key/done")" yes
expect "who leads now" "$(get "/v1/kv/$key/.lock?token=$leader" 2>/dev/null | field Session)" ""

refused "$agentless" "Permission denied" lock "$key" true
refused "$sessionless" "Permission denied" lock "$key" true
refused "$keyless" "Permission denied" lock "$key" true
refused "$keyless" "Permission denied" kv put "$key/done" no
refused 99999999-9999-4999-8999-999999999999 "ACL not found" kv put "$key/done" no
expect "what is still done" "$(consul "$leader" kv get "$key/done")" yes
consul "$leader" kv delete -recurse "$key/" >/dev/null
