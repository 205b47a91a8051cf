// SPDX-License-Identifier: Apache-2.0
import KeychainLinuxSystem
import Synchronization
import SystemTestSupport
import Testing

@testable import KeychainDaemon

@Suite(.enabled(if: CoreSet.ofProcess?.count ?? 0 > 1, "this machine has one core"))
struct ClientCoresTests {
    /// A program of so many threads, on a core of its own choice.
    private final class Client {
        let process: PinnedProcess
        let core: Int
        private let child: Python

        init(threads: Int = 1) throws {
            let (reads, writes) = try Pipe.make()
            child = try Python(
                """
                import os, threading, time
                os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
                for _ in range(\(threads - 1)):
                    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
                os.write(9, b"1")
                time.sleep(600)
                """, passing: [(source: writes.number, target: 9)])
            #expect(Pipe.read(reads, 1).count == 1)
            process = try #require(PinnedProcess(pid: child.id, pidfd: nil))
            core = try #require(process.status()?.core)
        }

        deinit { child.end() }
    }

    /// The threads of connections that are busy until all of them were kept on the client's core, or the
    /// time is over.
    private final class Crowd: Sendable {
        private let followed = Mutex<Set<Int>>([])
        let count: Int
        private let client: (process: PinnedProcess, core: CoreSet)
        private let cores = ClientCores(interval: .milliseconds(5))

        init(_ count: Int, of client: Client) {
            self.count = count
            self.client = (client.process, CoreSet(client.core))
        }

        func serve(_ number: Int, until end: ContinuousClock.Instant) -> CoreSet? {
            var place = ClientCores.Place()
            while ContinuousClock.now < end, followed.withLock({ $0.count }) < count {
                cores.follow(client.process, &place)
                if CoreSet.ofThread == client.core { followed.withLock { _ = $0.insert(number) } }
                Wait.pause(milliseconds: 1)
            }
            cores.release(&place)
            return CoreSet.ofThread
        }

        /// How many were kept on the client's core.
        func run(_ time: Duration) throws -> Int {
            let end = ContinuousClock.now + time
            let threads = (0..<count).map { number in Background { self.serve(number, until: end) }
            }
            // Once they are let go they have all cores again.
            for thread in threads { #expect(try thread.value() == CoreSet.ofProcess) }
            return followed.withLock { $0.count }
        }
    }

    private let all: CoreSet

    init() throws { all = try #require(CoreSet.ofProcess) }

    @Test func `threads follow their client while more are busy than there are cores`() throws {
        let client = try Client()
        defer { withExtendedLifetime(client) {} }
        #expect(try Crowd(all.count + 1, of: client).run(.seconds(20)) == all.count + 1)
        #expect(try Crowd(all.count, of: client).run(.milliseconds(100)) == 0)
    }

    @Test func `a client of several threads is not followed`() throws {
        let client = try Client(threads: 2)
        defer { withExtendedLifetime(client) {} }
        #expect(try Crowd(all.count + 1, of: client).run(.milliseconds(200)) == 0)
    }

    @Test func `a thread that was given other cores keeps them`() throws {
        let client = try Client()
        defer { withExtendedLifetime(client) {} }
        let core = try #require((0..<8192).first { all.contains($0) && $0 != client.core })
        let crowd = Crowd(all.count + 2, of: client)
        let end = ContinuousClock.now + .milliseconds(300)
        let others = (0..<all.count + 1).map { number in
            Background { crowd.serve(number, until: end) }
        }
        let kept = try Background {
            CoreSet(core).keepThread()
            return crowd.serve(all.count + 1, until: end)
        }.value()
        #expect(kept == CoreSet(core))
        for each in others { #expect(try each.value() == all) }
    }

    @Test func `a thread that another one has started gets all cores of the process`() throws {
        let (all, core) = (all, try #require((0..<8192).first(where: all.contains)))
        let started = try Background {
            CoreSet(core).keepThread()
            return try Background {
                let inherited = CoreSet.ofThread
                CoreSet.useAll()
                return [inherited, CoreSet.ofThread]
            }.value()
        }.value()
        #expect(started == [CoreSet(core), all])
    }
}
