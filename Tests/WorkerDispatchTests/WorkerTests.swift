// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import KeychainLinuxSystem
import LoginManager
import Synchronization
import SystemTestSupport
import Testing
import WorkerHandoff

@testable import KeychainLocalSocket
@testable import WorkerDispatch

/// keychaind's side of a worker, with the test as the worker. The socket's peer must be root's.
@Suite(.enabled(if: geteuid() == 0)) final class WorkerTests {
    private let folder: ScratchFolder
    private let listener: Listener
    private let worker: Worker
    private let reports = Heard<WorkerReport>()
    private let ends = Heard<(wasTold: Bool, left: Int)>()
    private let processes = Heard<Descriptor?>()
    private let ended = DispatchSemaphore(value: 0)

    private final class Heard<Thing: Sendable>: Sendable {
        private let things = Mutex<[Thing]>([])
        var all: [Thing] { things.withLock { $0 } }
        func add(_ thing: Thing) { things.withLock { $0.append(thing) } }
    }

    init() throws {
        folder = try ScratchFolder()
        listener = try Listener(recordsAt: folder("worker.sock"), mode: 0o600)
        worker = Worker(7, [])
    }

    deinit { listener.shutDown() }

    private func start(_ supplies: [WorkerOrder] = [.started]) throws -> RecordConnection {
        begin(supplies)
        return try RecordConnection(accepted: try listener.accept())
    }

    private func begin(_ supplies: [WorkerOrder] = [.started], after pause: Duration = .zero) {
        worker.start(at: folder("worker.sock"), after: pause) {
            supplies.map { Handover($0) }
        } handle: { [reports] report, _ in
            reports.add(report)
        } ended: { [worker, ends, processes, ended] end in
            ends.add((end.wasTold, worker.leave().count))
            processes.add(end.process)
            ended.signal()
        }
    }

    private func connection() throws -> PassedConnection {
        let (one, _) = try SocketPair.ofStreams()
        let socket = PassedSocket(dup(one.number))
        return PassedConnection(
            socket: socket, orders: [Handover(.connection(.requests), passing: socket.descriptor)])
    }

    private func copy() throws -> PassedConnection {
        let (one, _) = try SocketPair.ofStreams()
        return PassedConnection(
            socket: nil, orders: [Handover(.machineConnection, passing: one)])
    }

    private func order(_ connection: RecordConnection) throws -> (WorkerOrder, Descriptor?) {
        let (bytes, passed) = try connection.receivePassed(
            limit: WorkerOrder.byteCount, within: .seconds(20))
        return (try WorkerOrder(bytes), passed)
    }

    private func say(_ report: WorkerReport, on connection: RecordConnection) throws {
        try connection.send(report.bytes, passing: [])
    }

    private func wait(until condition: () -> Bool) {
        for _ in 0..<2000 {
            if condition() { return }
            Wait.pause(milliseconds: 10)
        }
        Issue.record("in vain")
    }

    @Test func `connections that come while it starts are passed once it is ready`() throws {
        #expect(worker.pass(try connection()) == .passed)
        let process = try start([.deviceKey, .started])
        worker.tell([Handover(.event(id: 3, .sleeping))])
        #expect(try order(process).0 == .deviceKey)
        #expect(try order(process).0 == .started)
        // It may ask something before.
        try say(.audit(id: 1), on: process)
        try say(.ready, on: process)
        #expect(try order(process).0 == .event(id: 3, .sleeping))
        let (passed, descriptor) = try order(process)
        #expect(passed == .connection(.requests) && descriptor != nil)
        #expect(reports.all == [.audit(id: 1)])
    }

    @Test func `no more than sixteen connections are on their way to one that takes none`() throws {
        let process = try start()
        _ = try order(process)
        try say(.ready, on: process)
        wait { worker.isRunning }
        for _ in 0..<Worker.mostOnTheirWay { #expect(worker.pass(try connection()) == .passed) }
        #expect(worker.pass(try connection()) == .refused)
        try say(.took, on: process)
        wait { (try? worker.pass(connection())) == .passed }
        #expect(worker.pass(try connection()) == .refused)
    }

    @Test func `one that reads nothing yet is told of any number of locked screens`() throws {
        let process = try start()
        _ = try order(process)
        try say(.ready, on: process)
        wait { worker.isRunning }
        let names = Set((0..<4000).map { "c\($0)" })
        worker.tell(WorkerSupplies.presence(names, id: 0))
        let (told, memory) = try order(process)
        #expect(told == .lockedScreens)
        let sealed = try #require(memory)
        let bytes = try #require(SealedMemory.bytes(in: sealed, limit: 1 << 20))
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(Set(lines.map(String.init)) == names)
        #expect(try order(process).0 == .event(id: 0, .present(lockedScreens: [])))
    }

    @Test func `copies of other users' connections leave room for the own ones`() throws {
        let process = try start()
        _ = try order(process)
        try say(.ready, on: process)
        wait { worker.isRunning }
        while worker.pass(try copy()) == .passed {}
        for _ in 0..<Worker.mostOnTheirWay / 2 { #expect(worker.pass(try connection()) == .passed) }
        #expect(worker.pass(try connection()) == .refused)
        try say(.took, on: process)
        wait { (try? worker.pass(connection())) == .passed }
        #expect(worker.pass(try copy()) == .refused)
    }

    @Test func `a login has room beside sixteen connections, and can end the pause before a start`()
        throws
    {
        begin(after: .seconds(600))
        for _ in 0..<Worker.mostOnTheirWay { #expect(worker.pass(try connection()) == .passed) }
        #expect(worker.pass(try connection()) == .refused)
        var login = try connection()
        login.isLogin = true
        #expect(worker.pass(login) == .passed)
        worker.startNow()
        #expect(try order(RecordConnection(accepted: try listener.accept())).0 == .started)
    }

    @Test func `one that takes seconds to start is waited for`() throws {
        #expect(worker.pass(try connection()) == .passed)
        let process = try start()
        _ = try order(process)
        Wait.pause(milliseconds: 8000)
        try say(.ready, on: process)
        #expect(try order(process).0 == .connection(.requests))
        #expect(ends.all.isEmpty)
    }

    @Test func `one that has nothing to do ends, unless a connection is on its way`() throws {
        let process = try start()
        _ = try order(process)
        try say(.ready, on: process)
        wait { worker.isRunning }
        #expect(worker.pass(try connection()) == .passed)
        try say(.idle(taken: 0), on: process)
        #expect(try order(process).0 == .connection(.requests))
        try say(.took, on: process)
        try say(.idle(taken: 1), on: process)
        #expect(try order(process).0 == .end)
        // What comes now is the next one's.
        #expect(worker.pass(try connection()) == .passed)
        process.hangUp()
        ended.wait()
        #expect(ends.all.map(\.wasTold) == [true] && ends.all.map(\.left) == [1])
    }

    @Test func `one that is told to end gets the answers that its last requests wait for`() throws {
        let process = try start()
        _ = try order(process)
        try say(.ready, on: process)
        wait { worker.isRunning }
        try say(.biometry(id: 5), on: process)
        wait { reports.all == [.biometry(id: 5)] }
        worker.end()
        #expect(!worker.isRunning)
        worker.tell([Handover(.answer(id: 5, value: 1))])
        #expect(try order(process).0 == .end)
        guard case .answer(5, 1, _) = try order(process).0 else {
            Issue.record("it was told something else")
            return
        }
        process.hangUp()
        ended.wait()
        #expect(ends.all.map(\.wasTold) == [true])
    }

    @Test func `one that is told to end before it is ready leaves its connections to the next one`()
        throws
    {
        #expect(worker.pass(try connection()) == .passed)
        let process = try start()
        _ = try order(process)
        worker.end()
        try say(.ready, on: process)
        #expect(try order(process).0 == .end)
        process.hangUp()
        ended.wait()
        #expect(ends.all.map(\.wasTold) == [true] && ends.all.map(\.left) == [1])
    }

    @Test func `one may hold keys from when it is given them until it has ended`() throws {
        #expect(!worker.mayHoldKeys)
        let process = try start()
        _ = try order(process)
        #expect(worker.mayHoldKeys && !worker.isRunning)
        try say(.ready, on: process)
        wait { worker.isRunning }
        worker.end()
        #expect(worker.mayHoldKeys && !worker.isRunning)
        process.hangUp()
        ended.wait()
        #expect(!worker.mayHoldKeys)
    }

    @Test func `one that goes by itself has failed, and what waits for it is not lost`() throws {
        #expect(worker.pass(try connection()) == .passed)
        let process = try start()
        process.hangUp()
        ended.wait()
        #expect(ends.all.map(\.wasTold) == [false] && ends.all.map(\.left) == [1])
        // The next one has taken what waited.
        #expect(worker.pass(try connection()) == .gone)
    }

    @Test func `a connection that comes as one ends is the next one's`() throws {
        let process = try start()
        _ = try order(process)
        try say(.ready, on: process)
        wait { worker.isRunning }
        process.hangUp()
        // Its thread may not have seen it yet.
        let passing = worker.pass(try connection())
        ended.wait()
        #expect(passing == .gone || (passing == .passed && ends.all.map(\.left) == [1]))
    }

    @Test func `a descriptor that is no process is none`() throws {
        let process = try start()
        _ = try order(process)
        let (one, _) = try SocketPair.ofStreams()
        try process.send(WorkerReport.ready.bytes, passing: [one])
        process.hangUp()
        ended.wait()
        #expect(processes.all.count == 1 && processes.all.allSatisfy { $0 == nil })
    }

    @Test func `one whose channel ends leaves its process, as it told it when it was ready`() throws
    {
        let child = try ChildProcess(
            executable: "/bin/sleep", arguments: ["600"], environment: [], passing: [],
            newSession: true)
        let process = try start()
        _ = try order(process)
        let pidfd = try #require(ProcessDescriptor.open(child.id))
        try process.send(WorkerReport.ready.bytes, passing: [pidfd])
        process.hangUp()
        ended.wait()
        let left = try #require(processes.all.first ?? nil)
        #expect(!ProcessDescriptor.ends(left, within: .milliseconds(50)))
        ProcessDescriptor.kill(left)
        #expect(ProcessDescriptor.ends(left, within: .seconds(20)))
    }

    @Test func `one that sends other bytes is given up`() throws {
        let process = try start()
        try process.send([1, 2, 3], passing: [])
        ended.wait()
        #expect(ends.all.map(\.wasTold) == [false])
    }
}
