// SPDX-License-Identifier: Apache-2.0

/// Selects the lines to keep where there is no room for all users' lines: each user's newest, up to
/// a share. The part of a share that a user leaves free goes to the others. Root's and the daemon's
/// own lines are those of user 0.
struct AuditShares {
    private static let mark = Array(",\"user\":".utf8)

    private let bytes: [UInt8]
    /// The lines with their ends, in order.
    private let lines: [(place: Range<Int>, user: UInt32?)]

    init(lines bytes: [UInt8]) {
        self.bytes = bytes
        var lines: [(place: Range<Int>, user: UInt32?)] = []
        var start = 0
        // Safe: an index of these bytes.
        for end in bytes.indices where bytes[end] == UInt8(ascii: "\n") {
            // Safe: both ends are indices, the first not behind the second.
            lines.append((start..<end + 1, Self.user(bytes[start..<end])))
            start = end + 1
        }
        self.lines = lines
    }

    /// The lines that are kept, in their order.
    func kept(within room: Int) -> [UInt8] {
        var left = shares(within: room)
        var kept: [Range<Int>] = []
        for line in lines.reversed() {
            let share = left[line.user, default: 0]
            // An older line must not take room that was too small for a newer one.
            left[line.user] = share >= line.place.count ? share - line.place.count : 0
            if share >= line.place.count { kept.append(line.place) }
        }
        // Safe: each place was made of indices of these bytes.
        return kept.reversed().flatMap { bytes[$0] }
    }

    /// Bytes for each user: all of a user's where they fit, else the same number for all users who
    /// have more.
    private func shares(within room: Int) -> [UInt32?: Int] {
        var sizes: [UInt32?: Int] = [:]
        for line in lines { sizes[line.user, default: 0] += line.place.count }
        var shares: [UInt32?: Int] = [:]
        var left = room
        for (position, entry) in sizes.sorted(by: { $0.value < $1.value }).enumerated() {
            let share = min(entry.value, left / (sizes.count - position))
            shares[entry.key] = share
            left -= share
        }
        return shares
    }

    /// The number behind the line's own `user` key. No text within the line can imitate the key, as
    /// a text's quotes are escaped with a backslash. nil for a line that is no record.
    private static func user(_ line: ArraySlice<UInt8>) -> UInt32? {
        guard var place = line.indices.last(where: { line[$0...].starts(with: mark) }) else {
            return nil
        }
        place += mark.count
        let digits = line[place...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return UInt32(String(decoding: digits, as: UTF8.self))
    }
}
