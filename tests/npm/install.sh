#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# install.sh DIRECTORY: installs what package-lock.json pins into DIRECTORY/node_modules, and makes DIRECTORY/installed.
# Without npm or its registry it succeeds, and DIRECTORY/missing says why there is nothing; the tests show that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

directory=$1
mkdir -p "$directory"
rm -f "$directory"/{installed,missing}

# missing REASON
missing() {
	echo "npm: $1" | tee "$directory/missing"
	exit 0
}

command -v npm > /dev/null || missing 'npm is not installed'
cp package.json package-lock.json "$directory"
if ! npm ci --prefix "$directory" --ignore-scripts --no-audit --no-fund --fetch-retries 1 > "$directory/log" 2>&1; then
	unreachable=$(grep -m 1 -oE '(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)' "$directory/log") ||
		{ cat "$directory/log" >&2; exit 1; }
	missing "the registry cannot be reached ($unreachable)"
fi
touch "$directory/installed"
