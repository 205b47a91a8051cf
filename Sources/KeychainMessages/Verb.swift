// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// One thing that a program can ask of the keychain: its words as bytes, its answer, and its name in
/// the audit log. `Verbs.all` lists them.
package protocol Verb: MessageValue {
    associatedtype Answer: VerbAnswer

    /// Its name to the other side; never given to another verb.
    static var number: UInt16 { get }
    /// What a record of a refusal calls it.
    var auditName: AuditName { get }
    /// Whether the audit log hears of a grant, too.
    var grantRecord: GrantRecord { get }

    /// Leads to the handler's method for this very verb. `emit` takes the parts of an answer that is
    /// too long for one message.
    func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (Answer) throws(RequestError) -> Void
    ) throws(RequestError) -> Answer
}

extension Verb {
    package var grantRecord: GrantRecord { .always }
}

/// When the audit log hears of a grant.
package enum GrantRecord: Sendable {
    case always
    /// Where the user proved something.
    case whereProven
    /// One of many pieces.
    case never
}

/// What comes back when nothing was refused.
package protocol VerbAnswer: MessageValue {
    /// Of an answer that comes in parts, the next.
    mutating func append(part: Self)
}

extension VerbAnswer {
    package mutating func append(part: Self) { self = part }
}

/// Of a verb that has nothing to tell.
package struct Done: VerbAnswer {
    package init() {}
    package func encode(into message: inout MessageWriter) {}
    package init(_ message: inout MessageReader) throws(MalformedBytes) {}
}

/// What answers have lists of.
package protocol ListElement: MessageValue {
    /// Bytes that each has at the least.
    static var leastBytes: Int { get }

    // Whole lists, so that the compiler makes these for each type: a generic list's types are looked up
    // while the program runs, with each answer.
    static func encode(_ list: [Self], into message: inout MessageWriter)
    static func list(in message: inout MessageReader) throws(MalformedBytes) -> [Self]
}

extension ListElement {
    package static func encode(_ list: [Self], into message: inout MessageWriter) {
        message.append(list)
    }

    package static func list(in message: inout MessageReader) throws(MalformedBytes) -> [Self] {
        try message.values(ofAtLeast: leastBytes)
    }
}

/// In one part or in several, as the items of a search are.
extension Array: VerbAnswer, MessageValue where Element: ListElement {
    package mutating func append(part: Self) { self += part }

    package func encode(into message: inout MessageWriter) { Element.encode(self, into: &message) }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self = try Element.list(in: &message)
    }
}

extension Item: VerbAnswer {}

/// How many items were changed or deleted.
extension Int: VerbAnswer, MessageValue {
    package func encode(into message: inout MessageWriter) { message.append(clamping: self) }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self = try message.clampedNumber()
    }
}

extension Bool: VerbAnswer, MessageValue {
    package func encode(into message: inout MessageWriter) { message.append(self) }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self = try message.flag()
    }
}

/// Lines for people.
extension String: VerbAnswer, MessageValue {
    package func encode(into message: inout MessageWriter) { message.append(self) }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self = try message.bytes.text()
    }
}

/// What the audit log calls verbs.
package enum AuditName: String, Sendable, CaseIterable {
    case add, copyMatching, update, delete, unlock, lock, setPassword, createKeychain, status
    case deleteKeychain, changeSettings, changePreferences, authenticate, reloadPolicies, backup,
        restore, repair
    case addProtector, removeProtector, testProtector
    /// What the deputy says of the programs for which it asks.
    case introduce
}

/// Sends verbs to the keychain: to the daemon, or to the service in the own process.
package protocol KeychainEndpoint: AnyObject, Sendable {
    func send<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, cancellation: Cancellation?
    ) throws(RequestError) -> V.Answer
    /// The rules of the policy that the last refusal came from, with their places; for programs
    /// that ask for one thing at a time and explain it to people.
    var rulesOfLastRefusal: [String] { get }
}

extension KeychainEndpoint {
    package var rulesOfLastRefusal: [String] { [] }

