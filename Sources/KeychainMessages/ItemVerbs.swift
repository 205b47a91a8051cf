// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

package struct Add: Verb {
    package typealias Answer = Item
    package static let number: UInt16 = 1

    package let item: NewItem
    package let secret: HeldSecret?
    /// What the answer carries of the new item.
    package let parts: ReturnFields

    package init(_ item: NewItem, secret: HeldSecret?, returning parts: ReturnFields) {
        self.item = item
        self.secret = secret
        self.parts = parts
    }

    package var auditName: AuditName { .add }

    package func encode(into message: inout MessageWriter) {
        item.encode(into: &message)
        message.append(secret)
        message.append(parts)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        item = try message.value()
        secret = try message.optionalSecret()
        parts = ReturnFields(rawValue: try message.bytes.byte())
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Item) throws(RequestError) -> Void
    ) throws(RequestError) -> Item {
        try handler.handle(self, for: client)
    }
}

package struct CopyMatching: Verb {
    package typealias Answer = [Item]
    package static let number: UInt16 = 2

    package let query: ItemQuery

    package init(_ query: ItemQuery) {
        self.query = query
    }

    package var auditName: AuditName { .copyMatching }

    package func encode(into message: inout MessageWriter) {
        query.encode(into: &message)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        query = try message.value()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: ([Item]) throws(RequestError) -> Void
    ) throws(RequestError) -> [Item] {
        try handler.handle(self, for: client, emit: emit)
    }
}

/// Answered with the number of items that were changed.
package struct Update: Verb {
    package typealias Answer = Int
    package static let number: UInt16 = 3

    package let query: ItemQuery
    package let change: ItemChange
    package let secret: HeldSecret?

    package init(_ query: ItemQuery, _ change: ItemChange, secret: HeldSecret?) {
        self.query = query
        self.change = change
        self.secret = secret
    }

    package var auditName: AuditName { .update }

    package func encode(into message: inout MessageWriter) {
        query.encode(into: &message)
        change.encode(into: &message)
        message.append(secret)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        query = try message.value()
        change = try message.value()
        secret = try message.optionalSecret()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Int) throws(RequestError) -> Void
    ) throws(RequestError) -> Int {
        try handler.handle(self, for: client)
    }
}

/// Answered with the number of items that were deleted.
package struct Delete: Verb {
    package typealias Answer = Int
    package static let number: UInt16 = 4

    package let query: ItemQuery

    package init(_ query: ItemQuery) {
        self.query = query
    }

    package var auditName: AuditName { .delete }

    package func encode(into message: inout MessageWriter) {
        query.encode(into: &message)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        query = try message.value()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Int) throws(RequestError) -> Void
    ) throws(RequestError) -> Int {
        try handler.handle(self, for: client)
    }
}

/// Bytes of what a request may carry.
package enum RequestLimits {
    /// One item's secret.
    package static let largestSecret = 32 * 1024 * 1024
    package static let longestPassword = 1024
}
