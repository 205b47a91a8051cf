// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainModel

/// A query, and the items it found where those are few enough to be kept.
struct Reading {
    var query: ItemQuery
    let groups: GroupScope
    var found: [SealedItem]?
    private let program: Caller.Identity
    /// Items that the user lets the program have for now.
    private var allowed: Set<ItemReference>

    init(
        _ query: ItemQuery, groups: GroupScope, _ caller: Caller, allowed: [ItemReference]
    ) {
        self.query = query
        self.groups = groups
        program = caller.identity
        self.allowed = Set(allowed)
    }

    /// How the program comes to know of items, and what a search does to them besides.
    var refine: (inout Judging) -> Void {
        { [self] judging in
            judging.admission = { trusts($0) ? .trusted : .none }
            guard query.limit != 1 else { return }
            judging.also = { [judging] item in judging.isOwn(item) ? [] : [judging.listing(item)] }
        }
    }

    /// The item that the user has just let the program have.
    mutating func admit(_ item: SealedItem) {
        allowed.insert(item.reference)
        found = [item]
    }

    /// Whether an item of another program's is open to this one.
    func trusts(_ item: SealedItem) -> Bool {
        guard query.accessGroup == nil, let list = item.trusted,
            !groups.all.contains(where: { $0.utf8.elementsEqual(item.accessGroup.utf8) })
        else { return false }
        return allowed.contains(item.reference) || list.names(program)
    }

    /// Where to look: into groups, then among items that let the program in. A query that names a
    /// group wants none of the others.
    var searches: [(query: ItemQuery, scope: SearchScope)] {
        var searches = [(query, SearchScope.groups(groups.all))]
        guard query.accessGroup == nil, program.identifier != nil else { return searches }
        searches.append((query, .trusting(program, besides: groups.all)))
        guard !allowed.isEmpty else { return searches }
        var some = query
        some.references = (query.references ?? Array(allowed)).filter(allowed.contains)
        searches.append((some, .askable(besides: groups.all)))
        return searches
    }
}
