// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import LoginManager

/// The socket that a program connected to.
package enum ConnectedSocket: UInt32, Sendable {
    case requests = 1
    case logins
    case offers
}

/// What keychaind tells a worker. At the start come the beginning and all that the worker is to
/// have, then `started`; afterwards connections, and what has changed.
package enum WorkerOrder: Sendable, Equatable {
    package struct Beginning: Sendable, Equatable {
        package var user: UInt32
        /// The number that the worker takes; 0 where it keeps root's.
        package var number: UInt32 = 0
        package var hasTPM = false
        package var hasSecurityKeys = false
        /// Whether it is started to look after its user's files alone.
        package var isForUpkeep = false

        package init(user: UInt32) { self.user = user }
    }

    case begin(Beginning)
    case stateFolder(String)
    case runtimeFolder(String)
    /// With the key, in sealed memory.
    case deviceKey
    /// With the user's vault key, and where keychaind keeps it.
    case vaultKey(ServiceStatus.VaultKeyPlace)
    /// With a secret that the service manager gave keychaind under the name.
    case credential(String)
    /// With compiled policies and the number of their load; `policyReport` follows.
    case policy(UInt32)
    /// With what is told of the policies that are in force from now on. Is acknowledged.
    case policyReport(id: UInt32, isDegraded: Bool)
    /// With the names of the sessions whose screens are locked, in sealed memory, a line each; belongs to
    /// the `event` that logind is there.
    case lockedScreens
    /// Is acknowledged where the number is not zero.
    case event(id: UInt32, LoginManagerEvent)
    /// Whether several users have connections.
    case severalUsers(Bool)
    case started
    /// With one end of the way to root's worker, for the next connection.
    case machine
    /// With a connection; `hasMachine` where its way to root's worker came before.
    case connection(ConnectedSocket, hasMachine: Bool = false)
    /// To root's worker: with the other end of that way; `machineConnection` follows.
    case machineEnd
    /// With a copy of the program's socket.
    case machineConnection
    /// To what the worker asked under the number; may come with a descriptor.
    case answer(id: UInt32, value: UInt32, text: String = "")
    /// Is acknowledged once no question is shown.
    case settle(id: UInt32)
    case end

    package static let byteCount = WorkerRecord.byteCount
    /// The longest path or name, in bytes.
    package static let longestText = WorkerRecord.longestText

    private static let tpm: UInt32 = 1
    private static let securityKeys: UInt32 = 2
    private static let upkeep: UInt32 = 4

    package var bytes: [UInt8] { record.bytes }

    private var record: WorkerRecord {
        switch self {
        case .begin(let beginning):
            WorkerRecord(
                1, id: beginning.number, user: beginning.user,
                value: (beginning.hasTPM ? Self.tpm : 0)
                    | (beginning.hasSecurityKeys ? Self.securityKeys : 0)
                    | (beginning.isForUpkeep ? Self.upkeep : 0))
        case .stateFolder(let path): WorkerRecord(2, text: path)
        case .runtimeFolder(let path): WorkerRecord(3, text: path)
        case .deviceKey: WorkerRecord(4)
        case .vaultKey(let place): WorkerRecord(5, value: UInt32(place.rawValue))
        case .credential(let name): WorkerRecord(6, text: name)
        case .policy(let number): WorkerRecord(7, value: number)
        case .policyReport(let id, let isDegraded):
            WorkerRecord(8, id: id, value: isDegraded ? 1 : 0)
        case .lockedScreens: WorkerRecord(9)
        case .event(let id, let event):
            WorkerRecord(
                10, id: id, user: event.leavingUser, value: event.number, text: event.session)
        case .severalUsers(let are): WorkerRecord(11, value: are ? 1 : 0)
        case .started: WorkerRecord(12)
        case .machine: WorkerRecord(13)
        case .connection(let socket, let hasMachine):
            WorkerRecord(14, user: hasMachine ? 1 : 0, value: socket.rawValue)
        case .machineEnd: WorkerRecord(15)
        case .machineConnection: WorkerRecord(16)
        case .answer(let id, let value, let text):
            WorkerRecord(17, id: id, value: value, text: text)
        case .settle(let id): WorkerRecord(18, id: id)
        case .end: WorkerRecord(19)
        }
    }

    package init(_ bytes: [UInt8]) throws(MalformedBytes) {
        let record = try WorkerRecord(bytes)
        self = try Self.order(record)
        guard self.record == record else { throw MalformedBytes() }
    }

    private static func order(_ record: WorkerRecord) throws(MalformedBytes) -> WorkerOrder {
        switch record.kind {
        case 1:
            var beginning = Beginning(user: record.user)
            beginning.number = record.id
            beginning.hasTPM = record.value & tpm != 0
            beginning.hasSecurityKeys = record.value & securityKeys != 0
            beginning.isForUpkeep = record.value & upkeep != 0
            return .begin(beginning)
        case 2: return .stateFolder(record.text)
        case 3: return .runtimeFolder(record.text)
        case 4: return .deviceKey
        case 5:
            guard let place = ServiceStatus.VaultKeyPlace(truncating: record.value) else {
                throw MalformedBytes()
            }
            return .vaultKey(place)
        case 6: return .credential(record.text)
        case 7: return .policy(record.value)
        case 8: return .policyReport(id: record.id, isDegraded: record.value != 0)
        case 9: return .lockedScreens
        case 10:
            guard
                let event = LoginManagerEvent(
                    number: record.value, session: record.text, user: record.user)
            else { throw MalformedBytes() }
            return .event(id: record.id, event)
        case 11: return .severalUsers(record.value != 0)
        case 12: return .started
        case 13: return .machine
        case 14:
            guard let socket = ConnectedSocket(rawValue: record.value) else {
                throw MalformedBytes()
            }
            return .connection(socket, hasMachine: record.user != 0)
        case 15: return .machineEnd
        case 16: return .machineConnection
        case 17: return .answer(id: record.id, value: record.value, text: record.text)
        case 18: return .settle(id: record.id)
        case 19: return .end
        default: throw MalformedBytes()
        }
    }
}

