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

    /// Connections of clients, each of which reads on a thread of its own until enough of them were kept on
    /// their clients' cores.
    private final class Crowd: Sendable {
        private let followed = Mutex<Set<Int>>([])
        private let cores = ClientCores(interval: .milliseconds(20))
        private let clients: [Client]
        private let end: ContinuousClock.Instant

        init(_ clients: [Client], for time: Duration) {
            self.clients = clients
            end = .now + time
        }

        /// Returns the cores that the thread has once it is let go.
        func read(_ number: Int, untilFollowed enough: Int) -> CoreSet? {
            let client = clients[number]
            var place = ClientCores.Place()
            while ContinuousClock.now < end, followed.withLock({ $0.count }) < enough {
                cores.follow(client.process, &place)
                if CoreSet.ofThread == client.core { followed.withLock { _ = $0.insert(number) } }
                Wait.pause(milliseconds: 1)
            }
            cores.release(&place)
            return CoreSet.ofThread
        }

        /// The numbers of those that were followed.
        func run(untilFollowed enough: Int) throws -> [Int] {
            let threads = clients.indices.map { number in
                Background { self.read(number, untilFollowed: enough) }
            }
            for thread in threads { #expect(try thread.value() == CoreSet.ofProcess) }
            return followed.withLock { $0.sorted() }
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
        let many = Crowd(crowd, for: .seconds(20))
        #expect(try many.run(untilFollowed: crowd.count) == Array(crowd.indices))
        let few = Crowd(Array(crowd.dropLast()), for: .milliseconds(200))
        #expect(try few.run(untilFollowed: 1) == [])
    }

    @Test(arguments: [
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})",
    ])
    func `a client of two threads, or of fewer cores, is not followed`(doing: String) throws {
        let other = try Client(doing: doing)
        let mixed = Crowd(crowd + [other], for: .seconds(2))
        // The others are, so there was a crowd.
        #expect(try mixed.run(untilFollowed: crowd.count + 1) == Array(crowd.indices))
    }

    @Test func `a thread that was given other cores keeps them`() throws {
        let core = try #require((0..<8192).first { all.contains($0) && CoreSet($0) != client.core })
        let mixed = Crowd(crowd + [client], for: .seconds(2))
        let last = crowd.count
        let given = Background {
            CoreSet(core).keepThread()
            return mixed.read(last, untilFollowed: last + 1)
        }
        let others = crowd.indices.map { number in
            Background { mixed.read(number, untilFollowed: last + 1) }
        }
        #expect(try given.value() == CoreSet(core))
        for each in others { #expect(try each.value() == all) }
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
