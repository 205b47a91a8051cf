// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
package import KeychainLinuxSystem
package import KeychainLocalSocket
internal import Synchronization

/// A worker's end of its connection to keychaind.
package final class WorkerChannel: Sendable {
    /// keychaind reads at once. Where it does not for so long, it has stopped.
    private static let patience: Duration = .seconds(20)

    package struct Answer: Sendable {
        package let value: UInt32
        package let text: String
        package let passed: Descriptor?
    }

    private final class Question: Sendable {
        let answered = DispatchSemaphore(value: 0)
        let answer = Mutex<Answer?>(nil)
    }
    private struct State {
        var last: UInt32 = 0
        var open: [UInt32: Question] = [:]
        var isOver = false
    }

    private let connection: RecordConnection
    private let state = Mutex(State())

    package init(_ connection: RecordConnection) { self.connection = connection }

    /// The next order, with the descriptor that came with it.
    package func receive() throws(SocketError) -> (order: WorkerOrder, passed: Descriptor?) {
        let (bytes, passed) = try connection.receiveNumber(limit: WorkerOrder.byteCount)
        guard let order = try? WorkerOrder(bytes) else {
            _ = passed.map(PassedSocket.owned)
            throw .malformed
        }
        let owned = passed.map { number in
            switch order {
            case .connection: PassedSocket.owned(number)
            // The program's own worker has it, too.
            case .machineConnection: PassedSocket.copy(number)
            default: Descriptor(owning: number)
            }
        }
        return (order, owned)
    }

    package func tell(_ report: WorkerReport, passing passed: Descriptor? = nil) {
        // Where keychaind is gone, the thread that receives hears of it.
        try? connection.send(report.bytes, passing: passed, within: Self.patience)
    }

    /// Waits for the answer, which another thread receives; nil where keychaind has ended.
    package func ask(
        passing passed: Descriptor? = nil, _ report: (_ id: UInt32) -> WorkerReport
    ) -> Answer? {
        let question = Question()
        let id = state.withLock { state -> UInt32? in
            if state.isOver { return nil }
            state.last = state.last &+ 1
            state.open[state.last] = question
            return state.last
        }
        guard let id else { return nil }
        tell(report(id), passing: passed)
        question.answered.wait()
        return question.answer.withLock { $0 }
    }

    /// Asks for a connection, which comes with the answer.
    package func connection(
        _ report: (_ id: UInt32) -> WorkerReport
    ) throws(SocketError) -> RecordConnection {
        guard let socket = ask(report)?.passed else { throw .closed }
        return RecordConnection(socket)
    }

    /// Receives until keychaind ends. `handle` gets all but answers, and must return at once.
    package func run(_ handle: (WorkerOrder, Descriptor?) -> Void) {
        while let (order, passed) = try? receive() {
            if case .answer(let id, let value, let text) = order {
                answer(id, Answer(value: value, text: text, passed: passed))
            } else {
                handle(order, passed)
            }
        }
        let left = state.withLock { state in
            state.isOver = true
            defer { state.open = [:] }
            return Array(state.open.values)
        }
        for question in left { question.answered.signal() }
    }

    private func answer(_ id: UInt32, _ answer: Answer) {
        guard let question = state.withLock({ $0.open.removeValue(forKey: id) }) else { return }
        question.answer.withLock { $0 = answer }
        question.answered.signal()
    }
}