extension ServiceStatus.VaultKeyPlace {
    /// nil for a number that stands for no place.
    package init?(truncating number: UInt32) {
        // Safe: nil where it is larger.
        guard let byte = UInt8(exactly: number), let place = Self(rawValue: byte) else {
            return nil
        }
        self = place
    }
}

/// An event as a number, with the session or user that it is of. The locked screens come in records of
/// their own.
extension LoginManagerEvent {
    fileprivate var number: UInt32 {
        switch self {
        case .present: 1
        case .absent: 2
        case .lockRequested: 3
        case .screen(_, let isLocked): isLocked ? 4 : 5
        case .sessionEnded: 6
        case .userLeft: 7
        case .sleeping: 8
        case .mayHibernate: 9
        case .shuttingDown: 10
        }
    }

    fileprivate var session: String {
        switch self {
        case .lockRequested(let session), .screen(let session, _), .sessionEnded(let session):
            session
        case .present, .absent, .userLeft, .sleeping, .mayHibernate, .shuttingDown: ""
        }
    }

    fileprivate var leavingUser: UInt32 {
        if case .userLeft(let user) = self { user } else { 0 }
    }

    fileprivate init?(number: UInt32, session: String, user: UInt32) {
        switch number {
        case 1: self = .present(lockedScreens: [])
        case 2: self = .absent
        case 3: self = .lockRequested(session: session)
        case 4: self = .screen(session: session, isLocked: true)
        case 5: self = .screen(session: session, isLocked: false)
        case 6: self = .sessionEnded(session)
        case 7: self = .userLeft(user)
        case 8: self = .sleeping
        case 9: self = .mayHibernate
        case 10: self = .shuttingDown
        default: return nil
        }
    }
}
