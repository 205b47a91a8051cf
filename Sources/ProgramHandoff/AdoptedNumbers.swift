// SPDX-License-Identifier: Apache-2.0
internal import CStartRecord

/// The numbers, of users and groups alike, that users' folders are given to, and under which the
/// processes run that keep the users' keychains.
package enum AdoptedNumbers {
    /// Of no distribution's accounts, containers or directories (systemd's page on UIDs and GIDs).
    package static let range =
        KC_START_NUMBER_FIRST...(KC_START_NUMBER_FIRST + KC_START_NUMBERS - 1)

    /// Whether all of them exist here, by a uid_map(5): first inside, first outside, count. In a
    /// container they may not.
    package static func exist(in map: [UInt8]) -> Bool {
        String(decoding: map, as: UTF8.self).split(separator: "\n").contains { line in
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 3 else { return false }
            // Safe: the count was checked.
            let (first, count) = (numbers[0], numbers[2])
            return first <= UInt64(range.lowerBound)
                && UInt64(range.upperBound) - first < count
        }
    }
}
