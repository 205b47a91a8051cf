// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A TPM in software, in a process of its own, on two ports of the loopback.
final class SoftwareTPM {
    let folder: String
    private let port: UInt16
    private var process: Process?

    var address: String { "swtpm:host=127.0.0.1,port=\(port)" }

    /// Another folder is another TPM.
    init(folder: String? = nil) throws {
        self.folder = folder ?? NSTemporaryDirectory() + "keychain-tpm-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: self.folder, withIntermediateDirectories: true)
        port = UInt16.random(in: 20_000..<30_000) & ~1
        try start()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    func start() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/swtpm")
        process.arguments = [
            "socket", "--tpm2", "--tpmstate", "dir=\(folder)",
            "--server", "type=tcp,port=\(port),bindaddr=127.0.0.1,disconnect",
            "--ctrl", "type=tcp,port=\(port + 1),bindaddr=127.0.0.1",
            "--flags", "not-need-init,startup-clear",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        let deadline = Date(timeIntervalSinceNow: 10)
        while !Self.listens(port) {
            guard Date() < deadline, process.isRunning else { throw Failure.doesNotStart }
            usleep(20_000)
        }
    }

    func stop() {
        process?.terminate()
        process?.waitUntilExit()
        process = nil
    }

    /// What turning the machine off and on is to a TPM: its registers begin anew.
    func restart() throws {
        stop()
        try start()
    }

    /// What its owner does who clears it: everything it ever sealed is lost.
    func clear() throws { try tool("tpm2_clear", "-c", "p") }

    func extend(register: Int) throws {
        let digest = String(repeating: "ab", count: 32)
        try tool("tpm2_pcrextend", "\(register):sha256=\(digest)")
    }

    enum Failure: Error { case doesNotStart, tool(String, Int32) }

    private func tool(_ name: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/" + name)
        process.arguments = arguments + ["-T", address]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure.tool(name, process.terminationStatus)
        }
    }

    /// Looks, and does not knock: it serves one connection at a time.
    private static func listens(_ port: UInt16) -> Bool {
        let hex = String(port, radix: 16, uppercase: true)
        let padded = String(repeating: "0", count: 4 - hex.count) + hex
        let table = (try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)) ?? ""
        return table.contains("0100007F:\(padded) 00000000:0000 0A")
    }
}
