// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization
internal import WorkerDispatch

/// The end of the service, which waits for questions that are shown now: they are answered before
/// anything ends, and all users are served meanwhile.
final class ServiceEnd: Sendable {
    private let dispatcher: Dispatcher
    private let workers: Workers
    private let isStopping = Atomic(false)

    init(_ dispatcher: Dispatcher, _ workers: Workers) {
        self.dispatcher = dispatcher
        self.workers = workers
    }

    /// Returns at once. A second call waits for no question.
    func begin() {
        if isStopping.exchange(true, ordering: .relaxed) { return dispatcher.shutDown() }
        DispatchQueue.global().async { [self] in
            workers.settle()
            dispatcher.shutDown()
        }
    }
}
