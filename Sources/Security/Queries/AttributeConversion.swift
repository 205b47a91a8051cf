// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel

extension AttributeKind {
    /// The value as it is stored and returned (docs/secitem.md, How a query value is converted).
    func value(_ given: QueryValue) throws(RequestError) -> AttributeValue {
        switch self {
        case .blob: try blob(given)
        case .data: try data(given)
        case .string: try string(given)
        case .number: try number(given)
        case .date: try date(given)
        case .uuid: try uuid(given)
        }
    }

    private func blob(_ given: QueryValue) throws(RequestError) -> AttributeValue {
        switch given {
        case .string(let text): .string(text)
        case .data(let data): .data(data.copiedBytes)
        case .number, .real: try number(given)
        default: throw .invalid(.badRequest)
        }
    }

    private func data(_ given: QueryValue) throws(RequestError) -> AttributeValue {
        switch given {
        case .data(let data): return .data(data.copiedBytes)
        case .string(let text): return .data(Array(text.utf8))
        case .number(let number):
            return Self.fourBytes(number)
        case .real(let real):
            guard let whole = Int64(exactly: real.rounded(.towardZero)) else {
                throw .invalid(.badRequest)
            }
            return Self.fourBytes(whole)
        default: throw .invalid(.badRequest)
        }
    }

    private static func fourBytes(_ number: Int64) -> AttributeValue {
        let bits = UInt32(truncatingIfNeeded: number)
        return .data((0..<4).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) })
    }

    private func string(_ given: QueryValue) throws(RequestError) -> AttributeValue {
        switch given {
        case .string(let text): return .string(text)
        case .uuid(let uuid): return .string(uuid.uuidString)
        case .data(let data):
            guard let text = String(validating: data.copiedBytes, as: UTF8.self) else {
                throw .invalid(.badRequest)
            }
            return .string(text)
        default: throw .invalid(.badRequest)
        }
    }

    /// A text of digits is a number if it fits into 32 bits and is in canonical form.
    private func number(_ given: QueryValue) throws(RequestError) -> AttributeValue {
        switch given {
        case .number(let number): return .number(number)
        case .boolean(let isTrue): return .number(isTrue ? 1 : 0)
        case .real(let real) where real.isFinite: return .real(real)
        case .string(let text):
            guard let number = Int32(text), String(number) == text else { return .string(text) }
            return .number(Int64(number))
        default: throw .invalid(.badRequest)
        }
    }

    private func date(_ given: QueryValue) throws(RequestError) -> AttributeValue {
        guard case .date(let seconds) = given, seconds.isFinite else { throw .invalid(.badRequest) }
        return .date(seconds)
    }

    private func uuid(_ given: QueryValue) throws(RequestError) -> AttributeValue {
        switch given {
        case .data(let data) where data.length == 0 || data.length == 16:
            return .data(data.copiedBytes)
        case .uuid(let uuid):
            let bytes = uuid.uuid
            return .data([
                bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7,
                bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15,
            ])
        case .null: return .data([])
        default: throw .invalid(.badRequest)
        }
    }
}
