// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainLinuxSystem
import KeychainSecrets
import Testing

@testable import KeychainCommands

@Suite struct ClipboardTests {
    @Test func `the desktop that there is says which program holds its clipboard`() {
        func path(_ environment: [String: String], _ installed: Set<String>) -> String? {
            Clipboard.holder(in: { environment[$0] }, isInstalled: installed.contains)?.path
        }
        let all: Set = ["/usr/bin/wl-copy", "/usr/bin/xclip", "/usr/bin/xsel"]
        #expect(path(["WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"], all) == "/usr/bin/wl-copy")
        #expect(path(["DISPLAY": ":0"], all) == "/usr/bin/xclip")
        #expect(path(["DISPLAY": ":0"], ["/usr/bin/wl-copy", "/usr/bin/xsel"]) == "/usr/bin/xsel")
        #expect(path([:], all) == nil)
        #expect(path(["DISPLAY": ":0"], []) == nil)
    }

    /// A holder as wl-copy is one: it keeps what it holds in a file, and removes that once it hears that
    /// the clipboard is empty. Killed, it leaves the file.
    private func withHolder(_ body: (Clipboard.Holder, [String], String) throws -> Void) throws {
        let folder = try TemporaryFolder.make()
        defer { FolderNames.remove(folder) }
        let holding = """
            umask 077; cat >"$FOLDER/new"; mv "$FOLDER/new" "$FOLDER/held"
            until [ -e "$FOLDER/cleared" ]; do sleep 0.05; done
            rm "$FOLDER/held"
            """
        let holder = Clipboard.Holder(
            path: "/bin/sh", arguments: ["-c", holding], variables: [],
            clearing: ["-c", ": >\"$FOLDER/cleared\""])
        try body(holder, ["FOLDER=\(folder)", "PATH=/usr/bin:/bin"], folder)
    }

    private let secret = HeldSecret(SecretBytes(copying: Array("s3cret".utf8)))

    @Test func `a signal empties the clipboard before it has its way`() throws {
        try withHolder { holder, variables, folder in
            let (stop, signal) = try Descriptor.pipe()
            // Safe: one byte of a text that lives until the call returns.
            let written = unsafe write(signal.number, "x", 1)
            #expect(written == 1)
            let start = ContinuousClock.now
            try Clipboard.lend(secret, to: holder, variables, seconds: 600, until: stop.number)
            #expect(ContinuousClock.now - start < .seconds(60))
            #expect(FolderNames.all(in: folder) == ["cleared"])
        }
    }

    @Test func `the clipboard is emptied after a while`() throws {
        try withHolder { holder, variables, folder in
            let (stop, signal) = try Descriptor.pipe()
            try Clipboard.lend(secret, to: holder, variables, seconds: 0.1, until: stop.number)
            #expect(FolderNames.all(in: folder) == ["cleared"])
            withExtendedLifetime(signal) {}
        }
    }

    @Test func `a holder whose clipboard ends with it is ended`() throws {
        try withHolder { holder, variables, folder in
            var plain = holder
            plain.clearing = nil
            let (stop, signal) = try Descriptor.pipe()
            let isWatched = DetachedThread.start {
                for _ in 0..<6000 where FolderNames.all(in: folder) != ["held"] {
                    Wait.pause(milliseconds: 5)
                }
                // Safe: one byte of a text that lives until the call returns.
                _ = unsafe write(signal.number, "x", 1)
            }
            #expect(isWatched)
            try Clipboard.lend(secret, to: plain, variables, seconds: 600, until: stop.number)
            // It would have removed its file by now.
            FolderNames.remove(folder + "/cleared")
            try GrowingFile(folder + "/cleared").append([])
            Wait.pause(milliseconds: 300)
            #expect(FolderNames.all(in: folder).sorted() == ["cleared", "held"])
        }
    }

    @Test func `a holder that can't reach the desktop says so`() throws {
        let holder = Clipboard.Holder(path: "/bin/false", arguments: [], variables: [])
        let (stop, signal) = try Descriptor.pipe()
        #expect(throws: CommandFailure.self) {
            try Clipboard.lend(secret, to: holder, [], seconds: 600, until: stop.number)
        }
        withExtendedLifetime(signal) {}
    }

    @Test func `a holder that loses the desktop later says so`() throws {
        let holder = Clipboard.Holder(
            path: "/bin/sh", arguments: ["-c", "sleep 1; exit 1"], variables: [])
        let (stop, signal) = try Descriptor.pipe()
        #expect(throws: CommandFailure.self) {
            try Clipboard.lend(secret, to: holder, [], seconds: 600, until: stop.number)
        }
        withExtendedLifetime(signal) {}
    }
}
