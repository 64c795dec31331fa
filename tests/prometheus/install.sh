#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# install.sh DIRECTORY: unpacks Debian's Prometheus, node exporter, Alertmanager and containerd into DIRECTORY, and makes
# DIRECTORY/installed. Installed as packages they would start services on this machine. Where they cannot be had, it succeeds,
# and DIRECTORY/missing says why there is nothing; the tests show that.
set -euo pipefail

directory=$1
mkdir -p "$directory"
rm -rf "$directory"/{installed,missing,root} "$directory"/*.deb
cd "$directory"
if ! apt-get -q -o APT::Sandbox::User=root download prometheus prometheus-node-exporter prometheus-alertmanager containerd > log 2>&1; then
	echo "apt-get download: $(tail -n 1 log)" | tee missing
	exit 0
fi
for package in *.deb; do
	dpkg -x "$package" root
done
rm -f ./*.deb
touch installed
