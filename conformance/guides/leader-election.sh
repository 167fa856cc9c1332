#!/usr/bin/env bash
# The guide to leader election of an application, step by step, with two candidates and an observer.
. "$(dirname "$0")/library.sh"
key=service/guide-$$/leader

# Each candidate creates a session; what it does not ask for is at its default.
first=$(create_session '{"Name": "candidate-1"}')
second=$(create_session '{"Name": "candidate-2"}')
get /v1/session/list | grep -q "$first" || die "the list of sessions does not show the first"
info=$(get "/v1/session/info/$first")
expect "TTL by default" "$(field TTL <<<"$info")" ""
expect "behavior by default" "$(field Behavior <<<"$info")" release
expect "lock-delay by default" "$(field LockDelay <<<"$info")" 15000000000

# Both try to acquire the key; the first one leads, the second one is told so.
expect "the first acquires" "$(put "/v1/kv/$key?acquire=$first" '{"Name": "candidate-1"}')" true
expect "the second is refused" "$(put "/v1/kv/$key?acquire=$second" '{"Name": "candidate-2"}')" false

# The observer finds the leader, and watches the key from its index on.
expect "who leads" "$(get "/v1/kv/$key" | field Session)" "$first"
expect "what it says of itself" "$(get "/v1/kv/$key?raw")" '{"Name": "candidate-1"}'
seen=$(index "/v1/kv/$key")
get "/v1/kv/$key?index=$seen&wait=60s" >"${TMPDIR:-/tmp}/guide-$$" &
observer=$!

# The leader renews its session, does its work, and lets go.
expect "renewing answers with the session" "$(put "/v1/session/renew/$first" '' | field ID)" "$first"
expect "the leader releases" "$(put "/v1/kv/$key?release=$first" '')" true

# The observer is told: nobody leads.
wait "$observer" || die "the observer's read failed"
expect "who leads now" "$(field Session <"${TMPDIR:-/tmp}/guide-$$")" ""
rm -f "${TMPDIR:-/tmp}/guide-$$"

# A voluntary release sets no lock-delay: the second candidate leads at once.
expect "the second acquires" "$(put "/v1/kv/$key?acquire=$second" '{"Name": "candidate-2"}')" true
expect "it is the second holder" "$(get "/v1/kv/$key" | field LockIndex)" 2

# A leader whose session falls loses the key, and the lock-delay holds everybody back.
expect "the session ends" "$(put "/v1/session/destroy/$second" '')" true
expect "nobody leads" "$(get "/v1/kv/$key" | field Session)" ""
expect "the lock-delay refuses" "$(put "/v1/kv/$key?acquire=$first" '')" false

expect "cleaning up" "$(put "/v1/session/destroy/$first" '')" true
expect "cleaning up" "$(curl -sf -X DELETE "$CONSUL/v1/kv/$key" | tr -d ' \n')" true
