# SPDX-License-Identifier: Apache-2.0
# make demo   the story of one login, told with real parts
# make test   all tests; those that need root run when you are root
# make lint   formatting and warnings
# make bench  measurements, as ratios
# make install prefix=/usr
prefix ?= /usr/local
BUILD = swift build -c release --static-swift-stdlib
PYTHON = /usr/bin/python3

.PHONY: all build demo test test-swift test-module test-system lint bench install dependencies

all: build

dependencies:
	scripts/install-dependencies

build: dependencies
	$(BUILD) --product keychaind
	$(BUILD) --product keychain-auth
	$(BUILD) --product keychain-prompter
	$(BUILD) --product keychainctl
	$(MAKE) -C pam-module

demo: build
	scripts/demo

test: test-swift test-module test-system

test-swift: dependencies
	SWIFT_BACKTRACE=enable=no swift test

test-module: dependencies
	$(MAKE) -C pam-module test

test-system: build
	scripts/test-system

lint: dependencies
	scripts/lint

bench: build
	Benchmarks/run

install: build
	scripts/install $(DESTDIR)$(prefix)
