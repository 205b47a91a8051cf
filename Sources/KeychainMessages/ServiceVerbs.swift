// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

package struct Status: Verb {
    package typealias Answer = ServiceStatus
    package static let number: UInt16 = 5

    package init() {}

    package var auditName: AuditName { .status }

    package func encode(into message: inout MessageWriter) {}

    package init(_ message: inout MessageReader) throws(MalformedBytes) {}

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (ServiceStatus) throws(RequestError) -> Void
    ) throws(RequestError) -> ServiceStatus {
        try handler.handle(self, for: client)
    }
}

/// The policies that are in force; `reload` reads them again first, and is root's to ask for.
package struct Policies: Verb {
    package typealias Answer = String
    package static let number: UInt16 = 14

    package let reload: Bool

    package init(reload: Bool) {
        self.reload = reload
    }

    package var auditName: AuditName { reload ? .reloadPolicies : .status }

    package func encode(into message: inout MessageWriter) {
        message.append(reload)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        reload = try message.flag()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (String) throws(RequestError) -> Void
    ) throws(RequestError) -> String {
        try handler.handle(self, for: client)
    }
}

/// Asks the user for what meets the constraint, in the name of the request's context.
package struct Authenticate: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 11

    package let constraint: Constraint

    package init(_ constraint: Constraint) {
        self.constraint = constraint
    }

    package var auditName: AuditName { .authenticate }
    package var grantRecord: GrantRecord { .whereProven }

    package func encode(into message: inout MessageWriter) {
        constraint.encode(into: &message)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        constraint = try message.value()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}

package struct ReadCapabilities: Verb {
    package typealias Answer = Capabilities
    package static let number: UInt16 = 12

    package init() {}

    package var auditName: AuditName { .status }

    package func encode(into message: inout MessageWriter) {}

    package init(_ message: inout MessageReader) throws(MalformedBytes) {}

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (Capabilities) throws(RequestError) -> Void
    ) throws(RequestError) -> Capabilities {
        try handler.handle(self, for: client)
    }
}

/// What was proven in the request's context is forgotten.
package struct EndContext: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 13

    package init() {}

    package var auditName: AuditName { .status }

    package func encode(into message: inout MessageWriter) {}

    package init(_ message: inout MessageReader) throws(MalformedBytes) {}

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}
