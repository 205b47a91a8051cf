// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel

struct AccessAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Let programs read every item that matches.",
        discussion: """
            An item without a list gets one, so that its user is asked about other programs from \
            then on.
            """)

    @OptionGroup var wanted: QueryOptions
    @OptionGroup var named: ProgramOptions

    func validate() throws {
        try wanted.checkMeansSome(allowingAll: false)
        _ = try named.existing()
    }

    func run() throws { try wanted.change(.add(try named.existing())) }
}

struct AccessRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Let programs no longer read the items that match.",
        discussion: "What was allowed for a login session ends, too.")

    @OptionGroup var wanted: QueryOptions
    @OptionGroup var named: ProgramOptions

    func validate() throws {
        try wanted.checkMeansSome(allowingAll: false)
        _ = try named.identities()
    }

    func run() throws { try wanted.change(.remove(try named.identities())) }
}

struct AccessResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Take the list away from every item that matches.",
        discussion: "Then no other program is let in, and none is asked about.")

    @OptionGroup var wanted: QueryOptions

    func validate() throws { try wanted.checkMeansSome(allowingAll: false) }

    func run() throws { try wanted.change(.reset) }
}

extension QueryOptions {
    fileprivate func change(_ trust: TrustChange) throws {
        var change = ItemChange()
        change.trust = trust
        let task = "change the item's access"
        let count = try asked.ask(
            Update(try selection.changedItems(to: task), change, secret: nil), to: task)
        if output.json { JSONOutput.write(DoneRecord(count: count)) }
    }
}
