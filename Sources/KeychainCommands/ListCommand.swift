// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel
internal import Terminal

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show items without their secrets.",
        discussion: """
            All of them, or those of a class or a name. Items that ask for the user's presence ask \
            for it here too, once for all of them; with --no-prompt they are left out.
            """,
        aliases: ["ls"])

    @OptionGroup var wanted: QueryOptions

    @Flag(help: "Show all that there is to know of each item.")
    var long = false

    func validate() throws { try wanted.selection.checkWords() }

    func run() throws {
        let items = try ListedItems(wanted.selection).matching(to: "list the items")
        // Scripts that name a class read the long form.
        let isLong = long || (wanted.selection.kind != nil && !StandardStream.output.isTerminal)
        ItemListing(items, asJSON: wanted.output.json, isLong: isLong).write()
    }
}

/// Items for a person at a terminal, for a pipe, or as JSON.
struct ItemListing {
    let items: [Item]
    let asJSON: Bool
    let isLong: Bool

    init(_ items: [Item], asJSON: Bool, isLong: Bool = false) {
        self.items = items
        self.asJSON = asJSON
        self.isLong = isLong
    }

    func write() {
        let output = StandardStream.output
        if asJSON { return JSONOutput.write(["items": items.map { ItemRecord($0) }]) }
        if isLong {
            for item in items { output.write(ItemRecord(item).text) }
        } else if output.isTerminal {
            output.write(table.text(TextStyle(output)))
        } else {
            for item in items { output.write(line(item)) }
        }
    }

    /// The class, the name and the label, with a tab between.
    private func line(_ item: Item) -> String {
        let record = ItemRecord(item)
        let label = record.label ?? ""
        return [record.class, ItemName(item).text, label].map(PlainText.line)
            .joined(separator: "\t") + "\n"
    }

    private var table: TextTable {
        var table = TextTable(["NAME", "LABEL", "CLASS", "KEYCHAIN", "CHANGED"])
        for item in items {
            let record = ItemRecord(item)
            let name = ItemName(item).text
            let label = record.label.flatMap { $0 == name ? nil : $0 }
            table.add([
                name.isEmpty ? "-" : name, label ?? "-", record.class,
                record.keychain ?? KeychainName.login.description,
                String((record.modified ?? record.created ?? "-").prefix(10)),
            ])
        }
        return table
    }
}

extension ItemRecord {
    var label: String? {
        guard case .string(let text)? = attributes["label"]?.value, !text.isEmpty else {
            return nil
        }
        return text
    }
}
