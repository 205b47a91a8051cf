// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel

/// A look that a worker asks for, and what keychaind says before it gives the worker a connection.
/// The process is not in the record: its pidfd comes with it.
enum LookRequest: Equatable {
    case program
    case path(Int32)
    case executable
    case sandboxFile
    case otherReader(device: UInt32, session: Int32, user: UInt32)
    /// The first record of each connection, and no later one: the user whose processes are looked
    /// at.
    case bind(user: UInt32)

    static let byteCount = 24

    /// Whether a pidfd belongs to it.
    var hasProcess: Bool {
        switch self {
        case .program, .executable, .sandboxFile: true
        case .path, .otherReader, .bind: false
        }
    }

    private var fields: (look: UInt16, numbers: [UInt32]) {
        switch self {
        case .program: (1, [])
        case .path(let process): (2, [UInt32(bitPattern: process)])
        case .executable: (3, [])
        case .sandboxFile: (4, [])
        case .otherReader(let device, let session, let user):
            (5, [device, UInt32(bitPattern: session), user])
        case .bind(let user): (6, [user])
        }
    }

    var bytes: [UInt8] {
        let (look, numbers) = fields
        var writer = LookRecord.begin(look, capacity: Self.byteCount)
        for number in numbers { writer.append(number: number) }
        return writer.bytes + [UInt8](repeating: 0, count: Self.byteCount - writer.bytes.count)
    }

    /// A request is written in one way only: unused fields are zero.
    init(_ bytes: [UInt8]) throws(MalformedBytes) {
        guard bytes.count == Self.byteCount else { throw MalformedBytes() }
        var reader = ByteReader(bytes)
        let look = try LookRecord.begin(&reader)
        let numbers = [
            try reader.number(UInt32.self), try reader.number(UInt32.self),
            try reader.number(UInt32.self),
        ]
        self =
            switch look {
            case 1: .program
            case 2: .path(Int32(bitPattern: numbers[0]))
            case 3: .executable
            case 4: .sandboxFile
            case 5:
                .otherReader(
                    device: numbers[0], session: Int32(bitPattern: numbers[1]), user: numbers[2])
            case 6: .bind(user: numbers[0])
            default: throw MalformedBytes()
            }
        guard self.bytes == bytes else { throw MalformedBytes() }
    }
}

/// What `keychain-broker` saw. A descriptor may come with it: an image, or an opened file.
enum LookReply: Equatable {
    /// The process has ended or is another user's, or there is no such file.
    case nothing
    case program(Program)
    case path(String)
    case file
    case finding(SharedTerminal.Finding)
    /// The connection is the user's from now on.
    case bound

    /// A `ProgramLook` without its image.
    struct Program: Equatable {
        var path: String?
        var executable: ExecutableFacts?
        var isAtItsPath = false
        var isTrusted = false
        var isInOurNamespaces = false
        var rights = ProgramLook.Rights.unknown
        var hasImage = false
    }

    private static let headBytes = 36
    private static let longestPath = 4096
    static let longest = headBytes + longestPath

    private struct Flags: OptionSet {
        let rawValue: UInt32

        static let path = Flags(rawValue: 1)
        static let executable = Flags(rawValue: 2)
        static let isAtItsPath = Flags(rawValue: 4)
        static let isTrusted = Flags(rawValue: 8)
        static let isInOurNamespaces = Flags(rawValue: 16)
        static let image = Flags(rawValue: 32)
        static let rightsShift: UInt32 = 6
        static let most: UInt32 = 255
    }

    private struct Fields {
        var said: UInt16
        var flags: UInt32 = 0
        var device: UInt64 = 0
        var inode: UInt64 = 0
        var process: Int32 = 0
        var path = ""
    }

    private var fields: Fields {
        switch self {
        case .nothing: return Fields(said: 1)
        case .program(let program):
            var flags: Flags = []
            if program.path != nil { flags.insert(.path) }
            if program.executable != nil { flags.insert(.executable) }
            if program.isAtItsPath { flags.insert(.isAtItsPath) }
            if program.isTrusted { flags.insert(.isTrusted) }
            if program.isInOurNamespaces { flags.insert(.isInOurNamespaces) }
            if program.hasImage { flags.insert(.image) }
            let rights = UInt32(program.rights.rawValue) << Flags.rightsShift
            return Fields(
                said: 2, flags: flags.rawValue | rights,
                device: program.executable?.device ?? 0, inode: program.executable?.inode ?? 0,
                path: program.executable?.path ?? program.path ?? "")
        case .path(let path): return Fields(said: 3, path: path)
        case .file: return Fields(said: 4)
        case .finding(.noOtherReader): return Fields(said: 5)
        case .finding(.reader(let reader)):
            let flags: Flags = reader.executable == nil ? [] : [.path]
            return Fields(
                said: 6, flags: flags.rawValue, process: reader.process,
                path: reader.executable ?? "")
        case .finding(.notInTime): return Fields(said: 7)
        case .finding(.unknown): return Fields(said: 8)
        case .bound: return Fields(said: 9)
        }
    }

