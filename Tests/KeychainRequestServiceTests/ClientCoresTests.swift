// SPDX-License-Identifier: Apache-2.0
import KeychainLinuxSystem
import Synchronization
import SystemTestSupport
import Testing

@testable import KeychainDaemon

@Suite(.enabled(if: CoreSet.ofProcess?.count ?? 0 > 1, "this machine has one core"))
struct ClientCoresTests {
    /// A program that sleeps, and so stays where it is.
    private final class Client: Sendable {
        let process: PinnedProcess
        let core: CoreSet
        private let child: Python

        /// `doing`: in Python, before it sleeps.
        init(doing: String = "pass") throws {
            let (reads, writes) = try Pipe.make()
            child = try Python(
                """
                import os, threading, time
                \(doing)
                os.write(9, b"1")
                time.sleep(60)
                """, passing: [(source: writes.number, target: 9)])
            #expect(Pipe.read(reads, 1).count == 1)
            process = try #require(PinnedProcess(pid: child.id, pidfd: nil))
            Wait.pause(milliseconds: 20)
            core = CoreSet(try #require(process.status()?.core))
        }
    }

    /// Connections of clients, each of which reads on a thread of its own until so many threads were kept on
    /// their clients' cores, and a while longer.
    private final class Crowd: Sendable {
        private struct State {
            var followed: Set<Int> = []
            var end: ContinuousClock.Instant
        }

        private let cores = ClientCores()
        private let clients: [Client]
        private let enough: Int
        private let longer: Duration
        private let state: Mutex<State>

        init(_ clients: [Client], until enough: Int, and longer: Duration, atMost time: Duration) {
            self.clients = clients
            self.enough = enough
            self.longer = longer
            state = Mutex(State(end: .now + time))
        }

        /// The numbers of the threads that were kept.
        var followed: [Int] { state.withLock { $0.followed.sorted() } }

        private func isOver(_ number: Int, isKept: Bool) -> Bool {
            state.withLock { state in
                if isKept, state.followed.insert(number).inserted, state.followed.count == enough {
                    state.end = .now + longer
                }
                return ContinuousClock.now >= state.end
            }
        }

        /// Returns the cores that the thread has once it is let go.
        func read(_ number: Int) -> CoreSet? {
            let client = clients[number]
            var place = ClientCores.Place()
            while !isOver(number, isKept: CoreSet.ofThread == client.core) {
                cores.follow(client.process, &place)
                Wait.pause(milliseconds: 1)
            }
            cores.release(&place)
            return CoreSet.ofThread
        }

        func run() throws {
            let threads = clients.indices.map { number in Background { self.read(number) } }
            for thread in threads { #expect(try thread.value() == CoreSet.ofProcess) }
        }
    }

    private let all: CoreSet
    private let client: Client
    /// One more than there are cores.
    private let crowd: [Client]

    init() throws {
        all = try #require(CoreSet.ofProcess)
        client = try Client()
        crowd = [Client](repeating: client, count: all.count + 1)
    }

    @Test func `threads follow their clients while more are busy than there are cores`() throws {
        let many = Crowd(crowd, until: crowd.count, and: .zero, atMost: .seconds(20))
        try many.run()
        #expect(many.followed == Array(crowd.indices))
        let few = Crowd(
            Array(crowd.dropLast()), until: 1, and: .zero, atMost: .milliseconds(400))
        try few.run()
        #expect(few.followed == [])
    }

    @Test(arguments: [
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})",
    ])
    func `a client of two threads, or of fewer cores, is not followed`(doing: String) throws {
        let mixed = Crowd(
            crowd + [try Client(doing: doing)], until: crowd.count, and: .milliseconds(400),
            atMost: .seconds(20))
        try mixed.run()
        // The others were, so there was a crowd.
        #expect(mixed.followed == Array(crowd.indices))
    }

    @Test func `a thread that was given other cores keeps them`() throws {
        let core = try #require((0..<8192).first { all.contains($0) && CoreSet($0) != client.core })
        let mixed = Crowd(
            crowd + [client], until: crowd.count, and: .milliseconds(400), atMost: .seconds(20))
        let last = crowd.count
        let given = Background {
            CoreSet(core).keepThread()
            return mixed.read(last)
        }
        let others = crowd.indices.map { number in Background { mixed.read(number) } }
        #expect(try given.value() == CoreSet(core))
        for each in others { #expect(try each.value() == all) }
        #expect(mixed.followed == Array(crowd.indices))
    }

    @Test func `a thread that is started with all cores inherits none of its maker`() throws {
        let (all, core) = (all, CoreSet(try #require((0..<8192).first(where: all.contains))))
        let seen = try Background {
            core.keepThread()
            let free = CoreSet.withAll { Background { CoreSet.ofThread } }
            let bound = Background { CoreSet.ofThread }
            return try [free.value(), bound.value(), CoreSet.ofThread]
        }.value()
        #expect(seen == [all, core, core])
    }
}
