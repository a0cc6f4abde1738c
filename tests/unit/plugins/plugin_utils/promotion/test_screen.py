"""What a person reads of a release: its state first, and what it still needs only while it needs something."""

from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import guards, screen

from tests.unit.plugins.plugin_utils.promotion.promotion_builders import lock, release, slot, view


def lines(state):
    """The screen of the stable release of a pool, or of one in another state that waits behind it."""
    stable = release("PROMOTED")
    seen = view(slot(0), slot(1), slot(2), release=release(state), stable=stable)
    return screen.lines(seen, guards.evaluate(seen))


def test_a_promoted_release_is_said_to_be_stable_and_needs_nothing():
    shown = lines("PROMOTED")
    assert shown[0].endswith("PROMOTED · it is the stable release: production gets it")
    assert "needs" not in "\n".join(shown)
    assert not [line for line in shown if line.startswith("order")]


def test_a_promoted_release_still_shows_what_its_slots_say():
    assert [line.split() for line in lines("PROMOTED") if line.startswith("streak")] == [["streak", "3", "of", "3"]]


def test_an_open_release_shows_what_each_guard_needs():
    shown = lines("SOAKING")
    assert shown[2].split() == ["guard", "now", "needs"]
    assert next(line for line in shown if line.startswith("order")).endswith("a release registered after the stable one")


def test_what_the_lock_changes_is_said_with_what_it_needs():
    stable = release("PROMOTED", number=1, digest="sha256:" + "5" * 64)
    seen = view(slot(0), release=release(lock=lock(kernel={"version": "6.12.117+deb13-amd64"})), stable=stable)
    shown = screen.lines(seen, guards.evaluate(seen))
    place = shown.index("against stable:")
    assert [line.split() for line in shown[place + 1 : place + 3]] == [
        ["kernel", "kernel", "6.12.107+deb13-amd64", "->", "6.12.117+deb13-amd64"],
        ["needs", "drain,", "reboot"],
    ]
    assert "against stable:" not in lines("PROMOTED")
