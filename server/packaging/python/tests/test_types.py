"""What type checkers make of the types: `mypy --strict` reads this, and each line with `type: ignore` is an error to it."""

import pytest

import proconsul


def test_answers_are_typed(frozen_consul_server: proconsul.Server) -> None:
    server = frozen_consul_server
    now: int = server.clock()["now_ms"]
    caused = server.advance("20s")
    assert caused["now_ms"] == now + 20_000
    kinds: list[proconsul.Kind] = [record["kind"] for record in caused["caused"]]
    keys: list[str | None] = [record.get("key") for record in server.history(kind=["acquired"])["records"]]
    assert (kinds, keys) == ([], [])
    assert server.faults()["leader_lost"] is None
    with pytest.raises(KeyError):
        server.clock()["now"]  # type: ignore[typeddict-item]


def test_effects_are_typed(frozen_consul_server: proconsul.Server) -> None:
    server = frozen_consul_server
    server.fault({"kind": "error", "error": "no-cluster-leader", "after": "0s"}, key_prefix="a", times=1)
    server.fault({"kind": "respond", "status": 503, "headers": {"Retry-After": "1"}}, header={"name": "Who", "value": "b"})
    effects: list[proconsul.Effect] = [{"kind": "hang"}, {"kind": "truncate", "bytes": 3}]
    for effect in effects:
        server.fault(effect, key_prefix=effect["kind"])
    assert [rule["hits"] for rule in server.faults()["rules"]] == [0, 0, 0, 0]
    server.lose_leader(phases=[{"phase": "unreachable", "lasts": "2s"}, {"phase": "no-leader"}])


def test_what_is_unknown_is_refused_with_what_there_is(consul_server: proconsul.Server) -> None:
    with pytest.raises(TypeError, match="keyprefix"):
        consul_server.fault({"kind": "hang"}, keyprefix="a")  # type: ignore[call-arg]
    with pytest.raises(proconsul.ControlError, match="unknown variant `hangs`, expected one of `error`, `respond`"):
        consul_server.fault({"kind": "hangs"})  # type: ignore[arg-type, misc]
    with pytest.raises(proconsul.ControlError, match="unknown field `aftr`, expected `error` or `after`"):
        consul_server.fault({"kind": "error", "error": "rpc-eof", "aftr": "0s"})  # type: ignore[arg-type]
    with pytest.raises(proconsul.ControlError, match='unknown error "eof"; there are no-cluster-leader, rpc-eof'):
        consul_server.fault({"kind": "error", "error": "eof"})  # type: ignore[typeddict-item]
    with pytest.raises(proconsul.ControlError, match='unknown scenario "killed"; there are never-elected, leader-killed'):
        consul_server.lose_leader(scenario="killed")  # type: ignore[arg-type]
