from __future__ import annotations

import base64
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penstock.errors import StoreError
from penstock.store import KeyVault


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "penstock.key"


def a_key() -> str:
    return base64.urlsafe_b64encode(os.urandom(32)).decode()


def test_what_was_sealed_is_unsealed_by_whoever_has_the_file(file: Path) -> None:
    sealed = KeyVault(file).seal("s3cret ü", "credential")

    assert "s3cret" not in sealed
    assert KeyVault(file).unseal(sealed, "credential") == "s3cret ü"


def test_same_secret_looks_different_each_time(file: Path) -> None:
    vault = KeyVault(file)

    assert vault.seal("x", "p") != vault.seal("x", "p")


def test_key_is_made_at_first_use_for_its_owner_only(file: Path) -> None:
    vault = KeyVault(file)
    before = file.exists()
    vault.seal("x", "p")

    assert not before
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["penstock.key"]


def test_processes_that_start_at_once_agree_on_one_key(file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        sealed = list(pool.map(lambda number: KeyVault(file).seal(str(number), "p"), range(16)))

    assert [KeyVault(file).unseal(text, "p") for text in sealed] == list(map(str, range(16)))


def test_older_keys_unseal_and_the_newest_seals(file: Path) -> None:
    vault = KeyVault(file)
    old = vault.seal("x", "p")
    file.write_text(f"{a_key()}\n{file.read_text()}")

    rotated = KeyVault(file)
    new = rotated.seal("y", "p")

    assert rotated.unseal(old, "p") == "x"
    assert new.split(".")[1] != old.split(".")[1]
    assert vault.unseal(new, "p") == "y", "a key that was added is found without a restart"


def test_environment_counts_instead_of_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = a_key(), a_key()
    monkeypatch.setenv("PENSTOCK_KEY", old)
    sealed = KeyVault(file).seal("x", "p")
    monkeypatch.setenv("PENSTOCK_KEY", f"{new},{old}")

    assert KeyVault(file).unseal(sealed, "p") == "x"
    assert not file.exists()


def test_secret_of_another_key_is_refused(file: Path, tmp_path: Path) -> None:
    sealed = KeyVault(tmp_path / "other.key").seal("x", "p")
    vault = KeyVault(file)
    vault.seal("y", "p")

    with pytest.raises(StoreError, match="a key that is not here"):
        vault.unseal(sealed, "p")


def test_secret_is_of_use_for_its_purpose_only(file: Path) -> None:
    vault = KeyVault(file)
    sealed = vault.seal("x", "headers")

    with pytest.raises(StoreError, match="damaged"):
        vault.unseal(sealed, "credential")


@pytest.mark.parametrize("damage", ["", "v1", "v2.a.b", "v1..", "nonsense", "v1.{name}.@@"])
def test_damaged_text_is_refused(file: Path, damage: str) -> None:
    vault = KeyVault(file)
    name = vault.seal("x", "p").split(".")[1]

    with pytest.raises(StoreError):
        vault.unseal(damage.format(name=name), "p")


@pytest.mark.parametrize("content", ["", "short", "####", base64.b64encode(b"x" * 16).decode()])
def test_key_that_is_none_is_refused_without_being_shown(file: Path, content: str) -> None:
    file.parent.mkdir()
    file.write_text(content)

    with pytest.raises(StoreError) as refusal:
        KeyVault(file).seal("x", "p")

    assert "32 bytes in base64" in str(refusal.value)
    assert not content or content not in str(refusal.value)


def test_missing_key_is_not_made_to_unseal(file: Path, tmp_path: Path) -> None:
    sealed = KeyVault(tmp_path / "other.key").seal("x", "p")

    with pytest.raises(StoreError, match="cannot be read"):
        KeyVault(file).unseal(sealed, "p")

    assert not file.exists()
