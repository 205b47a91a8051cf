// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// What can be seen of a keychain's file before SQLite opens it.
///
/// Asked by name: opening and closing the file here would drop SQLite's locks on it.
enum FileCheck {
    static func check(_ path: String) throws(KeychainStoreError) {
        let facts: [FileAttributeKey: Any]
        do {
            facts = try FileManager.default.attributesOfItem(atPath: path)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            throw .noSuchFile
        } catch { throw .inputOutput(0) }
        guard facts[.type] as? FileAttributeType == .typeRegular,
            let size = (facts[.size] as? NSNumber)?.intValue
        else { throw .damaged }
        // SQLite fills up a last page that is not whole. What it would read there was never
        // written, unless the log of a crash still holds that page.
        let isWhole = size > 0 && size % KeychainSchema.pageBytes == 0
        guard isWhole || FileManager.default.fileExists(atPath: path + "-wal") else {
            throw .damaged
        }
    }
}
