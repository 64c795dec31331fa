# SPDX-License-Identifier: GPL-2.0-only
#
# Debian's Prometheus, node exporter and Alertmanager, which `make prometheus` has unpacked into $BUILD/prometheus: as
# processes of the test, on ports of the loopback interface that nobody else has. Source lib.bash first.

PROMETHEUS=$BUILD/prometheus/root/usr/bin

# need_prometheus: skips the test where it is not there
need_prometheus() {
	[ -e "$BUILD/prometheus/installed" ] ||
		skip "$(cat "$BUILD/prometheus/missing" 2> /dev/null || echo 'make prometheus was not run')"
}

free_port() {
	/usr/bin/python3 -I -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# answers PORT: whether something listens there
answers() {
	(exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null
}

# prometheus_start DIRECTORY RULES: a node exporter that reads the directory, a Prometheus that scrapes it each second, and an
# Alertmanager. Sets their URLs, EXPORTER_URL, PROMETHEUS_URL and ALERTMANAGER_URL.
prometheus_start() {
	local exporter prometheus alertmanager port
	exporter=$(free_port) prometheus=$(free_port) alertmanager=$(free_port)
	EXPORTER_URL=127.0.0.1:$exporter
	PROMETHEUS_URL=http://127.0.0.1:$prometheus
	ALERTMANAGER_URL=http://127.0.0.1:$alertmanager
	cat > "$WORK/prometheus.yml" <<- END
		global: { scrape_interval: 1s, evaluation_interval: 1s }
		rule_files: [ "$2" ]
		scrape_configs: [ { job_name: node, static_configs: [ { targets: [ "$EXPORTER_URL" ] } ] } ]
		alerting: { alertmanagers: [ { static_configs: [ { targets: [ "127.0.0.1:$alertmanager" ] } ] } ] }
	END
	cat > "$WORK/alertmanager.yml" <<- 'END'
		route: { receiver: none }
		receivers: [ { name: none } ]
	END
	"$PROMETHEUS/promtool" check config "$WORK/prometheus.yml"
	"$PROMETHEUS/prometheus-node-exporter" --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$1" --web.listen-address="$EXPORTER_URL" 2> "$WORK/exporter.log" 3>&- &
	CHILDREN+=($!)
	# Debian's has the path of its template compiled in
	# shellcheck disable=SC2016 # they are another shell's
	unshare --mount --propagation private sh -euc 'mount -t overlay -o "lowerdir=$1/usr/share:/usr/share" overlay /usr/share
		shift
		exec "$@"' sh "$BUILD/prometheus/root" "$PROMETHEUS/prometheus-alertmanager" \
		--config.file="$WORK/alertmanager.yml" --storage.path="$WORK/alertmanager" \
		--web.listen-address="127.0.0.1:$alertmanager" --cluster.listen-address= 2> "$WORK/alertmanager.log" 3>&- &
	CHILDREN+=($!)
	"$PROMETHEUS/prometheus" --config.file="$WORK/prometheus.yml" --storage.tsdb.path="$WORK/prometheus" \
		--web.listen-address="127.0.0.1:$prometheus" 2> "$WORK/prometheus.log" 3>&- &
	CHILDREN+=($!)
	for port in "$exporter" "$prometheus" "$alertmanager"; do
		await 60 answers "$port"
	done
}

# query EXPRESSION: the values that Prometheus has of it, one a line
query() {
	"$PROMETHEUS/promtool" query instant -o json "$PROMETHEUS_URL" "$1" | jq -r '.[].value[1]'
}

# query_is EXPRESSION VALUE
query_is() {
	[[ $(query "$1") == "$2" ]]
}

# alerts: what the Alertmanager has received, as JSON
alerts() {
	"$PROMETHEUS/amtool" alert query -o json --alertmanager.url="$ALERTMANAGER_URL"
}

# alert_is JQ-EXPRESSION: true of one of the alerts
alert_is() {
	alerts | jq -e "any(.[]; $1)" > /dev/null
}
