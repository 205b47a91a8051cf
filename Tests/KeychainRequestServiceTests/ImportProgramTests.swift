// SPDX-License-Identifier: Apache-2.0
import KeychainLinuxSystem
import KeychainRows
import ProgramHandoff
import SystemTestSupport
import Testing

@testable import KeychainDaemon

/// What the process that reads a foreign file may give, also where that file has taken it over.
@Suite struct ImportProgramTests {
    /// A version and a row of 19 bytes: two numbers.
    private static let version = #"printf '\376\004'"#
    private static let row = #"printf '\002\001\001\0\0\0\0\0\0\0\001\002\0\0\0\0\0\0\0'"#
    private static let bytesOfRow: UInt64 = 19

    /// The rows that come from a program in place of `keychain-import`, in the words of a shell.
    private func rows(of words: String, _ taken: inout UInt64) throws {
        let folder = try ScratchFolder()
        let file = try folder.script("file", "")
        let program = ImportProgram(
            starter: ScriptStarter(path: try folder.script("import", words)), user: 1000,
            log: { _ in })
        try program.read(.reading(file)) { record in
            if case .row = record { taken += 1 }
        }
    }

    @Test func `each row is taken`() throws {
        var taken: UInt64 = 0
        try rows(of: "\(Self.version); \(Self.row); \(Self.row); printf '\\377\\000'", &taken)
        #expect(taken == 2)
    }

    @Test func `a program that is not started has read nothing, and damaged nothing`() throws {
        let folder = try ScratchFolder()
        let file = try folder.script("file", "")
        let program = ImportProgram(
            starter: RefusingStarter(error: .notAnswering), user: 1000, log: { _ in })
        #expect(throws: StarterError.notAnswering) {
            try program.read(.reading(file)) { _ in }
        }
    }

    @Test func `rows without end are a damaged file, and take no more room than one`() throws {
        var taken: UInt64 = 0
        #expect(throws: ForeignFileError.damaged) {
            try rows(of: "\(Self.version); while \(Self.row); do :; done", &taken)
        }
        #expect(taken > 0)
        #expect(taken * Self.bytesOfRow <= RowReader.mostBytes(ofFile: 1024))
    }
}
