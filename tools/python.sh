#!/bin/sh
# Print a Python that is new enough, or say where to get one. PYTHON names the one to use.
for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11 python3.14 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        echo "$candidate"
        exit 0
    fi
    if [ "$candidate" = "${PYTHON:-}" ]; then
        break # the caller asked for this one: do not surprise them with another
    fi
done
cat >&2 <<EOF
Penstock needs Python 3.11 or newer${PYTHON:+; PYTHON=$PYTHON is not}.
  Debian, Ubuntu:  apt-get install python3 python3-venv
  Fedora:          dnf install python3
  macOS:           brew install python
Then run make again, or name an interpreter: make PYTHON=/path/to/python3 ...
EOF
exit 1
