// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import MessageBus

/// A program on the bus that has called: of the thread that has the connection.
final class Peer {
    enum State {
        /// Its calls wait until the keychain knows who it is.
        case unknown
        case known(IntroducedPeer)
        /// What it has here stays; its next call has it introduced again.
        case dormant
    }

    let name: String
    /// Of one that was forgotten and came again, another one.
    let serial: UInt64
    var state = State.unknown {
        didSet { if case .known(let peer) = state { latest = peer } }
    }
    /// The number of its introduction: what comes of an earlier one is let go.
    var introduction: UInt64 = 0
    /// As it was introduced last.
    private var latest: IntroducedPeer?
    /// Calls that wait for the one before them.
    var waiting: [Call] = []
    /// The call that is being done: they are done in their order, but for those that wait for the user.
    var current: UInt64?
    /// All of its calls that are not answered.
    var callsUnderWay = 0
    var sessions: [String: TransferSession] = [:]
    var prompts: [String: Prompt] = [:]
    /// The collections whose properties, or an item's of which, it has read: it is told of changes in them.
    var watched: Set<Scope.Place> = []
    /// What it knows as `Items` of collections, where it has asked for that.
    var shown: [Scope.Place: ShownItems] = [:]
    /// What it was shown in the place of items, the latest last.
    private(set) var standIns: [ItemName: StandIn] = [:]
    private var standInOrder: [ItemName] = []
    /// Items that it was shown, with a number that rises; older ones are let go now and then.
    private var listings: [ListedItem: UInt64] = [:]
    private var lastListing: UInt64 = 0
    /// Signals that wait for the end of its prompt.
    var held: [BusMessage] = []
    /// False once the keychain has said that it is not the desktop's portal.
    var mayBePortal = true
    var lastCall = ContinuousClock.now
    var locks: [ContinuousClock.Instant] = []
    /// In whose name the keychain keeps what was proven for this program.
    let context: AuthenticationContext

    init(_ name: String, serial: UInt64, mayAsk: Bool) {
        self.name = name
        self.serial = serial
        var context = AuthenticationContext()
        context.mayInteract = mayAsk
        self.context = context
    }

    var group: String? { latest?.group }

    /// False for one of which it was never known.
    func isOf(_ group: String?) -> Bool { latest.map { $0.group == group } ?? false }

    /// Whether items of the group are its own; nil is the group of programs that can't be told.
    func owns(_ group: String?) -> Bool {
        guard let latest else { return false }
        return group.map { latest.groups.contains($0) } ?? latest.groups.isEmpty
    }

    /// Whether both are of one group, or neither was ever known.
    func isLike(_ other: Peer) -> Bool {
        (latest == nil) == (other.latest == nil) && group == other.group
    }

    var isDormant: Bool {
        if case .dormant = state { true } else { false }
    }

    /// From the call of a prompt until the signal of its end has been sent.
    var isPrompting: Bool { prompts.values.contains { $0.state != .offered } }

    /// Those that were offered and not called for in time.
    func dropUnusedPrompts(now: ContinuousClock.Instant = .now) {
        let oldest = now - Limits.unusedPrompt
        prompts = prompts.filter { $0.value.state != .offered || $0.value.made > oldest }
    }

    /// The oldest makes room.
    func show(_ item: ItemName, _ standIn: StandIn) {
        guard standIns.updateValue(standIn, forKey: item) == nil else { return }
        standInOrder.append(item)
        if standInOrder.count > StandIn.most { standIns[standInOrder.removeFirst()] = nil }
    }

    func list(_ items: [ItemName], in place: Scope.Place) {
        for item in items.suffix(Limits.listedItems) {
            lastListing += 1
            listings[ListedItem(item: item, place: place)] = lastListing
        }
        guard listings.count > 2 * Limits.listedItems else { return }
        let latest = latestListings
        listings = Dictionary(uniqueKeysWithValues: latest.map { ($0.key, $0.value) })
    }

    /// Items that it was shown, the latest last.
    var listed: [ListedItem] { latestListings.map(\.key) }

    private var latestListings: ArraySlice<(key: ListedItem, value: UInt64)> {
        listings.sorted { $0.value < $1.value }.suffix(Limits.listedItems)
    }

    /// It was sent `Items` as they were at `moment` or later. After a later list an older one is
    /// remembered as none, so that the next is told whatever it has.
    func show(_ items: [ItemName], in place: Scope.Place, asOf moment: UInt64) {
        var known = shown[place] ?? ShownItems()
        known.items = moment < known.moment ? nil : ShownItems.hash(items)
        known.moment = moment
        shown[place] = known
    }

    /// Whether it locks no more often than programs may.
    func mayLock(now: ContinuousClock.Instant) -> Bool {
        locks.removeAll { $0.duration(to: now) > .seconds(60) }
        guard locks.count < Limits.locksPerMinute else { return false }
        locks.append(now)
        return true
    }
}

/// The property `Items` as a program was sent it last.
struct ShownItems {
    /// A hash of the list, in whichever order; nil for one that is too long to be told.
    var items: Int?
    /// The number that the bridge had given last when the reading of the list began.
    var moment: UInt64 = 0
    /// One reading at a time, and none before this.
    var next = ContinuousClock.now
    var isBeingRead = false

    static func hash(_ items: [ItemName]) -> Int? {
        items.count <= Limits.toldItems ? Set(items).hashValue : nil
    }
}

struct ListedItem: Hashable {
    let item: ItemName
    let place: Scope.Place
}

/// A call that is not answered yet.
final class Call {
    let number: UInt64
    let message: BusMessage
    let peer: Peer
    let object: ObjectPath
    let request: ServiceRequest
    let deadline: ContinuousClock.Instant
    /// The last number that was given before its work began: its answer has all that changed before.
    var moment: UInt64 = 0
    /// Whether it waits for the user.
    var isAsking = false
    /// Ends what waits for the user, once the program has gone.
    let cancellation = Cancellation()

    init(
        _ number: UInt64, _ message: BusMessage, from peer: Peer, to object: ObjectPath,
        _ request: ServiceRequest
    ) {
        self.number = number
        self.message = message
        self.peer = peer
        self.object = object
        self.request = request
        deadline = .now + Limits.answer
    }
}

/// What a client may have shown to the user.
final class Prompt {
    enum State { case offered, asking, ended }

    let task: PromptTask
    let cancellation = Cancellation()
    var state = State.offered
    /// When it was asked for: the signal of its end does not come at once.
    var begun = ContinuousClock.now
    let made = ContinuousClock.now

    init(_ task: PromptTask) { self.task = task }
}
