// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import MessageBus

/// The programs that call.
extension Bridge {
    /// nil where there is no room for one more.
    func peer(_ name: String) -> Peer? {
        if let known = peers[name] {
            known.lastCall = .now
            guard known.isDormant else { return known }
            guard makeRoom() else { return nil }
            introduce(known)
            return known
        }
        guard makeRoom() else { return nil }
        let peer = Peer(name, serial: nextNumber(), mayAsk: keychains.mayAsk)
        peers[name] = peer
        introduce(peer)
        return peer
    }

    private func makeRoom() -> Bool {
        peers.values.count { !$0.isDormant } < Limits.peers || letOneGo()
    }

    /// The one that has called least lately, and for which nothing is done: it is introduced anew.
    private func letOneGo(where isMeant: (Peer) -> Bool = { _ in true }) -> Bool {
        let meant = peers.values.filter { peer in
            guard case .known = peer.state else { return false }
            return peer.callsUnderWay == 0 && !peer.isPrompting && isMeant(peer)
        }
        guard let oldest = meant.min(by: { $0.lastCall < $1.lastCall }) else { return false }
        letGo(oldest)
        return true
    }

    /// The keychain lets its process go; its sessions and prompts stay.
    func letGo(_ peer: Peer) {
        peer.dropUnusedPrompts()
        guard !peer.sessions.isEmpty || !peer.prompts.isEmpty else { return forget(peer) }
        endIntroduction(of: peer)
        peer.state = .dormant
        peer.introduction = nextNumber()
        forgetOneDormant(beyond: Limits.dormantPeersOfGroup) { $0.isOf(peer.group) }
        forgetOneDormant(beyond: Limits.dormantPeers) { _ in true }
    }

    private func forgetOneDormant(beyond most: Int, where isMeant: (Peer) -> Bool) {
        let dormant = peers.values.filter { $0.isDormant && isMeant($0) }
        guard dormant.count > most,
            let oldest = dormant.min(by: { $0.lastCall < $1.lastCall })
        else { return }
        forget(oldest)
    }

    /// It takes its calls, questions and sessions along.
    func forget(_ peer: Peer) {
        peers[peer.name] = nil
        dropHeld(of: peer)
        for prompt in peer.prompts.values { prompt.cancellation.cancel() }
        for call in calls.values where call.peer === peer {
            call.cancellation.cancel()
            questions.drop(call.number)
            _ = end(call)
        }
        endIntroduction(of: peer)
    }

    private func endIntroduction(of peer: Peer) {
        guard case .known(let introduced) = peer.state, keychains.tellsPeersApart else { return }
        let keychains = keychains
        quick.submit { keychains.forget(introduced) }
    }

    // MARK: Introduction

    private func introduce(_ peer: Peer) {
        guard keychains.tellsPeersApart else {
            peer.state = .known(IntroducedPeer(handle: 0, groups: []))
            return
        }
        peer.state = .unknown
        let (name, number) = (peer.name, nextNumber())
        peer.introduction = number
        ask("GetConnectionCredentials", [.text(name)]) { [weak peer] reply in
            guard let peer, peer.introduction == number else { return }
            let credentials = try? ConnectionCredentials(reply)
            if let process = credentials?.process {
                return self.introduce(peer, as: process, heardOf: nil)
            }
            guard let id = credentials?.processID, let process = ProcessDescriptor.open(id) else {
                return self.refuse(peer, .accessDenied)
            }
            // A number may be another process's by now, which began after the connection was heard of:
            // the keychain refuses that one. A name that is gone needs no introduction.
            self.ask("NameHasOwner", [.text(name)]) { [weak peer] reply in
                guard let peer, peer.introduction == number else { return }
                guard (try? reply.bool()) == true else { return self.refuse(peer, .accessDenied) }
                self.introduce(peer, as: process, heardOf: self.heardOf(name))
            }
        }
    }

    private func introduce(_ peer: Peer, as process: Descriptor, heardOf: UInt64?) {
        let (name, number, keychains, inbox) = (peer.name, peer.introduction, keychains, inbox)
        quick.submit {
            let result: Result<IntroducedPeer, RequestError>
            do throws(RequestError) {
                result = .success(try keychains.introduce(process, heardOf: heardOf))
            } catch { result = .failure(error) }
            inbox.post { $0.introduced(name, number, result) }
        }
    }

    private func introduced(
        _ name: String, _ number: UInt64, _ result: Result<IntroducedPeer, RequestError>
    ) {
        guard let peer = peers[name], peer.introduction == number else {
            guard case .success(let introduced) = result else { return }
            let keychains = keychains
            return quick.submit { keychains.forget(introduced) }
        }
        switch result {
        case .success(let introduced):
            // However many connections it makes, one program leaves room for all others; programs that
            // can't be told apart are one program here.
            let hasRoom = hasRoom(in: introduced.group)
            peer.state = .known(introduced)
            guard hasRoom else { return refuse(peer, .limitsExceeded) }
            proceed(peer)
            tellItems(to: peer)
        case .failure(let error):
            if case .refused = error { return refuse(peer, .accessDenied) }
            refuse(peer, .failed)
        }
    }

    /// All programs that can't be told apart share the room of one group.
    private func hasRoom(in group: String?) -> Bool {
        peers.values.count { peer in
            guard case .known(let other) = peer.state else { return false }
            return other.group == group
        } < Limits.peersOfGroup || letOneGo { $0.isOf(group) }
    }

    /// Its next call has it introduced again.
    private func refuse(_ peer: Peer, _ error: ServiceError) {
        let waiting = peer.waiting
        peer.waiting = []
        for call in waiting { answer(call, .failure(error)) }
        // The process is gone, or another's.
        if error == .accessDenied { forget(peer) } else { letGo(peer) }
    }
}

/// What a bus says of a connection.
struct ConnectionCredentials {
    var processID: Int32?
    /// The process itself, where the bus is new enough. A reply with any other descriptor can't be
    /// read.
    var process: Descriptor?

    init(_ reply: BusMessage) throws(BusReadError) {
        var (id, process): (Int32?, Descriptor?) = (nil, nil)
        try reply.each("{sv}") { () throws(BusReadError) in
            try reply.entry("sv") { () throws(BusReadError) in
                let name = try reply.text(atMost: Limits.name)
                switch (name, try reply.variantSignature()) {
                case ("ProcessID", "u"):
                    id = Int32(
                        clamping: try reply.variant("u") { () throws(BusReadError) in
                            try reply.uint32()
                        })
                case ("ProcessFD", "h"):
                    process = try reply.variant("h") { () throws(BusReadError) in
                        try reply.process()
                    }
                default: try reply.skip("v")
                }
            }
        }
        processID = id
        self.process = process
    }
}
