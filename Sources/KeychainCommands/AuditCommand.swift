// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import Glibc
internal import Terminal

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Show what was asked of the keychain service, and by whom.",
        discussion: """
            For root, who alone may read the records. Reads that needed no question are counted for \
            some seconds and recorded together. With --json each record is one line, as it was \
            written.
            """)

    private static let pause: UInt32 = 250_000

    @OptionGroup var filter: AuditFilter
    @Flag(help: "Go on with what is recorded from now on, until interrupted.")
    var follow = false
    @Option(help: "The folder that the keychain service was given with --state.")
    var state = "/var/lib/keychain"
    @OptionGroup var output: OutputOptions

    func run() throws {
        do throws(CommandFailure) { try show() } catch {
            var failure = error
            failure.asJSON = output.json
            throw failure
        }
    }

    private func show() throws(CommandFailure) {
        var trail = try AuditTrail(folder: state)
        if !output.json { StandardStream.output.write(AuditTable.header) }
        var unreadable = 0
        while true {
            while let lines = try trail.next() {
                for line in lines {
                    guard let record = AuditRecord(line) else {
                        unreadable += 1
                        continue
                    }
                    guard !filter.matches(record) || write(record, line) else { return }
                }
            }
            guard follow else { break }
            usleep(Self.pause)
        }
        // One that is still being written is no damage.
        for line in trail.unfinished {
            if let record = AuditRecord(line), filter.matches(record) { _ = write(record, line) }
        }
        if unreadable > 0 { Self.complain(of: unreadable) }
    }

    /// False once the output is not read any more.
    private func write(_ record: AuditRecord, _ line: [UInt8]) -> Bool {
        let text =
            output.json
            ? PlainText.json(String(decoding: line, as: UTF8.self)) + "\n" : AuditTable.row(record)
        return StandardStream.output.write(text)
    }

    private static func complain(of lines: Int) {
        StandardStream.error.write(
            "keychainctl: \(lines) lines are no records and were left out\n")
    }
}
