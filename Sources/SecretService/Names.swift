// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// Names that both sides of the bus know.
enum Names {
    static let service = "org.freedesktop.secrets"

    /// The interfaces that calls are answered for.
    enum Interface: String, Sendable {
        case service = "org.freedesktop.Secret.Service"
        case collection = "org.freedesktop.Secret.Collection"
        case item = "org.freedesktop.Secret.Item"
        case session = "org.freedesktop.Secret.Session"
        case prompt = "org.freedesktop.Secret.Prompt"
        case properties = "org.freedesktop.DBus.Properties"
        case introspectable = "org.freedesktop.DBus.Introspectable"
        case portal = "org.freedesktop.impl.portal.Secret"
        case portalRequest = "org.freedesktop.impl.portal.Request"
    }
}

/// How much is taken (docs/guide/secret-service.md, Limits).
enum Limits {
    static let pairs = AttributedLimits.mostPairs
    static let pairName = AttributedLimits.longestName
    static let pairValue = AttributedLimits.longestValue
    static let allPairs = AttributedLimits.mostBytes
    static let label = AttributedLimits.longestLabel
    static let contentType = AttributedLimits.longestContentType
    static let secret = AttributedLimits.longestSecret
    /// Of GetSecrets' answer.
    static let secretBytesAtOnce = 32 * 1024 * 1024
    /// Of calls that are not answered, with what is copied out of them: of all programs, and of
    /// programs of one name.
    static let bytesUnderWay = 160 * 1024 * 1024
    static let bytesOfGroup = bytesUnderWay / 2
    /// Properties that a call gives a new object.
    static let properties = 16
    /// Paths that an argument names.
    static let namedPaths = 1000
    static let answeredPaths = AttributedLimits.mostItems
    /// Of more matches, those in memory come last.
    static let rankedItems = 1000
    /// An algorithm's, an interface's or a member's name; a window's.
    static let name = 256

    static let callsOfPeer = 64
    static let callsOfStranger = 16
    static let calls = 1024
    /// Of programs of one name, however many connections they have.
    static let callsOfGroup = 256
    static let sessionsOfPeer = 64
    static let sessions = 1024
    /// Of programs of one name.
    static let sessionsOfGroup = 256
    static let promptsOfPeer = 16
    /// Questions that stand at once, of all programs and of one: others wait.
    static let questions = 4
    static let questionsOfGroup = 2
    /// Requests of the desktop's portal, and those of them for one application: each has a thread.
    static let portalRequests = 16
    static let portalRequestsOfApplication = 4
    static let peers = 512
    /// Of them, connections of programs of one name.
    static let peersOfGroup = 128
    /// Connections that have sessions or prompts, and are introduced again when they call: of all, and of
    /// programs of one name.
    static let dormantPeers = 1024
    static let dormantPeersOfGroup = 256
    static let locksPerMinute = 6
    static let unwrittenReplies = 64
    /// Items that a program is told of when their collection is locked: those that it was shown last.
    static let listedItems = 256
    /// Of a collection with more, no program is told the property `Items` when it changes.
    static let toldItems = 10_000
    /// From one telling of a collection's `Items` to the next, for one program.
    static let betweenItems: Duration = .milliseconds(500)
    /// Signals that wait for the end of a prompt: of all programs, and of one.
    static let heldSignals = 8192
    static let heldSignalsOfPeer = 1024
    /// Items of the collection that lies in memory, and bytes of them: one of several groups has at most
    /// half of both.
    static let memoryItems = 1000
    static let memoryBytes = 4 * 1024 * 1024

    static let answer: Duration = .seconds(20)
    /// For a pipe or socket to take an application's secret.
    static let portalWrite: Duration = .seconds(5)
    static let unusedPrompt: Duration = .seconds(600)
    /// Between the reply to Prompt and the signal that it has ended: a client may listen for the
    /// signal only once it has the reply.
    static let beforeCompleted: Duration = .milliseconds(100)
}
