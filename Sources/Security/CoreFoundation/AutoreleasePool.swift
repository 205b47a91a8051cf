// SPDX-License-Identifier: Apache-2.0

/// Runs the closure. No object is autoreleased here: objects end with their last reference.
public func autoreleasepool<Result, Failure: Error>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}
