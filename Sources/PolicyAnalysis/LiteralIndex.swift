// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// Finds the boxes that may meet another one by the texts that both name: of thousands that each
/// name a service, those with the same service.
struct LiteralIndex {
    private struct Field {
        var byText: [PolicyText: [Int]] = [:]
        /// Boxes that don't name the field, or name it by patterns.
        var others: [Int] = []
    }

    private let count: Int
    private var fields: [TextField: Field] = [:]

    init(_ boxes: [PolicyBox]) {
        count = boxes.count
        for field in TextField.allCases where boxes.contains(where: { $0.names(field) != nil }) {
            var own = Field()
            for (place, box) in boxes.enumerated() {
                if let texts = box.names(field) {
                    for text in texts { own.byText[text, default: []].append(place) }
                } else {
                    own.others.append(place)
                }
            }
            fields[field] = own
        }
    }

    /// Ascending. It leaves out boxes that no request matches together with this one, where one of
    /// the two has to match for certain.
    func places(near box: PolicyBox) -> [Int] {
        var fewest: (field: Field, texts: Set<PolicyText>)?
        var least = count
        for (name, field) in fields {
            guard let texts = box.names(name) else { continue }
            let many = texts.reduce(field.others.count) { $0 + (field.byText[$1]?.count ?? 0) }
            if many < least { (fewest, least) = ((field, texts), many) }
        }
        guard let fewest else { return Array(0..<count) }
        let named = Set(fewest.texts.flatMap { fewest.field.byText[$0] ?? [] })
        return (fewest.field.others + named).sorted()
    }
}

extension PolicyBox {
    /// The only texts that the field can have; nil where it can have others. A caller has many
    /// groups, so one group does not exclude another.
    fileprivate func names(_ field: TextField) -> Set<PolicyText>? {
        guard field != .group else { return nil }
        for case .text(field, let patterns) in conditions {
            var texts: Set<PolicyText> = []
            for case .literal(let text) in patterns { texts.insert(text) }
            if texts.count == Set(patterns).count { return texts }
        }
        return nil
    }
}
