// SPDX-License-Identifier: Apache-2.0
// A program of QtKeychain's: does what its words say, in turn, and prints how each ended. What it
// writes comes from standard input, a line each.
#include <QCoreApplication>
#include <QEventLoop>
#include <cstdio>
#include <iostream>
#include <keychain.h>
#include <string>

using namespace QKeychain;

template <class Kind> static void prepare(Kind &, const std::string &) {}
template <> void prepare(WritePasswordJob &job, const std::string &line) {
    job.setTextData(QString::fromStdString(line));
}
template <class Kind> static void result(const Kind &) {}
template <> void result(const ReadPasswordJob &job) {
    std::printf(" %s", job.textData().toUtf8().constData());
}

template <class Kind> static void run(const std::string &line = "") {
    Kind job(QStringLiteral("Keychain's tests"));
    job.setAutoDelete(false);
    job.setKey(QStringLiteral("alice"));
    prepare(job, line);
    QEventLoop loop;
    QObject::connect(&job, &Job::finished, &loop, &QEventLoop::quit);
    job.start();
    loop.exec();
    std::printf("<%d", job.error());
    result(job);
    std::printf(">\n");
}

int main(int count, char **words) {
    QCoreApplication application(count, words);
    for (int i = 1; i < count; i++) {
        const std::string word = words[i];
        std::string line;
        if (word == "write" && std::getline(std::cin, line)) run<WritePasswordJob>(line);
        if (word == "read") run<ReadPasswordJob>();
        if (word == "delete") run<DeletePasswordJob>();
    }
}
