// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Pinentry

@Suite struct DisplayEnvironmentTests {
    @Test func `a pinentry learns where the display is and nothing else`() {
        let display = DisplayEnvironment([
            "DISPLAY": ":1", "XAUTHORITY": "/a", "LD_PRELOAD": "/evil.so", "GTK_MODULES": "evil",
            "HOME": "/home/alice", "PATH": "/evil", "LANG": "de_DE.UTF-8",
        ])
        #expect(display.words.sorted() == ["DISPLAY=:1", "LANG=de_DE.UTF-8", "XAUTHORITY=/a"])
        #expect(display.hasX && display.isGraphical && !display.hasBus)
    }

    @Test func `the cookies of X are found without a home folder`() {
        let display = DisplayEnvironment(["DISPLAY": ":1", "HOME": "/home/alice"])
        #expect(display.words.contains("XAUTHORITY=/home/alice/.Xauthority"))
    }

    @Test func `the bus is found where its session put it`() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/bus-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(!DisplayEnvironment(["XDG_RUNTIME_DIR": folder]).hasBus)
        #expect(FileManager.default.createFile(atPath: folder + "/bus", contents: nil))
        let display = DisplayEnvironment(["XDG_RUNTIME_DIR": folder])
        #expect(display.words.contains("DBUS_SESSION_BUS_ADDRESS=unix:path=\(folder)/bus"))
    }

    @Test func `no display means no window`() {
        let display = DisplayEnvironment(["DISPLAY": "", "LANG": "C.UTF-8"])
        #expect(!display.isGraphical)
        let windows = PinentryProgram.candidates(for: display).filter { !$0.needsTerminal }
        #expect(windows.isEmpty)
        #expect(!PinentryDialog.hasWindow(display))
    }

    @Test func `a locale is always named`() {
        #expect(DisplayEnvironment([:]).characterSet == "C.UTF-8")
        #expect(DisplayEnvironment(["LC_ALL": "fr_FR.UTF-8"]).words == ["LC_ALL=fr_FR.UTF-8"])
    }
}