    /// An application password of the context's that turns out to be wrong is taken out of it, and
    /// the verb sent once more: the user is asked for it, or it is refused as without one.
    package func send<V: Verb>(
        _ verb: V, in context: AuthenticationContext? = nil,
        endedBy cancellation: Cancellation? = nil
    ) throws(RequestError) -> V.Answer {
        let password = context?.applicationPassword
        do throws(RequestError) {
            return try send(verb, in: context, cancellation: cancellation)
        } catch {
            guard error == .refused(.wrongApplicationPassword), let context, let password else {
                throw error
            }
            context.remove(wrong: password)
        }
        return try send(verb, in: context, cancellation: cancellation)
    }
}

/// The table of all verbs. A number that was used once stays that verb's.
package enum Verbs {
    package static let all: [any Verb.Type] = [
        Add.self,  // 1
        CopyMatching.self,  // 2
        Update.self,  // 3
        Delete.self,  // 4
        Status.self,  // 5
        CreateKeychain.self,  // 6
        Unlock.self,  // 7
        Lock.self,  // 8
        ChangeSettings.self,  // 9
        SetPassword.self,  // 10
        Authenticate.self,  // 11
        ReadCapabilities.self,  // 12
        EndContext.self,  // 13
        Policies.self,  // 14
        Preferences.self,  // 15
        ListProtectors.self,  // 16
        AddProtector.self,  // 17
        RemoveProtector.self,  // 18
        TestProtector.self,  // 19
        UnlockWithProtector.self,  // 20
        CheckKeychain.self,  // 21
        ListGenerations.self,  // 22
        BeginBackup.self,  // 23
        ReadBackup.self,  // 24
        BeginRestore.self,  // 25
        SendRestore.self,  // 26
        FinishRestore.self,  // 27
        RestoreGeneration.self,  // 28
        Introduce.self,  // 29
        ForgetPeer.self,  // 30
        FindAttributed.self,  // 31
        WatchKeychains.self,  // 32
        EndProofs.self,  // 33
        ReadFormerSecrets.self,  // 34
        DeleteKeychain.self,  // 35
        WouldAsk.self,  // 36
        ListLetIn.self,  // 37
        LeaveGroup.self,  // 38
    ]

    /// nil for a verb of a newer version.
    package static func type(_ number: UInt16) -> (any Verb.Type)? { numbered[number] }

    // Safe: no two verbs have a number in common.
    private static let numbered = Dictionary(uniqueKeysWithValues: all.map { ($0.number, $0) })
}

/// Answers each verb: leaving one out does not compile.
package protocol VerbHandler {
    associatedtype Peer

    func handle(_ verb: Add, for client: Peer) throws(RequestError) -> Item
    func handle(
        _ verb: CopyMatching, for client: Peer, emit: ([Item]) throws(RequestError) -> Void
    ) throws(RequestError) -> [Item]
    func handle(_ verb: Update, for client: Peer) throws(RequestError) -> Int
    func handle(_ verb: Delete, for client: Peer) throws(RequestError) -> Int
    func handle(_ verb: Status, for client: Peer) throws(RequestError) -> ServiceStatus
    func handle(_ verb: CreateKeychain, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: Unlock, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: Lock, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: ChangeSettings, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: SetPassword, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: Authenticate, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: ReadCapabilities, for client: Peer) throws(RequestError) -> Capabilities
    func handle(_ verb: EndContext, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: Policies, for client: Peer) throws(RequestError) -> String
    func handle(_ verb: Preferences, for client: Peer) throws(RequestError) -> KeychainPreferences
    func handle(_ verb: ListProtectors, for client: Peer) throws(RequestError) -> [Protector]
    func handle(_ verb: AddProtector, for client: Peer) throws(RequestError) -> Protector
    func handle(_ verb: RemoveProtector, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: TestProtector, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: UnlockWithProtector, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: CheckKeychain, for client: Peer) throws(RequestError) -> KeychainFindings
    func handle(_ verb: ListGenerations, for client: Peer) throws(RequestError) -> [Generation]
    func handle(_ verb: BeginBackup, for client: Peer) throws(RequestError) -> BackupTransfer
    func handle(_ verb: ReadBackup, for client: Peer) throws(RequestError) -> BackupPiece
    func handle(_ verb: BeginRestore, for client: Peer) throws(RequestError) -> BackupTransfer
    func handle(_ verb: SendRestore, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: FinishRestore, for client: Peer) throws(RequestError) -> RestoredKeychain
    func handle(_ verb: RestoreGeneration, for client: Peer) throws(RequestError)
        -> RestoredKeychain
    func handle(_ verb: Introduce, for client: Peer) throws(RequestError) -> RelayedPeer
    func handle(_ verb: ForgetPeer, for client: Peer) throws(RequestError) -> Done
    func handle(
        _ verb: FindAttributed, for client: Peer,
        emit: ([AttributedMatch]) throws(RequestError) -> Void
    ) throws(RequestError) -> [AttributedMatch]
    func handle(_ verb: WatchKeychains, for client: Peer) throws(RequestError) -> KeychainChanges
    func handle(_ verb: EndProofs, for client: Peer) throws(RequestError) -> [ItemReference]
    func handle(_ verb: ReadFormerSecrets, for client: Peer) throws(RequestError) -> [FormerSecret]
    func handle(_ verb: DeleteKeychain, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: WouldAsk, for client: Peer) throws(RequestError) -> Bool
    func handle(
        _ verb: ListLetIn, for client: Peer, emit: ([LetIn]) throws(RequestError) -> Void
    ) throws(RequestError) -> [LetIn]
    func handle(_ verb: LeaveGroup, for client: Peer) throws(RequestError) -> Done
}

