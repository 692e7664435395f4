"""Secrets at rest: AES-256-GCM under keys that lie apart from the data."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from penstock.errors import StoreError

VARIABLE = "PENSTOCK_KEY"
"""Keys in the environment; they count instead of those in the file."""
_KEY_BYTES = 32
_NONCE_BYTES = 12
_FORM = "v1"
_ADVICE = "keys are 32 bytes in base64, one per line, the newest first"


class KeyVault:
    """A `Vault` whose first key seals, and whose every key unseals."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._keys: dict[str, AESGCM] = {}

    def seal(self, text: str, purpose: str) -> str:
        """Return the text sealed with the newest key, which is made if there is none yet."""
        if not self._keys:
            self._load(create=True)
        name, key = next(iter(self._keys.items()))
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + key.encrypt(nonce, text.encode(), purpose.encode())
        return f"{_FORM}.{name}.{base64.urlsafe_b64encode(sealed).decode()}"

    def unseal(self, sealed: str, purpose: str) -> str:
        """Return what was sealed for the same purpose, or raise StoreError."""
        form, name, body = (*sealed.split("."), "", "")[:3]
        if form == _FORM and name not in self._keys:
            # A key may have been added since.
            self._load(create=False)
        if form != _FORM or name not in self._keys:
            msg = "a secret was sealed with a key that is not here: add it to the keys"
            raise StoreError(msg, address=str(self._file))
        try:
            raw = base64.urlsafe_b64decode(body)
            nonce, content = raw[:_NONCE_BYTES], raw[_NONCE_BYTES:]
            return self._keys[name].decrypt(nonce, content, purpose.encode()).decode()
        except (InvalidTag, ValueError) as exc:
            msg = "a secret is damaged: it cannot be unsealed"
            raise StoreError(msg, address=str(self._file)) from exc

    def _load(self, *, create: bool) -> None:
        text = os.environ.get(VARIABLE, "")
        source = VARIABLE if text else str(self._file)
        found = _keys(text or self._read(create=create), source)
        self._keys = {hashlib.sha256(key).hexdigest()[:8]: AESGCM(key) for key in found}

    def _read(self, *, create: bool) -> str:
        try:
            if create:
                _make(self._file)
            return self._file.read_text("ascii")
        except (OSError, UnicodeDecodeError) as exc:
            msg = f"the key for secrets cannot be read: {exc.__class__.__name__}; {_ADVICE}"
            raise StoreError(msg, address=str(self._file)) from exc


def _keys(text: str, source: str) -> Sequence[bytes]:
    words = text.replace(",", " ").split()
    try:
        keys = [base64.b64decode(word, altchars=b"-_", validate=True) for word in words]
    except binascii.Error as exc:
        raise StoreError(f"the key for secrets is no base64; {_ADVICE}", address=source) from exc
    if not keys or any(len(key) != _KEY_BYTES for key in keys):
        raise StoreError(f"the key for secrets is missing or short; {_ADVICE}", address=source)
    return keys


def _make(file: Path) -> None:
    """Write a new key, for the owner's eyes only, unless there is a file already."""
    if file.exists():
        return
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(base64.urlsafe_b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
            opened.flush()
            os.fsync(opened.fileno())
        # Of two processes that make a key at once the first wins, and both use its key.
        os.link(draft, file)
    except FileExistsError:
        return
    finally:
        draft.unlink()
