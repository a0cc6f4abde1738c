"""What ansible-doc and the README of a role say is all of the role, and every variable has an effect."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3] / "roles"
ROLES = sorted(path.parent.parent for path in ROOT.glob("*/meta/argument_specs.yml"))


def entry_points(role):
    return yaml.safe_load((role / "meta" / "argument_specs.yml").read_text())["argument_specs"]


def options(role):
    return {name: option for entry in entry_points(role).values() for name, option in entry.get("options", {}).items()}


def named(text):
    return set(re.findall(r"\w+", text))


def test_every_role_has_argument_specs():
    assert sorted(path for path in ROOT.iterdir() if (path / "tasks").is_dir()) == ROLES


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_every_entry_point_and_option_is_described(role):
    entries = entry_points(role)
    assert [name for name, entry in entries.items() if not (entry.get("short_description") and entry.get("description"))] == []
    assert [name for name, option in options(role).items() if not (option.get("description") and option.get("type"))] == []


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_defaults_and_argument_specs_agree(role):
    path = role / "defaults" / "main.yml"
    defaults = yaml.safe_load(path.read_text()) if path.exists() else {}
    own = {name: option for name, option in options(role).items() if name.startswith(f"{role.name}_")}
    assert defaults.keys() - own.keys() == set()
    documented = {name: option["default"] for name, option in own.items() if "default" in option}
    assert {name: defaults.get(name) for name in documented} == documented


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_the_readme_names_every_variable_on_one_page(role):
    text = (role / "README.md").read_text()
    assert 30 <= len(text.splitlines()) <= 90
    assert options(role).keys() - named(text) == set()


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_every_variable_has_an_effect(role):
    # defaults count by their values: schedule_command is made of others; an option with one choice is a guard, which argument_specs keeps
    defaults = role / "defaults" / "main.yml"
    texts = [str(list(yaml.safe_load(defaults.read_text()).values()))] if defaults.exists() else []
    texts += [path.read_text() for folder in ("tasks", "vars", "templates", "handlers") for path in (role / folder).rglob("*") if path.is_file()]
    public = {name for name, option in options(role).items() if len(option.get("choices", "any")) != 1}
    assert public - named("\n".join(texts)) == set()
