#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# newer-keychains FORMAT FOLDER: names the keychains in FOLDER that this version can't read. A part of
# what packages run before they are unpacked, when none of their files is there: their builds put it
# into their scripts. No percent sign, which RPM would take for a macro's.
#
# Of SQLite's files, those that are keychains: the number of their format stands in the first page,
# and that page's newest state is in the write-ahead log if it was not yet copied back.
use strict;
use warnings;
my ($known, $state) = @ARGV;
for my $file (sort glob "$state/*/*") {
    next if -l $file || !-f $file || $file =~ /-(wal|shm)$/;
    my $page = start($file, 0, 100) // next;
    next unless substr($page, 0, 16) eq "SQLite format 3\0";
    my $size = unpack 'n', substr $page, 16, 2;
    $page = newest("$file-wal", $size == 1 ? 65536 : $size) // $page if -f "$file-wal";
    my ($format, $application) = (unpack 'N3', substr $page, 60, 12)[0, 2];
    print "$file (format $format)\n" if $application == 0x4B434853 && $format > $known;
}

sub start {
    my ($path, $offset, $length) = @_;
    open my $in, '<:raw', $path or return undef;
    seek $in, $offset, 0;
    my $bytes;
    my $read = read $in, $bytes, $length;
    return defined $read && $read == $length ? $bytes : undef;
}

# The last first page that a transaction of this log wrote, whole.
sub newest {
    my ($path, $size) = @_;
    my $header = start($path, 0, 32) // return undef;
    my $salts = substr $header, 16, 8;
    my ($written, $seen);
    for (my $offset = 32;; $offset += 24 + $size) {
        my $frame = start($path, $offset, 24 + 100) // last;
        last unless substr($frame, 8, 8) eq $salts;
        my ($number, $commit) = unpack 'N2', $frame;
        $seen = substr $frame, 24 if $number == 1;
        $written = $seen if $commit;
    }
    return $written;
}
