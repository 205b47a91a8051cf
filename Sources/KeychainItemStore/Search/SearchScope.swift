// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// Whose items a search looks at. What lies outside does not exist for it.
package enum SearchScope: Sendable {
    case groups([String])
    /// Items of other groups whose list names the program.
    case trusting(Caller.Identity, besides: [String])
    /// Items of other groups that have a list, whichever programs are in it.
    case askable(besides: [String])

    func contains(_ record: AttributeRecord) -> Bool {
        switch self {
        case .groups(let groups): groups.firstSame(as: record.group) != nil
        case .trusting(let program, let groups):
            record.trusted?.names(program) == true && groups.firstSame(as: record.group) == nil
        case .askable(let groups):
            record.trusted != nil && groups.firstSame(as: record.group) == nil
        }
    }

    /// Where the index is asked.
    var places: [BlindIndex.Place] {
        switch self {
        case .groups(let groups): groups.map(BlindIndex.Place.group)
        case .trusting(let program, _):
            program.identifier.map { [.listing($0)] } ?? []
        case .askable: [.anyList]
        }
    }
}

extension AttributeRecord {
    /// Where the index proposes the item.
    var places: [BlindIndex.Place] {
        guard let trusted else { return [.group(group)] }
        return [.group(group), .anyList] + trusted.applications.map { .listing($0.identity) }
    }
}
