// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import MessageBus

/// What came of a call: its reply, and what changes for others.
struct Outcome: Sendable {
    let values: [BusValue]
    var effects: [Effect] = []

    init(_ values: BusValue..., effects: [Effect] = []) {
        self.values = values
        self.effects = effects
    }
}

/// What a call changes besides its answer.
enum Effect: Sendable {
    /// The client has one more session.
    case opened(TransferSession)
    /// The client has one more prompt.
    case offered(PromptTask)
    /// Told to the programs that own the group (`Scope.groupToTell`).
    case item(ItemName, ItemEvent, in: Scope.Place, of: String?)
    case collection(Scope.Place, CollectionEvent)
    /// The client was shown items.
    case listed([ItemName], in: Scope.Place)
    /// The client was shown a stand-in.
    case stood(ItemName, StandIn)
    /// The client has looked at the collection or at one of its items, and is told of changes from then
    /// on; with the items that it was told, where it asked for them.
    case showed(Scope.Place, items: [ItemName]?)
}

extension FoundItem {
    var effect: Effect? { standIn.map { .stood(item, $0) } }
}

enum ItemEvent: Sendable {
    case created
    case deleted
    /// With what is known of it now.
    case changed(label: String?, pairs: Attributes?)
    case locked(Bool)

    static let changed = ItemEvent.changed(label: nil, pairs: nil)

    /// The collection's signal.
    var member: String {
        switch self {
        case .created: "ItemCreated"
        case .deleted: "ItemDeleted"
        case .changed, .locked: "ItemChanged"
        }
    }
}

enum CollectionEvent: Sendable {
    case created
    case deleted
    case locked(Bool)
    case labelled(String)
    /// All of it may be other than before.
    case replaced
}

/// What a prompt does once it is asked to.
struct PromptTask: Sendable {
    enum Work: Sendable {
        /// As they were named, with what each names.
        case unlock([UnlockTarget])
        case createCollection(label: String, alias: String)
        case deleteCollection(Scope.Place)
        case deleteItem(ItemName, in: Scope.Place)
    }

    let name = RandomName.make()
    let work: Work

    var path: String { ObjectPath.prompt(name).description }
}

struct UnlockTarget: Sendable {
    enum Object: Hashable, Sendable {
        case collection(Scope.Place)
        case item(ItemName, Scope.Place)
    }

    let spelled: String
    let object: Object
}

extension UnlockTarget.Object {
    var place: Scope.Place {
        switch self {
        case .collection(let place), .item(_, let place): place
        }
    }

    var item: ItemName? {
        if case .item(let item, _) = self { item } else { nil }
    }
}

/// How a prompt ended.
struct PromptResult: Sendable {
    let isDismissed: Bool
    let signature: String
    let value: BusValue
    var effects: [Effect] = []
}

extension PromptTask.Work {
    /// Where the user said no, or was not asked.
    var dismissed: PromptResult {
        switch self {
        case .unlock: PromptResult(isDismissed: true, signature: "ao", value: .paths([]))
        case .createCollection:
            PromptResult(isDismissed: true, signature: "o", value: .path(ObjectPath.none))
        case .deleteCollection, .deleteItem:
            PromptResult(isDismissed: true, signature: "s", value: .text(""))
        }
    }
}
