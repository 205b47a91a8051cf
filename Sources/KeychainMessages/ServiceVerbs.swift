// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// A verb without parameters.
package protocol BareVerb: Verb { init() }

extension BareVerb {
    package var auditName: AuditName { .status }
    package func encode(into message: inout MessageWriter) {}
    package init(_ message: inout MessageReader) throws(MalformedBytes) { self.init() }
}

package struct Status: BareVerb {
    package typealias Answer = ServiceStatus
    package static let number: UInt16 = 5

    package init() {}

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (ServiceStatus) throws(RequestError) -> Void
    ) throws(RequestError) -> ServiceStatus {
        try handler.handle(self, for: client)
    }
}

/// Reports the policies in force, and the facts that the service knows for them.
package struct Policies: Verb {
    package typealias Answer = String
    package static let number: UInt16 = 14

    /// `reload` first reads the policies again, and is root's alone. `facts` are those of a process
    /// of the asking user, `lastDenied` is the record of that user's last refused request; root may
    /// ask for those of all users.
    package enum Question: UInt8, Sendable { case report, reload, facts, lastDenied }
    package let question: Question
    package let process: UInt32

    package init(_ question: Question, of process: UInt32 = 0) {
        (self.question, self.process) = (question, process)
    }

    package var auditName: AuditName { question == .reload ? .reloadPolicies : .status }

    package func encode(into message: inout MessageWriter) {
        message.append(question)
        if question == .facts { message.bytes.append(number: process) }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        question = try message.raw()
        process = question == .facts ? try message.bytes.number(UInt32.self) : 0
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (String) throws(RequestError) -> Void
    ) throws(RequestError) -> String {
        try handler.handle(self, for: client)
    }
}

/// Asks the user for proofs that meet the constraint, for the request's context.
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

package struct ReadCapabilities: BareVerb {
    package typealias Answer = Capabilities
    package static let number: UInt16 = 12

    package init() {}

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (Capabilities) throws(RequestError) -> Void
    ) throws(RequestError) -> Capabilities {
        try handler.handle(self, for: client)
    }
}

/// Forgets the proofs given in the request's context.
package struct EndContext: BareVerb {
    package typealias Answer = Done
    package static let number: UInt16 = 13

    package init() {}

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}
