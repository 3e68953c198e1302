# SPDX-License-Identifier: Apache-2.0
# The few commands of every day. Each is a script in tools/, which can be run alone.
.DEFAULT_GOAL := help
.PHONY: demo check test long build docs bench-peers cluster-demo cluster-regret simgrid-check mpi-conformance mpi-suite \
	mpi-applications mpi-imb mpi-osu mpi-loops mpi-overlap mpi-calls ablation papers results release format clean help

PRESET ?= dev
STAGES ?=
STUDIES ?=

demo: ## Install what is missing, build, run `corymb demo` on this machine
	@tools/demo.sh

check: ## What a change needs at once: house rules and the short tests, under 5 minutes
	@tools/test.sh --check

test: ## Install what is missing, run every test; STAGES="format tidy unit" runs some
	@tools/test.sh $(STAGES)

long: ## What takes longer: storms, other suites, Debian 13, aarch64; STAGES="storms" runs some
	@tools/test.sh --long $(STAGES)

build: ## Build one preset of CMakePresets.json; PRESET=release, default dev
	@tools/build.sh $(PRESET)

docs: ## Build the site of the documentation in build/docs, with the references
	@tools/docs.sh

bench-peers: ## Install the MPI libraries and iceoryx2 that benchmarks compare with, in build/peers
	@python3 tools/make_peers.py

cluster-demo: ## Multi-leader allgather under MPI on 8 nodes made of namespaces, as root
	@tools/cluster_demo.sh demo

cluster-regret: ## Chosen over best measured scheme at 40 points of such clusters, 25 minutes
	@tools/cluster_demo.sh regret --json build/cluster-regret.json

simgrid-check: ## Times of simulated nodes beside those of SimGrid (libsimgrid-dev)
	@tools/simgrid_check.sh

mpi-conformance: ## mpi4py's own tests with corymb and without, on three MPI libraries
	@tools/mpi_pairs.sh conformance

mpi-suite: ## MPICH's test suite with corymb and without, on three MPI libraries, an hour
	@tools/mpi_pairs.sh suite

mpi-applications: ## A solver, a transposition, k-means with corymb and without
	@tools/mpi_pairs.sh applications

mpi-imb: ## Intel's MPI benchmarks with corymb and without, on Intel MPI and MPICH
	@tools/mpi_pairs.sh imb

mpi-osu: ## OSU's benchmarks as mpi4py has them with corymb and without, on three MPI libraries
	@tools/mpi_pairs.sh osu

mpi-loops: ## Loops as in OSU's benchmarks, three MPI libraries and mpi4py, with corymb and without
	@tools/mpi_pairs.sh loops

mpi-calls: ## Calls between two ranks beside calls made of messages of three MPI libraries
	@tools/mpi_pairs.sh calls

mpi-overlap: ## How much of a collective over nodes computing hides, with corymb and without, as root
	@tools/mpi_pairs.sh overlap

ablation: ## What each number of src/*/tuning.hpp is worth, simulated and here, in docs/results; 10 minutes
	@tools/ablation.sh

papers: ## The papers' figures repeated, in docs/results/seeds; STUDIES="smelt" does some; 10 minutes
	@tools/papers.sh $(STUDIES)

results: ## Pages and plots of docs/results from their records; a second
	@python3 tools/results

release: ## Check the release at the changelog's top, make sdist and wheel; RELEASE=1 tags it
	@tools/release.sh

format: ## Rewrite the sources as .clang-format and ruff say
	@tools/format.sh

clean: ## Remove build/, with the Python environment in it
	rm -rf build

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' Makefile | expand -t 22
