#!/bin/sh
# Tells HAProxy whether a server is the primary: succeeds where PostgreSQL answers and takes writes.
# HAProxy calls it with PROXY_ADDRESS PROXY_PORT SERVER_ADDRESS SERVER_PORT, and with no variables but PATH and its own.
# The file primary-check.conninfo beside it says as whom, for example: user=health dbname=postgres passfile=/etc/haproxy/pgpass
conninfo=$(cat "$(dirname "$0")/primary-check.conninfo") || exit 1
answer=$(psql --no-psqlrc --quiet --tuples-only --no-align \
  --command="SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'" \
  "host=$3 port=$4 connect_timeout=2 $conninfo" 2>/dev/null)
[ "$answer" = t ]
