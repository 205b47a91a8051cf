// SPDX-License-Identifier: Apache-2.0
import KeychainDatabase

@testable import KeychainItemStore

/// Writes into a keychain's file through a connection of the product's. What another program would do
/// to the file, tests do through GRDB.
func edit(_ path: String, _ body: (Connection) throws -> Void) throws {
    try body(KeychainSchema.connect(path, .writing))
}

/// The answer to a query, or a pragma, that has one number.
func number(_ query: String, _ connection: Connection) throws -> Int64? {
    try connection.first(query) { $0.integer(0) }
}

func text(_ query: String, _ connection: Connection) throws -> String? {
    try connection.first(query) { $0.text(0) }
}
