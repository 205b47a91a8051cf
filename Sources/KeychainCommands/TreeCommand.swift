// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel
internal import Terminal

struct TreeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tree", abstract: "Show keychains, what is in them and whose it is.")

    @OptionGroup var wanted: QueryOptions

    func validate() throws { try wanted.selection.checkWords() }

    func run() throws {
        let items = try ListedItems(wanted.selection).matching(to: "list the items")
        if wanted.output.json { return ItemListing(items, asJSON: true).write() }
        StandardStream.output.write(ItemTree(items, in: wanted.keychain).text)
    }
}

/// Keychains, below them classes, below them what items are for, below that accounts.
struct ItemTree {
    /// In the order in which they came.
    private final class Node {
        let title: String
        var children: [Node] = []

        init(_ title: String) { self.title = title }

        func child(_ title: String) -> Node {
            if let known = children.first(where: { $0.title == title }) { return known }
            let new = Node(title)
            children.append(new)
            return new
        }
    }

    private let root = Node("")

    /// `keychain`: the one that was named, which answers then leave out.
    init(_ items: [Item], in keychain: String?) {
        let names = items.map { ($0, ItemName($0)) }.sorted { $0.1.text < $1.1.text }
        for kind in ItemKind.allCases {
            for (item, name) in names where ItemKind(item.reference.itemClass) == kind {
                let place = keychain ?? item.keychain ?? KeychainName.login.description
                let group = root.child(place).child(kind.rawValue)
                let text = name.text.isEmpty ? "without a name" : name.text
                guard let parts = name.parts, hasAccount(item) else {
                    group.children.append(Node(text))
                    continue
                }
                group.child(parts.place).children.append(Node(parts.account))
            }
        }
    }

    private func hasAccount(_ item: Item) -> Bool {
        if case .string(let text)? = item.attributes[.account] { return !text.contains("/") }
        return false
    }

    var text: String {
        root.children.map { PlainText.line($0.title) + "\n" + lines($0, "") }.joined()
    }

    private func lines(_ node: Node, _ margin: String) -> String {
        var text = ""
        for (number, child) in node.children.enumerated() {
            let isLast = number == node.children.count - 1
            text += margin + (isLast ? "└── " : "├── ") + PlainText.line(child.title) + "\n"
            text += lines(child, margin + (isLast ? "    " : "│   "))
        }
        return text
    }
}
