// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
package import MessageBus

/// `org.freedesktop.secrets` on one bus: of the one thread that has the connection, which waits for
/// nothing but the bus. The keychain is asked on other threads.
package final class Bridge {
    /// Why there is no service on this bus.
    package enum Failure: Error, Equatable {
        case outOfDescriptors
        /// Another process has the name; nil where the bus does not tell which.
        case nameTaken(process: Int32?)
        /// The bus went away.
        case closed
        /// The connection is of no more use, for the library's reason.
        case failed(Int32)
    }

    /// Connections of which it is known when they came; of later ones it counts when this began.
    private static let mostSeen = 65_536
    private static let quickThreads = 4
    /// RequestName's flag for a name that is not waited for where another has it.
    private static let doNotQueue: UInt32 = 4

    let bus: BusConnection
    let keychains: any PeerKeychains
    let inbox: Inbox
    let memory: MemoryCollection
    let exchange = ReadyExchange()
    let quick = WorkPool(threads: quickThreads)
    /// Reads `Items` for those that are told of them: however many, calls don't wait for that.
    let listing = WorkPool(threads: 1)
    let questions = Questions()
    /// For requests of the portal's: each may wait for the user, or for a pipe that is full.
    let portal = WorkPool(threads: Limits.portalRequests)

    var peers: [String: Peer] = [:]
    var calls: [UInt64: Call] = [:]
    /// Requests to the keychain that are on their way, by the calls' numbers; some of the calls have
    /// ended.
    var begun: [UInt64: BegunCall] = [:]
    /// Whether nothing was there to be read from the bus when it was looked at last.
    private var isDrained = false
    /// What is done for the portal, by the calls' numbers; some of the calls have ended.
    var retrieving: [UInt64: PortalRequest] = [:]
    /// When each call must have its answer, the earliest first; some have it. Numbers and no calls: a
    /// call holds its message, with a secret perhaps, and ends with its answer.
    private var deadlines: [(number: UInt64, due: ContinuousClock.Instant)] = []
    private var firstDeadline = 0
    private(set) var lastNumber: UInt64 = 0
    var heldSignals = HeldSignals()
    /// What was told last of collections' locks.
    var toldLocks: [Scope.Place: Bool] = [:]
    /// The number of the last change in what a collection has.
    var changed: [Scope.Place: UInt64] = [:]
    private var replies: [UInt64: (BusMessage) -> Void] = [:]
    private var timers: [(due: ContinuousClock.Instant, work: () -> Void)] = []
    /// When each connection came, as far as it was seen.
    private var seen: [String: UInt64] = [:]
    /// From then on the bus tells of each connection that comes.
    private var started = BootTime.now.nanoseconds

    package init(_ bus: BusConnection, _ keychains: any PeerKeychains) throws(Failure) {
        guard let wake = BusWake() else { throw .outOfDescriptors }
        self.bus = bus
        self.keychains = keychains
        inbox = Inbox(wake: wake)
        memory = MemoryCollection(isShared: keychains.tellsPeersApart)
        try takeName()
        prepareExchange()
    }

    // MARK: The name

    private func takeName() throws(Failure) {
        var taken: UInt32?
        let match =
            "type='signal',sender='\(BusConnection.itself)',member='NameOwnerChanged',"
            + "path='/org/freedesktop/DBus'"
        ask("AddMatch", [.text(match)]) { [unowned self] _ in started = BootTime.now.nanoseconds }
        // After that, so that no later owner is missed.
        ask("GetNameOwner", [.text(PortalRequest.owner)]) { [unowned self] reply in
            guard reply.kind == .reply else { return }
            bus.descriptorSender = try? reply.text(atMost: Limits.name)
        }
        // Neither replaced by another nor replacing one.
        ask("RequestName", [.text(Names.service), .uint32(Self.doNotQueue)]) { reply in
            taken = (try? reply.uint32()) ?? 0
        }
        while taken == nil { try turn() }
        guard taken == 1 else { throw .nameTaken(process: try NameOwner(bus).process()) }
    }

    /// Calls the bus itself; errors come as replies, too.
    func ask(
        _ member: String, _ arguments: [BusValue], _ hear: @escaping (BusMessage) -> Void
    ) {
        guard let call = bus.callToItself(member), arguments.allSatisfy(call.append),
            let cookie = bus.send(call)
        else { return }
        replies[cookie] = hear
    }

    // MARK: The loop

    /// Comes back when the bus has gone.
    package func run() throws(Failure) {
        watch()
        do throws(Failure) {
            while true { try turn() }
        } catch { guard error == .closed else { throw error } }
    }

    private func turn() throws(Failure) {
        for work in inbox.take() { work(self) }
        let due = sweep()
        // Replies that the bus does not take are its memory: nothing is read meanwhile.
        if bus.unwritten >= Limits.unwrittenReplies {
            let limit = ContinuousClock.now + .seconds(1)
            guard bus.waitUntilWritable(until: min(due ?? limit, limit), or: inbox.wake) else {
                return
            }
        }
        switch isDrained && bus.unwritten == 0 ? .idle : bus.next() {
        case .message(let message): hear(message)
        case .progress: return
        case .idle: wait(until: due)
        case .closed: throw .closed
        case .failed(let error): throw .failed(error)
        }
    }

    /// For the bus, the keychain's answers and other threads.
    private func wait(until due: ContinuousClock.Instant?) {
        let begun = begun
        let ready = bus.wait(until: due, or: inbox.wake, begun.values.map(\.descriptor))
        isDrained = !ready.bus
        for (number, request) in begun where ready.others.contains(request.descriptor) {
            go(on: request, of: number)
        }
    }

    /// Does what is due, and tells when something will be next.
    private func sweep() -> ContinuousClock.Instant? {
        let now = ContinuousClock.now
        while let first = timers.first, first.due <= now {
            timers.removeFirst()
            first.work()
        }
        while firstDeadline < deadlines.count {
            let (number, due) = deadlines[firstDeadline]
            let call = calls[number]
            guard call == nil || due <= now else { break }
            firstDeadline += 1
            if let call { overdue(call) }
        }
        if firstDeadline > 256, firstDeadline * 2 > deadlines.count {
            deadlines.removeFirst(firstDeadline)
            firstDeadline = 0
        }
        let call = firstDeadline < deadlines.count ? deadlines[firstDeadline].due : nil
        return [timers.first?.due, call].compactMap { $0 }.min()
    }

    func after(_ due: ContinuousClock.Instant, _ work: @escaping () -> Void) {
        let place = timers.firstIndex { $0.due > due } ?? timers.count
        timers.insert((due, work), at: place)
    }

    /// Of calls, peers and changes.
    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    func admit(
        _ message: BusMessage, from peer: Peer, to object: ObjectPath, _ request: ServiceRequest
    ) -> Call {
        let call = Call(nextNumber(), message, from: peer, to: object, request)
        calls[call.number] = call
        deadlines.append((call.number, call.deadline))
        peer.callsUnderWay += 1
        return call
    }

    /// False for a call that has ended already.
    func end(_ call: Call) -> Bool {
        guard calls.removeValue(forKey: call.number) != nil else { return false }
        call.peer.callsUnderWay -= 1
        return true
    }

    // MARK: What is heard

    private func hear(_ message: BusMessage) {
        switch message.kind {
        case .call: hear(call: message)
        case .signal:
            guard message.sender == BusConnection.itself, message.member == "NameOwnerChanged"
            else { return }
            nameChanged(message)
        case .reply, .error:
            guard message.sender == BusConnection.itself, let cookie = message.repliesTo else {
                return
            }
            replies.removeValue(forKey: cookie)?(message)
        case nil: return
        }
    }

    /// Only the portal's name matters, and connections' own, which begin with a colon and are given once.
    private func nameChanged(_ message: BusMessage) {
        guard let name = try? message.text(atMost: Limits.name),
            (try? message.text(atMost: Limits.name)) != nil,
            let new = try? message.text(atMost: Limits.name)
        else { return }
        if name == PortalRequest.owner { bus.descriptorSender = new.isEmpty ? nil : new }
        guard name.hasPrefix(":") else { return }
        if new.isEmpty {
            seen[name] = nil
            if let peer = peers[name] { forget(peer) }
        } else if seen.count < Self.mostSeen {
            seen[name] = BootTime.now.nanoseconds
        }
    }

    /// When a connection was there at the latest.
    func heardOf(_ name: String) -> UInt64 { seen[name] ?? started }

    func prepareExchange() {
        let exchange = exchange
        quick.submit { exchange.prepare() }
    }
}
