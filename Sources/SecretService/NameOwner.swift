// SPDX-License-Identifier: Apache-2.0
internal import MessageBus

/// Asks a bus which process offers the service there.
struct NameOwner {
    private static let patience: Duration = .seconds(5)

    private let bus: BusConnection

    init(_ bus: BusConnection) { self.bus = bus }

    /// nil where no process does.
    func process() throws(Bridge.Failure) -> Int32? {
        guard let call = bus.callToItself("GetConnectionUnixProcessID"),
            call.append(.text(Names.service)), let cookie = bus.send(call)
        else { throw .closed }
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline {
            switch bus.next() {
            case .message(let message):
                guard message.repliesTo == cookie, message.sender == BusConnection.itself else {
                    continue
                }
                return (try? message.uint32()).map { Int32(clamping: $0) }
            case .progress: continue
            case .idle: bus.wait(until: deadline, or: nil)
            case .closed: throw .closed
            case .failed(let error): throw .failed(error)
            }
        }
        throw .closed
    }
}
