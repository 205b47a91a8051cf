// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import MessageBus

/// Sessions, prompts and folders, of which the thread that has the connection knows all.
extension Bridge {
    /// nil for a call to anything else.
    func answerHere(_ call: Call) throws(ServiceError) -> Outcome? {
        switch call.object {
        case .folder(.session): return try introspect(call, call.peer.sessions.keys.sorted())
        case .folder(.prompt): return try introspect(call, call.peer.prompts.keys.sorted())
        case .session(let name):
            try own(call.peer, { $0.sessions[name] != nil })
            guard case .closeSession = call.request else { return try ofEvery(call) }
            call.peer.sessions[name] = nil
            return Outcome()
        case .prompt(let name):
            call.peer.dropUnusedPrompts()
            try own(call.peer, { $0.prompts[name].map { $0.state != .ended } ?? false })
            guard let prompt = call.peer.prompts[name] else { throw .gone }
            switch call.request {
            case .prompt(let window): begin(prompt, of: call.peer, over: window)
            case .dismiss: dismiss(prompt, of: call.peer)
            default: return try ofEvery(call)
            }
            return Outcome()
        case .service:
            guard case .introspect = call.request else { return nil }
            return try introspect(call, ObjectPath.Folder.allCases.map(\.rawValue))
        case .portal, .portalRequest: return try answerPortal(call)
        case .folder(.collection), .folder(.aliases), .collection, .item: return nil
        }
    }

    /// An object that is gone is told from another peer's.
    private func own(_ peer: Peer, _ has: (Peer) -> Bool) throws(ServiceError) {
        guard !has(peer) else { return }
        throw peers.values.contains(where: has) ? .accessDenied : .gone
    }

    private func ofEvery(_ call: Call) throws(ServiceError) -> Outcome {
        if case .getAll = call.request { return Outcome(.properties([])) }
        return try introspect(call, [])
    }

    func introspect(_ call: Call, _ children: [String]) throws(ServiceError) -> Outcome {
        guard case .introspect = call.request else { throw .unknownMethod }
        return Outcome(.text(Introspection.document(of: call.object, children: children)))
    }

    // MARK: Prompts

    func offer(_ task: PromptTask, to peer: Peer) throws(ServiceError) {
        peer.dropUnusedPrompts()
        guard peer.prompts.count < Limits.promptsOfPeer else { throw .limitsExceeded }
        peer.prompts[task.name] = Prompt(task)
    }

    /// The second time nothing changes.
    private func begin(_ prompt: Prompt, of peer: Peer, over window: XWindow?) {
        guard prompt.state == .offered, case .known(let introduced) = peer.state else { return }
        prompt.state = .asking
        prompt.begun = .now
        let answers = PromptAnswers(
            scope: scope(of: peer, as: introduced, nil, prompt.cancellation, over: window))
        let (inbox, peerName, task) = (inbox, peer.name, prompt.task)
        questions.ask(of: introduced.group, nil) {
            let result = answers.result(of: task.work)
            inbox.post { bridge in
                bridge.questions.end(introduced.group)
                guard let peer = bridge.peers[peerName] else {
                    return bridge.tell(result.effects)
                }
                bridge.end(task.name, of: peer, with: result)
            }
        }
    }

    private func dismiss(_ prompt: Prompt, of peer: Peer) {
        if prompt.state == .offered { prompt.begun = .now }
        prompt.state = .asking
        prompt.cancellation.cancel()
        end(prompt.task.name, of: peer, with: prompt.task.work.dismissed)
    }

    private func end(_ name: String, of peer: Peer, with result: PromptResult) {
        guard let prompt = peer.prompts[name], prompt.state == .asking else {
            // It was dismissed meanwhile, and what was done is done.
            return tell(result.effects)
        }
        prompt.state = .ended
        after(prompt.begun + Limits.beforeCompleted) { [weak peer] in
            guard let peer else { return self.tell(result.effects) }
            self.complete(prompt, of: peer, with: result)
            self.tell(result.effects)
        }
    }

    private func complete(_ prompt: Prompt, of peer: Peer, with result: PromptResult) {
        peer.prompts[prompt.task.name] = nil
        signal(
            prompt.task.path, .prompt, "Completed",
            [.bool(result.isDismissed), .variant(of: result.signature, result.value)],
            to: peer.name)
        sendHeld(to: peer)
    }
}
