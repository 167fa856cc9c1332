#!/usr/bin/env bash
# The work of those who run under `consul lock`: enters the place, works, and leaves it. $1 is its host:port, $2 who works.
# Whoever asks `consul lock` to end lets it send SIGTERM here. Half of the workers finish first, half of them die of it.
if ((RANDOM % 2)); then trap '' TERM; fi
exec 3<>"/dev/tcp/${1%:*}/${1##*:}"
echo "enter $2 $$ - -" >&3
read -r -u 3 _
echo leave >&3
read -r -u 3 _
