#!/usr/bin/env bash
# Makes a Python virtual environment from a file of pinned packages: make-venv.sh FOLDER REQUIREMENTS
set -euo pipefail
exec </dev/null

folder=$1
requirements=$2
rm -rf "$folder"
/usr/bin/python3 -m venv "$folder"
if ! "$folder/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: \
     --requirement "$requirements"; then
  echo "error: could not install $requirements (pip's words are above); check that the Python" \
       "package index can be reached (PIP_INDEX_URL, https_proxy), then run make test again" >&2
  exit 1
fi
touch "$folder/.complete"
