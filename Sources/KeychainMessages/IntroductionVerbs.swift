// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// Introduces a program for which the deputy will send requests, by a descriptor of the program's
/// process (pidfd) beside the frame. No other message may bring a descriptor, and this one brings
/// exactly one.
package struct Introduce: Verb {
    package typealias Answer = RelayedPeer
    package static let number: UInt16 = 29

    /// When the deputy first heard of the program's connection, in nanoseconds of CLOCK_BOOTTIME;
    /// nil where the descriptor was made at the program's connect, and so can't be another
    /// process's.
    package let heardOf: UInt64?
    /// The application for whose secret the desktop's portal asks; nil for the program's own
    /// requests.
    package let application: PortalApplication?
    private static let (secretService, portal): (UInt8, UInt8) = (1, 2)

    package init(heardOf: UInt64?, for application: PortalApplication? = nil) {
        self.heardOf = heardOf
        self.application = application
    }

    package var auditName: AuditName { .introduce }
    package var grantRecord: GrantRecord { .never }

    package func encode(into message: inout MessageWriter) {
        message.append(heardOf != nil)
        if let heardOf { message.bytes.append(number: heardOf) }
        message.bytes.append(application == nil ? Self.secretService : Self.portal)
        if let application { message.append(application.name) }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        heardOf = try message.flag() ? try message.bytes.number(UInt64.self) : nil
        let way = try message.bytes.byte()
        application = way == Self.portal ? PortalApplication(try message.bytes.text()) : nil
        guard way == (application == nil ? Self.secretService : Self.portal) else {
            throw MalformedBytes()
        }
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (RelayedPeer) throws(RequestError) -> Void
    ) throws(RequestError) -> RelayedPeer {
        try handler.handle(self, for: client)
    }
}

/// A program for which the deputy may send requests.
package struct RelayedPeer: VerbAnswer, Equatable {
    /// Valid for this deputy alone.
    package let handle: UInt64
    /// The program's own access groups, first that of its new items; none where the program can't
    /// be identified.
    package let groups: [String]

    package init(handle: UInt64, groups: [String]) {
        self.handle = handle
        self.groups = groups
    }

    package func encode(into message: inout MessageWriter) {
        message.bytes.append(number: handle)
        message.bytes.append(count: groups.count)
        for group in groups { message.append(group) }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        handle = try message.bytes.number(UInt64.self)
        groups = try message.texts()
    }
}

/// Ends the deputy's requests for this peer.
package struct ForgetPeer: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 30

    package let peer: UInt64

    package init(_ peer: UInt64) { self.peer = peer }

    package var auditName: AuditName { .introduce }
    package var grantRecord: GrantRecord { .never }

    package func encode(into message: inout MessageWriter) { message.bytes.append(number: peer) }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        peer = try message.bytes.number(UInt64.self)
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}
