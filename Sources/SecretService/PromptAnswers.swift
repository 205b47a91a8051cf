// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import MessageBus

/// Does what a prompt was offered for, which takes as long as the user takes.
struct PromptAnswers {
    let scope: Scope

    func result(of work: PromptTask.Work) -> PromptResult {
        guard !isCancelled else { return work.dismissed }
        do throws(ServiceError) {
            switch work {
            case .unlock(let targets): return unlock(targets) ?? work.dismissed
            case .createCollection(let label, let alias):
                return try createCollection(label, alias)
            case .deleteCollection(let place):
                _ = try scope.send(DeleteKeychain(keychain: place.name), asking: true)
                return PromptResult(
                    isDismissed: false, signature: "s", value: .text(""),
                    effects: [.collection(place, .deleted)])
            case .deleteItem(let item, let place):
                let group = scope.groupToTell(of: item, in: place)
                try scope.items(in: place).delete(item, asking: true)
                return PromptResult(
                    isDismissed: false, signature: "s", value: .text(""),
                    effects: [.item(item, .deleted, in: place, of: group)])
            }
        } catch { return work.dismissed }
    }

    /// One question for each keychain, and one for all items of an open one; nil where nothing came
    /// open. Of a stand-in that no item matches its collection comes open all the same.
    private func unlock(_ targets: [UnlockTarget]) -> PromptResult? {
        var opened: Set<UnlockTarget.Object> = []
        var done: Set<Scope.Place> = []
        var effects: [Effect] = []
        for place in targets.map(\.object.place) where done.insert(place).inserted {
            guard !isCancelled else { break }
            let wasLocked = (try? scope.facts(of: place))?.isLocked ?? true
            guard !wasLocked || unlock(place) else { continue }
            opened.insert(.collection(place))
            if wasLocked { effects.append(.collection(place, .locked(false))) }
            let items = items(of: targets, in: place)
            guard !items.isEmpty, !isCancelled else { continue }
            let open = scope.items(in: place).unlock(items, unless: { isCancelled })
            for item in open {
                opened.insert(.item(item, place))
                guard !wasLocked else { continue }
                effects.append(
                    .item(item, .locked(false), in: place, of: scope.groupOfProgram))
            }
        }
        let open = targets.filter { opened.contains($0.object) }
        guard !open.isEmpty || !effects.isEmpty else { return nil }
        return PromptResult(
            isDismissed: false, signature: "ao", value: .paths(open.map(\.spelled)),
            effects: effects)
    }

    private var isCancelled: Bool { scope.cancellation?.isCancelled ?? false }

    private func items(of targets: [UnlockTarget], in place: Scope.Place) -> [ItemName] {
        var seen: Set<ItemName> = []
        return targets.compactMap { target in
            guard case .item(let item, place) = target.object, seen.insert(item).inserted else {
                return nil
            }
            return item
        }
    }

    private func unlock(_ place: Scope.Place) -> Bool {
        guard case .keychain(let name) = place else { return true }
        return (try? scope.send(Unlock(keychain: name, password: nil), asking: true)) != nil
    }

    private func createCollection(
        _ label: String, _ alias: String
    ) throws(ServiceError) -> PromptResult {
        var taken = Set(try scope.collections().map(\.place.name) + Self.reserved)
        let isLogin = alias == "default" && !taken.contains("login")
        func newName() throws(ServiceError) -> String {
            isLogin ? "login" : try Self.name(for: label, without: taken)
        }
        var name = try newName()
        while try !create(name) {
            // A deleted keychain that can be restored has the name.
            guard taken.insert(name).inserted else { throw .failed }
            name = try newName()
        }
        let place = Scope.Place.keychain(name)
        if !label.isEmpty, label != name {
            var change = KeychainSettingsChange()
            change.label = label
            _ = try? scope.send(ChangeSettings(keychain: name, change))
        }
        // The collection is there, whatever becomes of its alias.
        if alias == "default", !isLogin {
            _ = try? scope.send(Preferences(.defaultKeychain(name)), asking: true)
        } else if !alias.isEmpty, alias != "default" {
            _ = try? scope.send(Preferences(.alias(alias, keychain: name)), asking: true)
        }
        return PromptResult(
            isDismissed: false, signature: "o", value: .path(place.path),
            effects: [.collection(place, .created)])
    }

    /// False where no new keychain can have the name, of which the user was not asked.
    private func create(_ name: String) throws(ServiceError) -> Bool {
        let verb = CreateKeychain(name: name, password: nil, asks: true)
        do throws(ServiceError) { _ = try scope.send(verb, asking: true) } catch {
            guard error == .nameTaken else { throw error }
            return false
        }
        return true
    }

    private static let reserved = ["session", "system"]

    /// A keychain's name made of a label: letters and digits stay.
    static func name(for label: String, without taken: Set<String>) throws(ServiceError) -> String {
        let wanted = String(
            decoding: label.utf8.prefix(48).map {
                CollectionName.isPlain($0) ? $0 : UInt8(ascii: "_")
            }, as: UTF8.self)
        let stem = wanted.isEmpty ? "collection" : wanted
        // `login` is made by a login, and by the alias `default`.
        if !taken.contains(stem), stem != "login" { return stem }
        for number in 1...1000 where !taken.contains("\(stem)_\(number)") {
            return "\(stem)_\(number)"
        }
        throw .limitsExceeded
    }
}
