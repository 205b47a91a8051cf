# SPDX-License-Identifier: Apache-2.0
# make demo   the story of one login, told with real parts
# make test   all tests; those that need root run when you are root
# make crash  keychainctl killed, cut off or its disk failing, at CRASH_POINTS=10000 points of CRASH_SEED=1
# make lint   formatting, warnings, what keeps targets and folders apart, and the pages with all that names them
# make fuzz   the fuzzers of the C programs and of all that reads messages, frames, keychains and
#             policies and imports, FUZZ_SECONDS=30 or FUZZ_RUNS=10000000 each
# make bench  measurements, as ratios, in one table; BENCH_SIZE=100000 items of the large keychain
# make profile  counts what runs often in reads, by which all is compiled: Benchmarks/profile.proftext
# make test-counters  what a read makes the daemon do, counted, against Benchmarks/counters.json
# make test-programs  Chromium and Seahorse on the Secret Service; KEYCHAIN_TEST_PICTURES=folder for pictures
# make test-machine  the packages on a Debian that boots in QEMU; MACHINE_CUTS=50 power cuts
# make test-machine-short  the part of it that continuous integration does
# make machine-image  what it boots from, made once of a mirror's packages
# make compare  DECISIONS=1000000 random decisions of the policy engine, held against the definition
# make docs   the documentation of the libraries
# make examples   the example package, built as another package would be, and a package with many others
# make install prefix=/usr
# make packages   Debian packages of it, in .build/packages
prefix ?= /usr/local
CRASH_POINTS ?= 10000
CRASH_SEED ?= 1
BENCH_SIZE ?= 100000
DECISIONS ?= 1000000
DECISION_SEED ?= 1
# What debuggers are told of the Swift tests: none is built faster.
DEBUGGING ?= dwarf

# What is installed. scripts/build links each program by itself, as a test's programs stay;
# scripts/link links them once more, with one library, into .build/programs.
PROGRAMS = keychaind keychain-worker keychain-auth keychain-broker keychain-tpm keychain-fido \
	keychain-import keychain-prompter keychainctl keychainctl-policy keychainctl-import keychain-embedded security \
	security-certificates keychain-credential keychain-secrets keychain-secrets-embedded

# Swift's runtime is linked into the programs, and with it the C++ library that it needs: to load that
# one and look up its symbols takes a third of a small program's start. The linker looks in the
# build's folder before it looks in the compiler's.
CXX_LIBRARY = $(shell $(CC) -print-file-name=libstdc++.a)

.PHONY: all build build-tests c-programs demo test test-swift test-module test-commands test-crash test-system test-tools \
	test-packages machine-image test-machine test-machine-short test-counters test-programs crash \
	lint fuzz bench profile compare \
	install packages docs examples dependencies test-dependencies cxx-library

all: build

dependencies:
	@scripts/install-dependencies build

test-dependencies:
	@scripts/install-dependencies

cxx-library: dependencies
	@mkdir -p "$$(swift build -c release --show-bin-path)"
	@[ ! -e "$(CXX_LIBRARY)" ] || \
		ln -sf "$(CXX_LIBRARY)" "$$(swift build -c release --show-bin-path)/libstdc++.a"

build: cxx-library c-programs
	scripts/build
	scripts/link .build/programs $(PROGRAMS)

# Before all that has them: two that are made at the same time would write the same files.
c-programs: dependencies
	$(MAKE) -C pam-module
	$(MAKE) -C starter
	$(MAKE) -C audit-keeper

demo: test-dependencies build
	@scripts/demo

test: test-swift test-module test-commands test-crash test-system test-packages \
	test-counters

build-tests: test-dependencies
	swift build --build-tests --explicit-target-dependency-import-check error -debug-info-format $(DEBUGGING)

test-swift: build-tests
	SWIFT_BACKTRACE=enable=no swift test --skip-build --ignore-lock
	scripts/guests imports names

test-module: test-dependencies c-programs
	$(MAKE) -C pam-module test
	$(MAKE) -C starter test
	$(MAKE) -C audit-keeper test

test-commands: test-dependencies build
	Tests/CommandLine/run .build/programs

# A fixed sample of what `make crash` does.
test-crash: test-dependencies build
	Tests/Crash/run .build/programs 40 1

crash: test-dependencies build
	Tests/Crash/run .build/programs $(CRASH_POINTS) $(CRASH_SEED)

test-system: test-dependencies test-tools build
	scripts/test-system

# What the product is tried with and held against.
test-tools: test-dependencies
	@for what in aws docker git-test keyring secrets rust libraries packages rpm machine; do \
		scripts/install-dependencies $$what \
		|| echo "$$what can't be had here: the tests that need it are skipped"; done

test-packages: build
	@scripts/install-dependencies packages
	@scripts/install-dependencies rpm || echo "RPM's tools can't be had here: their tests are skipped"
	scripts/test-packages

machine-image: dependencies
	@scripts/install-dependencies machine || echo "qemu can't be had here"
	@scripts/test-machine image

test-machine: build machine-image
	scripts/test-machine

test-machine-short: build machine-image
	MACHINE_CUTS=1 MACHINE_MINUTES=40 scripts/test-machine -m short --reruns 1

test-programs: build
	@scripts/install-dependencies programs \
		|| echo "they can't be had here: the tests that need one are skipped"
	KEYCHAIN_TEST_PROGRAMS=1 scripts/in-private-world /usr/bin/python3 -B -m pytest -q -p no:cacheprovider \
		Tests/System/test_programs.py

lint: test-dependencies
	scripts/lint
	Tests/Lint/traps
	Tests/Lint/fences
	Tests/Lint/pages
	$(MAKE) -C pam-module lint analyze
	$(MAKE) -C starter lint analyze
	$(MAKE) -C audit-keeper lint analyze

fuzz: test-dependencies
	$(MAKE) -C pam-module fuzz
	$(MAKE) -C starter fuzz
	$(MAKE) -C audit-keeper fuzz
	Tests/Fuzz/run

docs: test-dependencies
	scripts/docs

examples: test-dependencies
	scripts/examples
	scripts/guests names program

bench: build
	@scripts/install-dependencies bench
	Benchmarks/run $(BENCH_SIZE)

profile: build
	@scripts/install-dependencies profile
	Benchmarks/profile

# Counts, not times: no load disturbs them.
test-counters: test-dependencies build
	Benchmarks/counters

# `make test` does a fixed sample of it.
compare: dependencies
	scripts/build --package-path Benchmarks --product policy-bench
	Benchmarks/.build/release/policy-bench compare $(DECISIONS) $(DECISION_SEED)

# Run as root, after the owner of the toolchain ran `make build`.
install:
	DESTDIR=$(DESTDIR) STAGED=$(STAGED) scripts/install $(prefix)

packages: build
	@scripts/install-dependencies packages
	scripts/packages
