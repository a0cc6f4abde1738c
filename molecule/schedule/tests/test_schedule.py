"""Asks systemd on the node, not the role."""

import time

UNIT = "goldnode-canary-lab_a10"
NOTES = "/var/lib/goldnode/turns"


def turns(host):
    lines = [line.split() for line in host.file(NOTES).content_string.splitlines()]
    return [(what, int(pid), int(uid), float(at)) for what, pid, uid, at in lines]


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until and not condition():
        time.sleep(1)
    assert condition()


def ended(host):
    return sum(what == "end" for what, *_rest in turns(host)) if host.file(NOTES).exists else 0


def test_the_timer_is_enabled_and_waits(host):
    timer = host.service(f"{UNIT}.timer")
    assert timer.is_enabled
    assert timer.is_running
    assert timer.systemd_properties["Persistent"] == "yes"


def test_the_timer_fires_and_two_turns_never_overlap(host):
    before = ended(host)
    wait_for(lambda: ended(host) >= before + 3)
    open_turns = 0
    for what, *_rest in turns(host):
        open_turns += 1 if what == "begin" else -1
        assert open_turns in (0, 1)


def test_a_start_by_hand_joins_the_turn_that_runs(host):
    wait_for(lambda: host.service(f"{UNIT}.service").systemd_properties["ActiveState"] == "activating")
    pid = host.service(f"{UNIT}.service").systemd_properties["MainPID"]
    host.run_test(f"systemctl start --no-block {UNIT}.service")
    state = host.service(f"{UNIT}.service").systemd_properties
    assert state["ActiveState"] != "activating" or state["MainPID"] == pid


def test_a_killed_turn_does_not_stop_the_timer(host):
    host.run_test(f"systemctl kill -s KILL {UNIT}.service")
    before = ended(host)
    wait_for(lambda: ended(host) > before)


def test_a_turn_runs_as_its_own_user_and_cannot_write_elsewhere(host):
    assert {uid for _what, _pid, uid, _at in turns(host)} == {host.user("goldnode").uid}
    service = host.service(f"{UNIT}.service").systemd_properties
    assert (service["ProtectSystem"], service["NoNewPrivileges"], service["PrivateTmp"]) == ("strict", "yes", "yes")


def test_a_slot_that_passed_while_the_timer_slept_is_made_up_for(host):
    host.run_test(f"systemctl stop {UNIT}.timer {UNIT}.service")
    stamp = f"/var/lib/systemd/timers/stamp-{UNIT}.timer"
    before = len(turns(host))
    # noon of the day before: the timer believes that it last fired then
    assert host.run(f"touch -d yesterday {stamp}").rc == 0
    started = time.monotonic()
    host.run_test(f"systemctl start {UNIT}.timer")
    wait_for(lambda: len(turns(host)) > before, 15)
    assert time.monotonic() - started < 15


def test_another_playbook_has_a_timer_of_its_own_by_the_calendar(host):
    timer = host.service("goldnode-detect-drift-lab_a10.timer")
    assert timer.is_enabled and timer.is_running
    assert "OnCalendar=*-*-* 02:00:00" in timer.systemd_properties["TimersCalendar"]
    command = host.service("goldnode-detect-drift-lab_a10.service").systemd_properties["ExecStart"]
    assert "goldnode.gpu.detect_drift" in command and "pool=lab_a10" in command
