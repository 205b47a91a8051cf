// SPDX-License-Identifier: Apache-2.0

extension PolicyDuration {
    package init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let whole = seconds.multipliedReportingOverflow(by: 1000)
        self.init(
            milliseconds: whole.overflow
                ? .max : whole.partialValue + attoseconds / 1_000_000_000_000_000)
    }
}
