// SPDX-License-Identifier: Apache-2.0
import KeychainSecrets
@testable import KeyringStore
import Synchronization

/// A key for records, which is forgotten when a test says so.
final class RecordKeysOfTest: RecordKeys {
    private let key = Mutex<RecordKey?>(nil)

    var presentRecordKey: RecordKey? { key.withLock { $0 } }

    var recordKey: RecordKey {
        key.withLock { key in
            if let key { return key }
            let new = RecordKey(from: .random())
            key = new
            return new
        }
    }

    func forget() { key.withLock { $0 = nil } }
}
