// SPDX-License-Identifier: Apache-2.0

extension CertificateContent {
    /// Whether one of the certificate's names is the host's.
    package func isFor(host: String) -> Bool {
        extensions.hostNames.contains { covers($0, host) }
    }

    /// A star stands for one whole label, the first.
    private func covers(_ name: String, _ host: String) -> Bool {
        let wanted = labels(host)
        var named = labels(name)
        if named.first == "*", named.count > 2, wanted.count == named.count {
            named[0] = wanted[0]
        }
        return named == wanted && !wanted.contains("")
    }

    private func labels(_ name: String) -> [String] {
        let name = name.hasSuffix(".") ? String(name.dropLast()) : name
        return name.lowercased().split(separator: ".", omittingEmptySubsequences: false)
            .map(String.init)
    }
}
