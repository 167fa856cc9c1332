#!/usr/bin/env bash
# The guide to leader election with ACLs, by curl: from the policy to the released lock, then with a permission missing.
# $MANAGEMENT is a token that may do everything.
. "$(dirname "$0")/library.sh"
key=service/guide-$$/leader

# as TOKEN: whose requests the next ones are.
as() {
  export CURL_HOME="$home"
  printf 'header = "X-Consul-Token: %s"\n' "$1" >"$home/.curlrc"
}

# token NAME RULES: the secret of a new token with a policy of these rules.
token() {
  put /v1/acl/policy "{\"Name\": \"$1\", \"Rules\": \"$2\"}" >/dev/null
  put /v1/acl/token "{\"Policies\": [{\"Name\": \"$1\"}]}" | field SecretID
}

# refused METHOD PATH BODY: the refusal's text before what later releases say of the right.
refused() {
  local answer
  answer=$(curl --silent --show-error --max-time 60 --write-out '\n%{http_code}' --request "$1" --data-binary "$3" "$CONSUL$2")
  [ "${answer##*$'\n'}" = 403 ] || die "$1 $2: not refused, but: $answer"
  cut -d : -f 1 <<<"${answer%$'\n'*}"
}

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

# The policy and the token that the guide asks for, and two that lack a permission.
as "$MANAGEMENT"
session='session_prefix \"\" { policy = \"write\" }'
leader=$(token "guide-$$-leader" "$session key_prefix \\\"service/\\\" { policy = \\\"write\\\" }")
sessionless=$(token "guide-$$-sessionless" 'key_prefix \"service/\" { policy = \"write\" }')
keyless=$(token "guide-$$-keyless" "$session key_prefix \\\"service/\\\" { policy = \\\"read\\\" }")

# The whole way with the guide's token.
as "$leader"
id=$(create_session '{"Name": "candidate"}')
get /v1/session/list | grep -q "$id" || die "the list of sessions does not show the session"
expect "the candidate acquires" "$(put "/v1/kv/$key?acquire=$id" '{"Name": "candidate"}')" true
expect "who leads" "$(get "/v1/kv/$key" | field Session)" "$id"
seen=$(index "/v1/kv/$key")
get "/v1/kv/$key?index=$seen&wait=60s" >"$home/seen" &
observer=$!
expect "renewing answers with the session" "$(put "/v1/session/renew/$id" '' | field ID)" "$id"
expect "what it may not do" "$(refused GET /v1/agent/self '')" "Permission denied"

# Without session:write there is no session, and others' are neither renewed nor ended.
as "$sessionless"
expect "no session" "$(refused PUT /v1/session/create '{"Name": "candidate"}')" "Permission denied"
expect "no renewal" "$(refused PUT "/v1/session/renew/$id" '')" "Permission denied"
expect "no end" "$(refused PUT "/v1/session/destroy/$id" '')" "Permission denied"
expect "nothing listed" "$(get /v1/session/list | tr -d ' \n')" "[]"

# Without key:write there is a session, but no lock: neither taken nor given back.
as "$keyless"
other=$(create_session '{"Name": "candidate"}')
expect "no lock" "$(refused PUT "/v1/kv/$key?acquire=$other" '')" "Permission denied"
expect "no release" "$(refused PUT "/v1/kv/$key?release=$id" '')" "Permission denied"
expect "who still leads" "$(get "/v1/kv/$key" | field Session)" "$id"
expect "the session goes" "$(put "/v1/session/destroy/$other" '')" true

# Nor with a token that there is not.
as 99999999-9999-4999-8999-999999999999
expect "unknown" "$(refused PUT /v1/session/create '{}')" "ACL not found"

# The leader lets go, and the observer is told.
as "$leader"
expect "the leader releases" "$(put "/v1/kv/$key?release=$id" '')" true
wait "$observer" || die "the observer's read failed"
expect "who leads now" "$(field Session <"$home/seen")" ""
expect "cleaning up" "$(put "/v1/session/destroy/$id" '')" true
expect "cleaning up" "$(curl -sf -X DELETE "$CONSUL/v1/kv/$key" | tr -d ' \n')" true
