// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import Terminal

extension CommandFailure {
    /// Of a file of the user's own.
    init(file error: SystemError, _ path: String, _ task: String) {
        let beginning = "could not \(task): \(PlainText.line(path)): "
        switch error {
        case .system(PrivateFile.exists):
            self.init(
                .exists, name: "fileExists", beginning + "it exists already",
                advice: "Choose another name, or replace it with --force.")
        case .system(PrivateFile.notFound):
            self.init(.notFound, name: "noSuchFile", beginning + "there is no such file or folder")
        case .system(PrivateFile.noSpace):
            self.init(
                .failure, name: "diskFull", beginning + "the disk is full",
                advice: "Make room, then try again.")
        case .system(PrivateFile.notAllowed):
            self.init(.refused, name: "notAllowed", beginning + "permission denied")
        default:
            self.init(.failure, name: "inputOutput", beginning + "it can't be used")
        }
    }

    /// Of a backup that is to be read.
    init(
        _ code: ResultCode = .damaged, backup failure: BackupFile.Failure, _ path: String,
        _ task: String
    ) {
        let beginning = "could not \(task): \(PlainText.line(path)): "
        switch failure {
        case .notABackup:
            self.init(
                code, name: "notABackup", beginning + "it is no backup of a keychain",
                advice: "keychainctl backup makes one.")
        case .newerVersion:
            self.init(
                .failure, name: "newerVersion", beginning + "a newer version made it",
                advice: "Install that version, or a later one.")
        case .damaged:
            self.init(
                code, name: "damaged", beginning + "it is not as it was when it was made",
                advice: "Nothing was changed. Use another copy.")
        case .system(let error): self.init(file: error, path, task)
        }
    }
}
