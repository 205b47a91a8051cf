// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Which file it is, whatever it is called.
struct FilePlace: Equatable, Sendable {
    private let device: Int
    private let number: Int

    init(_ path: String) throws(KeychainStoreError) {
        let facts: [FileAttributeKey: Any]
        do {
            // Asks by name: opening and closing the file here would drop SQLite's locks on it.
            facts = try FileManager.default.attributesOfItem(atPath: path)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            throw .noSuchFile
        } catch { throw .inputOutput(0) }
        guard facts[.type] as? FileAttributeType == .typeRegular,
            let device = (facts[.systemNumber] as? NSNumber)?.intValue,
            let number = (facts[.systemFileNumber] as? NSNumber)?.intValue
        else { throw .damaged }
        self.device = device
        self.number = number
    }

    /// SQLite fills up a last page that is not whole. What it would read there was never written,
    /// unless the log of a crash still holds that page.
    static func refuseCutShort(_ path: String) throws(KeychainStoreError) {
        let facts = try? FileManager.default.attributesOfItem(atPath: path)
        guard let size = (facts?[.size] as? NSNumber)?.intValue else { throw .inputOutput(0) }
        let isWhole = size > 0 && size % KeychainSchema.pageBytes == 0
        guard isWhole || FileManager.default.fileExists(atPath: path + "-wal") else {
            throw .damaged
        }
    }
}
