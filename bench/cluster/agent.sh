#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands in for ssh in the launcher of an MPI: agent.sh [OPTIONS] HOST COMMAND... runs the command
# in the node that has that address, on its CPUs.
while [ "${1#-}" != "$1" ]; do
    shift
done
host=$1
shift
read -r pid cpus <"$CORYMB_CLUSTER_STATE/$host" || exit 1
exec taskset -c "$cpus" nsenter -t "$pid" -m -u -i -n -p -- \
    env LD_PRELOAD="$CORYMB_CLUSTER_PRELOAD${LD_PRELOAD:+:$LD_PRELOAD}" sh -c "$*"
