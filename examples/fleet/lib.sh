# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What the scripts of this folder share. To be sourced.

# The shards, HOST:PORT each, of ClickHouse's native protocol.
FLEET_SHARDS=${FLEET_SHARDS:-127.0.0.1:19001 127.0.0.1:19002}
FLEET=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fleet_die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# fleet_has_clickhouse: or die with how to get it
fleet_has_clickhouse()
{
	local tool

	for tool in clickhouse-client "$@"; do
		command -v "$tool" >/dev/null ||
			fleet_die "$tool is missing (Debian 12: apt-get install clickhouse-server" \
				"clickhouse-client; else clickhouse.com)"
	done
}

# fleet_client SHARD ARGUMENT...: ask one shard
fleet_client()
{
	local shard=$1
	shift

	clickhouse-client --host "${shard%:*}" --port "${shard##*:}" "$@"
}

# fleet_first: the shard that is asked for all of them
fleet_first()
{
	echo "${FLEET_SHARDS%% *}"
}
