// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

extension ItemClass {
    /// Classes that programs know and that are not kept yet.
    private static let unkept = ["cert", "keys", "idnt"]

    /// The class that a dictionary names, or that of the items it refers to.
    init(_ words: QueryWords, _ values: ValueWords) throws(Refusal) {
        var codes: [String] = []
        switch words.classCode {
        case nil: break
        case .string(let code)?: codes.append(code)
        default: throw .badRequest
        }
        if let reference = values.persistentReference { codes.append(reference.classCode) }
        if let item = values.item { codes.append(item.reference.itemClass.code) }
        guard let code = codes.first else { throw .badRequest }
        guard codes.allSatisfy({ $0 == code }) else { throw .noSuchClass }
        if Self.unkept.contains(code) { throw .notImplemented }
        guard let itemClass = ItemClass(code: code) else { throw .noSuchClass }
        self = itemClass
    }
}
