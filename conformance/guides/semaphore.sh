#!/usr/bin/env bash
# The guide to a semaphore, step by step: two slots, three contenders.
. "$(dirname "$0")/library.sh"
prefix=guide-$$/semaphore
lock=$prefix/.lock

# holders SESSION...: the body of the lock key.
holders() {
  printf '{"Limit":2,"Holders":["%s"]}' "$(IFS=,; echo "$*" | sed 's/,/","/g')"
}

# modify_index: that of the lock key, out of a read of the whole prefix.
modify_index() {
  get "/v1/kv/$lock" | field ModifyIndex
}

# Each contender has a session, and an entry that falls with it.
first=$(create_session '{"Name": "db-semaphore", "LockDelay": "0s"}')
second=$(create_session '{"Name": "db-semaphore", "LockDelay": "0s"}')
third=$(create_session '{"Name": "db-semaphore", "LockDelay": "0s"}')
for session in "$first" "$second" "$third"; do
  expect "the entry of a contender" "$(put "/v1/kv/$prefix/$session?acquire=$session" node)" true
done

# The first creates the lock key; cas=0 lets only one of them do it.
expect "the lock key is created" "$(put "/v1/kv/$lock?cas=0" "$(holders "$first")")" true
expect "and only once" "$(put "/v1/kv/$lock?cas=0" "$(holders "$second")")" false

# The state is one read of the prefix: the lock key and an entry for each contender, with its session.
state=$(get "/v1/kv/$prefix?recurse" | tr -d ' \n')
expect "keys of the semaphore" "$(grep -o '"Key":' <<<"$state" | wc -l | tr -d ' ')" 4
grep -q "\"Session\":\"$first\"" <<<"$state" || die "the entry of the first names no session"

# The second takes the other slot by an optimistic update.
seen=$(modify_index)
expect "a slot is taken" "$(put "/v1/kv/$lock?cas=$seen" "$(holders "$first" "$second")")" true
expect "a stale update is refused" "$(put "/v1/kv/$lock?cas=$seen" "$(holders "$first" "$third")")" false

# The third finds both slots taken and watches the prefix.
seen=$(index "/v1/kv/$prefix?recurse")
get "/v1/kv/$prefix?recurse&index=$seen&wait=60s" >"${TMPDIR:-/tmp}/guide-$$" &
watcher=$!

# The first fails: its session ends, its entry stays and names no session any more.
expect "a holder fails" "$(put "/v1/session/destroy/$first" '')" true
wait "$watcher" || die "the watch failed"
grep -q "\"Session\": *\"$first\"" "${TMPDIR:-/tmp}/guide-$$" && die "the failed holder still has its entry"
rm -f "${TMPDIR:-/tmp}/guide-$$"

# The third prunes it and takes the slot.
seen=$(modify_index)
expect "the slot is taken over" "$(put "/v1/kv/$lock?cas=$seen" "$(holders "$second" "$third")")" true

# The second gives its slot back: out of the holders, then its entry, then its session.
seen=$(modify_index)
expect "a slot is given back" "$(put "/v1/kv/$lock?cas=$seen" "$(holders "$third")")" true
expect "the entry goes" "$(curl -sf -X DELETE "$CONSUL/v1/kv/$prefix/$second" | tr -d ' \n')" true
expect "the session goes" "$(put "/v1/session/destroy/$second" '')" true

expect "cleaning up" "$(put "/v1/session/destroy/$third" '')" true
expect "cleaning up" "$(curl -sf -X DELETE "$CONSUL/v1/kv/$prefix?recurse" | tr -d ' \n')" true
