// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Pinentry

@Suite struct DisplayEnvironmentTests {
    private static let none = "/nonexistent"

    @Test func `a pinentry learns where the display is and nothing else`() {
        let display = DisplayEnvironment(
            [
                "DISPLAY": ":1", "XAUTHORITY": "/a", "LD_PRELOAD": "/evil.so",
                "GTK_MODULES": "evil", "HOME": "/home/alice", "PATH": "/evil",
                "LANG": "de_DE.UTF-8",
            ], runtimeFolder: Self.none)
        #expect(display.words.sorted() == ["DISPLAY=:1", "LANG=de_DE.UTF-8", "XAUTHORITY=/a"])
        #expect(display.isGraphical && !display.hasBus)
    }

    @Test func `the cookies of X are found without a home folder`() {
        let display = DisplayEnvironment(
            ["DISPLAY": ":1", "HOME": "/home/alice"], runtimeFolder: Self.none)
        #expect(display.words.contains("XAUTHORITY=/home/alice/.Xauthority"))
    }

    @Test(arguments: [
        "", "x", "localhost:10.0", "unix:1", "/tmp/socket:0", ":", ":x", ":1.", ":1.2.3", ":-1",
        ":4294967296", "tcp/host:1", ":1/../2",
    ])
    func `a display that is no local X server's is none`(_ name: String) {
        let display = DisplayEnvironment(["DISPLAY": name], runtimeFolder: Self.none)
        #expect(!display.isGraphical && display.server == nil)
        #expect(!display.words.contains { $0.hasPrefix("DISPLAY") })
    }

    @Test func `the user's bus and folder are where systemd has them, whatever a variable says`()
        throws
    {
        let folder = FileManager.default.temporaryDirectory.path + "/bus-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let named = [
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/tmp/evil", "XDG_RUNTIME_DIR": "/tmp/evil",
            "WAYLAND_DISPLAY": "/tmp/evil", "WAYLAND_SOCKET": "3", "LANG": "C",
        ]
        #expect(DisplayEnvironment(named, runtimeFolder: Self.none).words == ["LANG=C"])
        #expect(FileManager.default.createFile(atPath: folder + "/bus", contents: nil))
        #expect(
            DisplayEnvironment(named, runtimeFolder: folder).words.sorted() == [
                "DBUS_SESSION_BUS_ADDRESS=unix:path=\(folder)/bus", "LANG=C",
                "XDG_RUNTIME_DIR=\(folder)",
            ])
    }

    @Test func `a dialog that the user's bus shows is no window of the pinentry's`() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/bus-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(FileManager.default.createFile(atPath: folder + "/bus", contents: nil))
        let display = DisplayEnvironment(["DISPLAY": ":1"], runtimeFolder: folder)
        for program in PinentryProgram.candidates(for: display) {
            #expect(
                program.drawsWindows
                    == ["pinentry-qt", "pinentry-gtk-2"].contains { program.path.hasSuffix($0) })
        }
    }

    @Test func `no display means no window`() {
        let display = DisplayEnvironment(
            ["DISPLAY": "", "LANG": "C.UTF-8"], runtimeFolder: Self.none)
        #expect(!display.isGraphical)
        let windows = PinentryProgram.candidates(for: display).filter { !$0.needsTerminal }
        #expect(windows.isEmpty)
        #expect(!PinentryDialog.hasWindow(display))
        #expect(throws: PinentryError.notShown) {
            _ = try PinentryDialog.open(display, inOwnWindow: true)
        }
    }

    @Test func `a locale is always named`() {
        #expect(DisplayEnvironment([:], runtimeFolder: Self.none).characterSet == "C.UTF-8")
        let french = DisplayEnvironment(["LC_ALL": "fr_FR.UTF-8"], runtimeFolder: Self.none)
        #expect(french.words == ["LC_ALL=fr_FR.UTF-8"])
    }
}
