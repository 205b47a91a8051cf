// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

/// What every command takes.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Write JSON, errors too.")
    var json = false
}

/// A command that has done its work and has nothing else to say.
struct DoneRecord: Encodable {
    let done = true
    /// How many items it concerned, where it concerned items.
    var count: Int?
    private enum CodingKeys: CodingKey { case done, count }
}
