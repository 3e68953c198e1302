#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands in for ssh in the launcher of an MPI: agent.sh [OPTIONS] HOST COMMAND... runs the command
# in the node that has that address.
while [ "${1#-}" != "$1" ]; do
    shift
done
host=$1
shift
read -r pid <"$CORYMB_CLUSTER_STATE/$host" || exit 1
exec nsenter -t "$pid" -m -u -i -n -p -- sh -c "$*"