    /// Whether a reply has room for the path.
    static func holds(_ path: String) -> Bool { path.utf8.count <= longestPath }

    var bytes: [UInt8] {
        let fields = fields
        let path = Array(fields.path.utf8)
        var writer = LookRecord.begin(fields.said, capacity: Self.headBytes + path.count)
        writer.append(number: fields.flags)
        writer.append(number: fields.device)
        writer.append(number: fields.inode)
        writer.append(number: UInt32(bitPattern: fields.process))
        writer.append(block: path)
        return writer.bytes
    }

    init(_ bytes: [UInt8]) throws(MalformedBytes) {
        guard bytes.count <= Self.longest else { throw MalformedBytes() }
        var reader = ByteReader(bytes)
        var fields = Fields(said: try LookRecord.begin(&reader))
        fields.flags = try reader.number(UInt32.self)
        fields.device = try reader.number(UInt64.self)
        fields.inode = try reader.number(UInt64.self)
        fields.process = Int32(bitPattern: try reader.number(UInt32.self))
        fields.path = try reader.text()
        self = try Self.reply(fields)
        guard reader.isAtEnd, self.bytes == bytes else { throw MalformedBytes() }
    }

    private static func reply(_ fields: Fields) throws(MalformedBytes) -> LookReply {
        switch fields.said {
        case 1: return .nothing
        case 2: return .program(try program(fields))
        case 3: return .path(fields.path)
        case 4: return .file
        case 5: return .finding(.noOtherReader)
        case 6:
            let hasPath = Flags(rawValue: fields.flags).contains(.path)
            return .finding(
                .reader(.init(process: fields.process, executable: hasPath ? fields.path : nil)))
        case 7: return .finding(.notInTime)
        case 8: return .finding(.unknown)
        case 9: return .bound
        default: throw MalformedBytes()
        }
    }

    private static func program(_ fields: Fields) throws(MalformedBytes) -> Program {
        let flags = Flags(rawValue: fields.flags)
        let rights = UInt8(truncatingIfNeeded: fields.flags >> Flags.rightsShift)
        guard fields.flags <= Flags.most, let rights = ProgramLook.Rights(rawValue: rights) else {
            throw MalformedBytes()
        }
        return Program(
            path: flags.contains(.path) ? fields.path : nil,
            executable: flags.contains(.executable)
                ? ExecutableFacts(path: fields.path, device: fields.device, inode: fields.inode)
                : nil,
            isAtItsPath: flags.contains(.isAtItsPath), isTrusted: flags.contains(.isTrusted),
            isInOurNamespaces: flags.contains(.isInOurNamespaces), rights: rights,
            hasImage: flags.contains(.image))
    }
}

/// How keychaind binds a connection to a user.
package enum BrokerBinding {
    package static func request(_ user: UInt32) -> [UInt8] { LookRequest.bind(user: user).bytes }

    /// Whether the bytes say that the connection is bound.
    package static func isDone(_ reply: [UInt8]) -> Bool { reply == LookReply.bound.bytes }
}

/// The beginning of each record.
enum LookRecord {
    /// "KCLK".
    private static let magic: UInt32 = 0x4B4C_434B
    private static let version: UInt16 = 1

    static func begin(_ kind: UInt16, capacity: Int) -> ByteWriter {
        var writer = ByteWriter(capacity: capacity)
        writer.append(number: magic)
        writer.append(number: version)
        writer.append(number: kind)
        return writer
    }

    static func begin(_ reader: inout ByteReader) throws(MalformedBytes) -> UInt16 {
        guard try reader.number(UInt32.self) == magic, try reader.number(UInt16.self) == version
        else { throw MalformedBytes() }
        return try reader.number(UInt16.self)
    }
}
