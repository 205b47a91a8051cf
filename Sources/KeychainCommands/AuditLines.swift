// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// The lines of one file, as far as it has been written.
struct AuditLines {
    /// Longer ones are passed over.
    private static let longestLine = 64 * 1024
    private static let chunk = 256 * 1024
    private static let lineEnd = UInt8(ascii: "\n")

    /// Which file it is, whatever it is called now.
    let place: FileIdentity
    /// What stands behind the last line end.
    private(set) var rest: [UInt8] = []
    private var isTooLong = false
    private var offset: UInt64 = 0
    private let path: String
    private let file: PieceFile

    /// nil where there is no such file.
    init?(_ path: String) throws(CommandFailure) {
        while let place = FileIdentity(path) {
            let file: PieceFile
            do { file = try PieceFile(reading: path) } catch {
                if error == .system(PrivateFile.notFound) { return nil }
                throw CommandFailure(unreadable: path, error)
            }
            // Otherwise another file took its name in between.
            guard FileIdentity(path) == place else { continue }
            self.place = place
            self.path = path
            self.file = file
            return
        }
        return nil
    }

    /// Lines without their ends; nil at the end of what has been written.
    mutating func next() throws(CommandFailure) -> [[UInt8]]? {
        let more: [UInt8]
        do { more = try file.read(at: offset, count: Self.chunk) } catch {
            throw CommandFailure(unreadable: path, error)
        }
        guard !more.isEmpty else { return nil }
        offset += UInt64(more.count)
        var pieces = (rest + more).split(separator: Self.lineEnd, omittingEmptySubsequences: false)
        rest = pieces.popLast().map(Array.init) ?? []
        if isTooLong, !pieces.isEmpty {
            pieces.removeFirst()
            isTooLong = false
        }
        if rest.count > Self.longestLine {
            rest = []
            isTooLong = true
        }
        return pieces.filter { !$0.isEmpty && $0.count <= Self.longestLine }.map(Array.init)
    }
}

extension CommandFailure {
    init(unreadable path: String, _ error: SystemError) {
        guard error == .system(PrivateFile.notAllowed) else {
            self.init(
                .failure, name: "inputOutput", "\(path) could not be read",
                advice: "Is it a file, and is the disk sound?")
            return
        }
        self.init(
            .refused, name: "notPermitted", "only root may read the audit records in \(path)",
            advice: "Run it as root: sudo keychainctl audit")
    }
}
