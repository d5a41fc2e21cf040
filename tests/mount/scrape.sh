#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# The metrics of several mounts through a node exporter's textfile collector: Prometheus's own
# tool finds nothing to say, whatever bytes a path has, and each mount has its series. Each
# panel of the dashboard in contrib finds some in a Prometheus that asks the exporter.
# shellcheck source=tests/own_namespace.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/own_namespace.sh"

# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar timeout promtool prometheus prometheus-node-exporter curl
need_python json
odd=$work/$'odd "name" \\ with\nlines \xff\xfe'

make_mounts() {
	mkdir -p "$work/tree" "$work/text" "$work/plain" "$odd"
	echo one >"$work/tree/one"
	tar -C "$work/tree" -cf "$work/t.tar" .
	tar -C "$work/tree" -cf "$odd/x\".tar" .
	watch_mount "$work/plain"
	at_exit umount "$odd" # /proc/mounts has another spelling of its name
	SLURM_JOB_ID=4711 granaryfs -o index=off "$work/t.tar" "$work/plain" &&
		SLURM_JOB_ID='12_"3"' granaryfs -o index=off "$odd/x\".tar" "$odd"
	ok $? "two mounts, one at an odd path"
}

# Any that is free.
free_port() {
	"$python" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

start_exporter() {
	port=$(free_port)
	prometheus-node-exporter --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$work/text" \
		--web.listen-address="127.0.0.1:$port" >"$work/exporter" 2>&1 &
	started+=("$!")
	wait_until 30 scrape
	ok $? "the node exporter answers" || diag "$(tail -5 "$work/exporter")"
}

scrape() {
	curl -s -f --max-time 20 "http://127.0.0.1:$port/metrics" >"$work/scraped"
}

# clean DESCRIPTION: the exporter takes it all, and promtool has nothing to say.
clean() {
	check "$1: scraped" scrape
	check "$1: the exporter has read all files" \
		grep -q '^node_textfile_scrape_error 0$' "$work/scraped"
	timeout 60 promtool check metrics <"$work/scraped" >"$work/promtool" 2>&1
	is "$? $(cat "$work/promtool")" "0 " "$1: promtool is content"
}

# series NAME: how many of it were scraped.
series() {
	grep -c "^$1{" "$work/scraped"
}

# ---- The dashboard ----------------------------------------------------------

start_prometheus() {
	printf '%s\n' 'global: {scrape_interval: 1s}' 'scrape_configs:' '- job_name: node' \
		'  static_configs:' "  - targets: ['127.0.0.1:$port']" >"$work/prometheus.yml"
	asked=$(free_port)
	prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" \
		--web.listen-address="127.0.0.1:$asked" >"$work/prometheus" 2>&1 &
	started+=("$!")
	wait_until 30 curl -s -f --max-time 20 "http://127.0.0.1:$asked/-/ready"
	ok $? "Prometheus answers" || diag "$(tail -5 "$work/prometheus")"
}

# Each expression, with its variables replaced as Grafana does it: all values, some seconds.
expressions() {
	"$python" -c 'import json, sys
for panel in json.load(open(sys.argv[1]))["panels"]:
    for target in panel["targets"]:
        print(target["expr"].replace("$__rate_interval", "20s").replace("$user", ".*")
              .replace("$jobid", ".*").replace("$dataset", ".*"))' \
		"$abs_top_srcdir/contrib/grafana-dashboard.json"
}

# has_series EXPRESSION: also a request to the mounts, and their metrics of now.
has_series() {
	cat "$work/plain/.granaryfs/stats" >/dev/null
	granary list --metrics >"$work/new" && mv "$work/new" "$work/text/all.prom"
	curl -s -G --max-time 20 --data-urlencode "query=$1" \
		"http://127.0.0.1:$asked/api/v1/query" | grep -q '"status":"success".*"value":\['
}

dashboard() {
	local expression
	start_prometheus
	expressions >"$work/expressions"
	at_least "$(wc -l <"$work/expressions")" 10 "the dashboard has expressions"
	while read -r expression; do
		check "series of: $expression" wait_until 30 has_series "$expression"
	done <"$work/expressions"
}

make_mounts
start_exporter
cp "$work/plain/.granaryfs/metrics" "$work/text/plain.prom"
cp "$odd/.granaryfs/metrics" "$work/text/odd.prom"
clean "a file a mount"
is "$(series granaryfs_read_bytes_total)" 2 "each mount has its series"
check "of the job" grep -q '^granaryfs_read_bytes_total{.*jobid="4711"' "$work/scraped"
check "of a job with quotes" grep -q -F 'jobid="12_\"3\""' "$work/scraped"
check "of the odd path" grep -q -F 'odd \"name\" \\ with\nlines' "$work/scraped"
rm "$work/text/"*
granary list --metrics >"$work/text/all.prom"
clean "one file of all"
at_least "$(series granaryfs_read_bytes_total)" 2 "each mount has its series there, too"
is "$(grep -c '^granaryfs_read_bytes_total{.*jobid="4711"' "$work/scraped")" 1 "once"
# twins: the same dataset and mount point, in two namespaces
mkdir "$work/twin"
for i in 1 2; do
	granary run "$work/t.tar:$work/twin" -- sleep 600 >"$work/said.$i" 2>&1 &
	started+=("$!")
done
twins() {
	granary list --metrics >"$work/new"
	[ "$(grep '^granaryfs_read_bytes_total' "$work/new" | grep -c -F "mount=\"$work/twin\"")" -eq 2 ]
}
wait_until 30 twins
ok $? "two private mounts at one path"
cp "$work/new" "$work/text/all.prom"
clean "with twins"
dashboard
finish
