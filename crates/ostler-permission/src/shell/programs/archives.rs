//! Programs that list archives, unpack to standard output, and take binaries apart.
//!
//! Sources that debugging information names are not shown (`objdump -S`): they lie anywhere.
//! Plug-ins, response files and options that run a program are in no row.

use super::{Args, Program, needing, row};

const UNPACK: &str = "-c -k -f -q -v -d -t -l --stdout --to-stdout --keep --force --quiet --verbose --decompress --uncompress --test --list";
const TO_STDOUT: &[&str] = &["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"];
const XZ: &str = "-c -k -f -q -v -d --stdout --to-stdout --keep --force --quiet --verbose --decompress --uncompress";
const XZ_TO_STDOUT: &[&str] = &["-c", "--stdout", "--to-stdout"];
const ZGREP: &str = "-n -i -l -L -c -w -x -h -H -E -F -v -o -q -s";
const NM: &str = "-a -A -o -B -C -D -g -n -u -S -r -p --debug-syms --demangle --dynamic --extern-only --defined-only --numeric-sort --undefined-only --print-size --size-sort --reverse-sort --no-sort";

pub(super) const ROWS: &[Program] = &[
    row("zcat", Args::Read, true, "-f -q -v"),
    row("bzcat", Args::Read, true, "-q -v -s"),
    row("xzcat", Args::Read, true, "-q -v"),
    row("zstdcat", Args::Read, true, "-q -v -f"),
    needing(TO_STDOUT, "gzip", Args::Read, UNPACK),
    needing(TO_STDOUT, "gunzip", Args::Read, UNPACK),
    needing(
        &["-c", "--stdout", "-t", "--test"],
        "bunzip2",
        Args::Read,
        "-c -k -f -q -t --stdout --test",
    ),
    // Of `-t`, `-l` and `-d` the last counts.
    needing(XZ_TO_STDOUT, "xz", Args::Read, XZ),
    needing(XZ_TO_STDOUT, "unxz", Args::Read, XZ),
    row("xz -l", Args::Read, false, "-v -q"),
    row("xz --list", Args::Read, false, "-v -q"),
    row("xz -t", Args::Read, false, "-v -q"),
    row("zgrep", Args::Pattern, false, ZGREP),
    row("bzgrep", Args::Pattern, false, ZGREP),
    row("xzgrep", Args::Pattern, false, ZGREP),
    needing(&["-l", "-Z", "-Z1", "-p", "-t"], "unzip", Args::ReadOne, "-l -v -q -Z -Z1 -p -t"),
    row("zipinfo", Args::ReadOne, false, "-1 -2 -s -m -l -v -h -t -z"),
    row("jar tf", Args::ReadOne, false, ""),
    row("jar tvf", Args::ReadOne, false, ""),
    row("jar -tf", Args::ReadOne, false, ""),
    needing(&["--list"], "jar", Args::Nothing, "--list --file< --verbose -f<"),
    row(
        "javap",
        Args::ReadNotAt,
        false,
        "-c -p -v -l -s -private -public -protected -package -verbose -constants -cp< -classpath< --class-path<",
    ),
    row("ar t", Args::ReadNotAt, false, ""),
    row("ar tv", Args::ReadNotAt, false, ""),
    row("nm", Args::ReadNotAt, false, NM),
    row(
        "objdump",
        Args::ReadNotAt,
        false,
        "-h -d -D -x -t -T -r -R -s -f -p -a -C -w -j: -M: --section-headers --disassemble? --syms --reloc --headers --all-headers --full-contents --demangle? --no-show-raw-insn --section: --start-address: --stop-address:",
    ),
    row(
        "readelf",
        Args::ReadNotAt,
        false,
        "-h -d -S -s -l -a -n -r -u -V -A -W -e -t -g --file-header --dynamic --sections --section-headers --symbols --syms --segments --program-headers --all --notes --relocs --wide --headers --dyn-syms",
    ),
    row("size", Args::ReadNotAt, false, "-A -B -d -o -x -t --format: --totals"),
    row("c++filt", Args::Data, false, "-n -_ -p -t -i"),
    row("iconv", Args::Read, false, "-f: -t: -c -s -l --from-code: --to-code: --list --silent"),
];
