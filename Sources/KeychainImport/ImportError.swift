// SPDX-License-Identifier: Apache-2.0

/// Why a source can't be imported. It has the place, but nothing of the content.
package enum ImportError: Error, Equatable, Sendable {
    /// The bytes are not UTF-8, but Latin-1 or UTF-16, for example.
    case notUTF8(line: Int)
    case zeroByte(line: Int)
    case wrongColumns(line: Int, found: Int, expected: Int)
    case openQuote(line: Int)
    case tooLong(line: Int)
    /// The line does not follow the format.
    case malformed(line: Int)
    /// The first line names no column of passwords, or no column that identifies them.
    case unknownColumns
    /// Only the program that wrote it, or its account, can read it.
    case encryptedForAccount
    case encryptedByPassword
    case unknownFormat
    case inputOutput
    case wrongPassword
    case unsupportedKey
    /// The format is read as a whole, and the file is over the limit.
    case tooLarge
    /// A file without lines does not follow its format.
    case damaged
    /// No program owns the name on the bus, or there is no bus.
    case noService
    /// The name's owner is this package's own program.
    case ownService
    /// The service has no such collection.
    case noCollection
    /// A collection is locked, and its program could not or did not open it.
    case lockedCollection
    /// The service's answers break its protocol.
    case strangeService

    /// The code for the frame that reports it, with its numbers. A case keeps its code for ever.
    var coded: (code: UInt8, numbers: [Int]) {
        switch self {
        case .notUTF8(let line): (1, [line])
        case .zeroByte(let line): (2, [line])
        case .wrongColumns(let line, let found, let expected): (3, [line, found, expected])
        case .openQuote(let line): (4, [line])
        case .tooLong(let line): (5, [line])
        case .malformed(let line): (6, [line])
        case .unknownColumns: (7, [])
        case .encryptedForAccount: (8, [])
        case .encryptedByPassword: (9, [])
        case .unknownFormat: (10, [])
        case .inputOutput: (11, [])
        case .wrongPassword: (12, [])
        case .unsupportedKey: (13, [])
        case .tooLarge: (14, [])
        case .damaged: (15, [])
        case .noService: (16, [])
        case .ownService: (17, [])
        case .noCollection: (18, [])
        case .lockedCollection: (19, [])
        case .strangeService: (20, [])
        }
    }

    init?(code: UInt8, _ numbers: [Int]) {
        let line = numbers.first ?? 0
        switch code {
        case 1: self = .notUTF8(line: line)
        case 2: self = .zeroByte(line: line)
        case 3 where numbers.count == 3:
            self = .wrongColumns(line: line, found: numbers[1], expected: numbers[2])
        case 4: self = .openQuote(line: line)
        case 5: self = .tooLong(line: line)
        case 6: self = .malformed(line: line)
        case 7: self = .unknownColumns
        case 8: self = .encryptedForAccount
        case 9: self = .encryptedByPassword
        case 10: self = .unknownFormat
        case 11: self = .inputOutput
        case 12: self = .wrongPassword
        case 13: self = .unsupportedKey
        case 14: self = .tooLarge
        case 15: self = .damaged
        case 16: self = .noService
        case 17: self = .ownService
        case 18: self = .noCollection
        case 19: self = .lockedCollection
        case 20: self = .strangeService
        default: return nil
        }
    }
}
