// SPDX-License-Identifier: Apache-2.0

/// PAM's way through a stack, given each module's answer: the lines that it reaches, and whether
/// the stack as a whole succeeds.
struct PAMWalk {
    private(set) var reached: [PAMLine] = []
    private var impression = Impression.none

    private enum Impression { case none, positive, negative }
    private let answer: (PAMLine) -> PAMAnswer

    var succeeds: Bool { impression == .positive }

    init(_ nodes: [PAMNode], answer: @escaping (PAMLine) -> PAMAnswer) {
        self.answer = answer
        _ = walk(nodes)
    }

    /// Whether it reached the end without a `done` or `die`.
    private mutating func walk(_ nodes: [PAMNode]) -> Bool {
        var position = 0
        while position < nodes.count {
            defer { position += 1 }
            switch nodes[position] {
            case .substack(let inner): _ = walk(inner)
            case .line(let line):
                reached.append(line)
                let given = answer(line)
                switch line.control.action(for: given) {
                case .ignore: continue
                case .ok: agree()
                case .done:
                    agree()
                    if impression == .positive { return false }
                case .bad: impression = .negative
                case .die:
                    impression = .negative
                    return false
                case .reset: impression = .none
                case .jump(let count): position += count
                }
            }
        }
        return true
    }

    private mutating func agree() { if impression == .none { impression = .positive } }
}
