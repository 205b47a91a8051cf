// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import KeychainCommands

/// What `keychainctl doctor` says of the programs that hear keychaind, where one is not there.
@Suite struct ListeningProgramTests {
    private static let all: [ListeningProgram] = [.worker, .broker, .audit]
    /// Root's file, as an installed program is.
    private static let installed = "/usr/bin/env"
    private static let folder = "/nonexistent/run"

    @Test(arguments: [0, 1, 2])
    func `a socket that is not there is named with its unit and with what is lost`(_ place: Int) {
        let program = Self.all[place]
        let found = program.finding(program: Self.installed, folder: Self.folder)
        #expect(found.state == .trouble)
        #expect(
            found.sentence
                == "\(program.name) does not listen on \(Self.folder)/\(program.socket): "
                + program.loss)
        #expect(found.remedy?.hasPrefix("systemctl start \(program.name).socket; ") == true)
    }

    @Test(arguments: ["/nonexistent/keychain-worker", "keychain-worker"])
    func `a program that is not installed is named before its socket`(_ file: String) {
        let found = ListeningProgram.worker.finding(program: file, folder: Self.folder)
        #expect(found.state == .trouble)
        #expect(found.sentence == "\(file) is missing, or not root's alone: no user is served")
    }

    @Test func `each has a socket and a loss of its own`() {
        #expect(Set(Self.all.map(\.socket)).count == 3 && Set(Self.all.map(\.loss)).count == 3)
        #expect(ListeningProgram.worker.socket == "worker.sock")
    }
}