package struct Add: Verb {
    package typealias Answer = Item
    package static let number: UInt16 = 1

    package let item: NewItem
    package let secret: HeldSecret?
    /// What the answer carries of the new item.
    package let parts: ReturnFields

    package init(_ item: NewItem, secret: HeldSecret?, returning parts: ReturnFields) {
        self.item = item
        self.secret = secret
        self.parts = parts
    }

    package var auditName: AuditName { .add }

    package func encode(into message: inout MessageWriter) {
        item.encode(into: &message)
        message.append(secret)
        message.append(parts)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        item = try message.value()
        secret = try message.optionalSecret()
        parts = ReturnFields(rawValue: try message.bytes.byte())
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Item) throws(RequestError) -> Void
    ) throws(RequestError) -> Item {
        try handler.handle(self, for: client)
    }
}

package struct CopyMatching: Verb {
    package typealias Answer = [Item]
    package static let number: UInt16 = 2

    package let query: ItemQuery

    package init(_ query: ItemQuery) {
        self.query = query
    }

    package var auditName: AuditName { .copyMatching }

    package func encode(into message: inout MessageWriter) {
        query.encode(into: &message)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        query = try message.value()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: ([Item]) throws(RequestError) -> Void
    ) throws(RequestError) -> [Item] {
        try handler.handle(self, for: client, emit: emit)
    }
}

/// Answered with the number of items that were changed.
package struct Update: Verb {
    package typealias Answer = Int
    package static let number: UInt16 = 3

    package let query: ItemQuery
    package let change: ItemChange
    package let secret: HeldSecret?

    package init(_ query: ItemQuery, _ change: ItemChange, secret: HeldSecret?) {
        self.query = query
        self.change = change
        self.secret = secret
    }

    package var auditName: AuditName { .update }

    package func encode(into message: inout MessageWriter) {
        query.encode(into: &message)
        change.encode(into: &message)
        message.append(secret)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        query = try message.value()
        change = try message.value()
        secret = try message.optionalSecret()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Int) throws(RequestError) -> Void
    ) throws(RequestError) -> Int {
        try handler.handle(self, for: client)
    }
}

/// Answered with the number of items that were deleted.
package struct Delete: Verb {
    package typealias Answer = Int
    package static let number: UInt16 = 4

    package let query: ItemQuery

    package init(_ query: ItemQuery) {
        self.query = query
    }

    package var auditName: AuditName { .delete }

    package func encode(into message: inout MessageWriter) {
        query.encode(into: &message)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        query = try message.value()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Int) throws(RequestError) -> Void
    ) throws(RequestError) -> Int {
        try handler.handle(self, for: client)
    }
}

/// Bytes of what a request may carry.
package enum RequestLimits {
    /// One item's secret.
    package static let largestSecret = 32 * 1024 * 1024
    package static let longestPassword = 1024
}
