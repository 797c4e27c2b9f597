#!/usr/bin/env bash
# Runs a test that needs programs: needs.sh PROGRAM... -- COMMAND...
# Where one is missing it exits with 77 (skipped), or with 1 when REDUCTION_REQUIRE_DEPLOY=1.
set -euo pipefail

while [ "$1" != -- ]; do
  if ! command -v "$1" >/dev/null; then
    echo "$1 is missing: deploy/install-dependencies.sh --deploy and make venv-deploy bring it"
    [ "${REDUCTION_REQUIRE_DEPLOY:-}" = 1 ] && exit 1
    exit 77
  fi
  shift
done
shift
exec "$@"
