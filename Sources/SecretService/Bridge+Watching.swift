// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel

/// What is changed without this service: by keychainctl, a lock of the screen, a program on another bus.
extension Bridge {
    /// Seconds until a keychain that did not answer is asked again.
    private static let pause: UInt32 = 5

    /// On a thread of its own, which waits for the keychain. Where there is none, changes are not told.
    func watch() {
        _ = DetachedThread.start { [keychains, inbox] in
            var position: UInt64?
            var isFirst = true
            while true {
                do throws(RequestError) {
                    guard let heard = try keychains.changes(after: position) else { return }
                    let isComplete = heard.isComplete && (position != nil || isFirst)
                    (position, isFirst) = (heard.position, false)
                    if heard.changes.isEmpty, isComplete { continue }
                    inbox.post { $0.heard(heard.changes, isComplete: isComplete) }
                } catch {
                    position = nil
                    sleep(Self.pause)
                }
            }
        }
    }

    private func heard(_ changes: [KeychainChange], isComplete: Bool) {
        if !isComplete {
            toldLocks = [:]
            for place in Set(peers.values.flatMap(\.watched)) { tell(place, .replaced) }
        }
        for change in changes {
            let place = Scope.Place.keychain(change.keychain)
            switch change.event {
            case .created: tell(place, .created)
            case .deleted: tell(place, .deleted)
            case .locked(let isLocked): tell(place, .locked(isLocked))
            case .labelled(let label): tell(place, .labelled(label))
            case .replaced: tell(place, .replaced)
            case .item(let reference, let group, let event):
                let group = group == Scope.unidentified ? nil : group
                tell(ItemName(reference), event.told, place, toGroup: group)
            }
        }
    }
}

extension KeychainChange.ItemEvent {
    fileprivate var told: ItemEvent {
        switch self {
        case .added: .created
        case .changed: .changed
        case .deleted: .deleted
        }
    }
}
