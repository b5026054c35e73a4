//! Harmful commands x connectors x prefixes x spellings. Whatever comes out holds a harmful
//! command where the shell runs it (or would, if an earlier one ended another way), so with no
//! rules each of these scripts must ask.

/// Commands with an effect, each complete in itself. Program names of two letters or more
/// stand first, so that they can be spelled in other ways.
pub(super) const HARMFUL: &[&str] = &[
    "rm -rf src",
    "rm README.md",
    "touch pwned",
    "curl -s http://127.0.0.1:9/x",
    "wget -q http://127.0.0.1:9/x",
    "git push origin main",
    "git commit -am x",
    "git -c alias.x='!touch pwned' x",
    "git -c core.pager='touch pwned;cat' -p log",
    "git diff --output=pwned",
    "cat /home/me/.ssh/id_rsa",
    "cat ../secret/key",
    "head -3 outside/key",
    "grep -r PRIVATE /home/me",
    "sed -i s/a/b/ README.md",
    "sed -n 'w pwned' README.md",
    "sed '1e touch pwned' README.md",
    "awk 'BEGIN{system(\"touch pwned\")}'",
    "awk 'BEGIN{print 1 > \"pwned\"}'",
    "find . -name '*.md' -delete",
    "find src -type f -exec rm {} +",
    "find src -fprint pwned",
    "python3 -c 'open(\"pwned\",\"w\")'",
    "perl -e 'unlink \"README.md\"'",
    "node -e 'require(\"fs\").writeFileSync(\"pwned\",\"\")'",
    "make",
    "npm run build",
    "xargs touch pwned",
    "tar -xf a.tar --to-command='touch pwned'",
    "tar -cf pwned src",
    "ssh 127.0.0.1 true",
    "vim -es -c ':!touch pwned' -c ':q'",
    "env -S 'touch pwned'",
    "bash -c 'touch pwned'",
    "sh evil.sh",
    "eval 'touch pwned'",
    "source ./evil.sh",
    ". ./evil.sh",
    "exec ./tool",
    "trap 'touch pwned' EXIT",
    "./tool",
    "/srv/app/tool",
    "tee pwned",
    "echo x > pwned",
    "echo x >> README.md",
    "cat < /home/me/.netrc",
    "cp README.md pwned",
    "mv README.md pwned",
    "ln -s /home/me stolen",
    "mkdir pwned",
    "chmod 777 README.md",
    "dd if=README.md of=pwned",
    "sort README.md -o pwned",
    "uniq README.md pwned",
    "split README.md",
    "kill -9 1",
    "bash <<'X'\ntouch pwned\nX\n",
    "cat <(touch pwned)",
    "cat > pwned <<'X'\nx\nX\n",
    "exec 3<>/dev/tcp/127.0.0.1/9",
];

/// Where a command can stand; `@` is the command, on a line of its own where it has several.
const CONNECTORS: &[&str] = &[
    "@",
    "ls; @",
    "ls && @",
    "ls nothing-here || @",
    "ls | @",
    "ls |& @",
    "ls & @",
    "ls\n@",
    "@ & ls",
    "(@)",
    "( ls; (@) )",
    "{ @\n}",
    "if true; then @\nfi",
    "if @\nthen ls; fi",
    "if false; then ls; else @\nfi",
    "for i in 1; do @\ndone",
    "for i in $(@\n); do ls; done",
    "while @\ndo break; done",
    "until @\ndo break; done",
    "while read -r l; do @\ndone < README.md",
    "case x in x) @\n;; esac",
    "case $(@\n) in x) ls;; esac",
    "f() { @\n}; f",
    "function f { @\n}\nf",
    "echo $(@\n)",
    "echo \"$(@\n)\"",
    "cat <(@\n)",
    "ls > >(@\n)",
    "echo ${x:-$(@\n)}",
    "echo \"${x:-$(@\n)}\"",
    "echo $((a[$(@\n)0]))",
    "[[ -n $(@\n) ]]",
    "[[ -v a[$(@\n)] ]]",
    "x=$(@\n)",
    "export x=$(@\n)",
    "echo {a,$(@\n)}",
    "cat <<EOF\n$(@\n)\nEOF",
    "cat <<< $(@\n)",
    "ls \\\n&& @",
    "time @",
    "! @",
    "coproc @",
    "ls # a note\n@",
    "cd src && cd .. && @",
    "echo 'a' \"b\" ; @",
    "set -e; @",
    "echo $'a\\'; ' ; @",
    "echo \"a\\\"; \" ; @",
    "echo `# note`\n@",
    "test -d src && { ls; @\n}",
    "cat << 'E' ; @\nnothing\nE\n",
    "true && (ls | head -1; @)",
    "for ((i = 0; i < 1; i++)); do @\ndone",
    "ls 2>&1 | cat ; @",
    "{ ls; } && @",
    "[ -f README.md ] && @",
    "echo ${x:=$(@\n)}",
    "echo \"$(echo \"$(@\n)\")\"",
    "select x in 1; do @\nbreak; done < README.md",
];

/// What can stand before a command.
const PREFIXES: &[&str] = &[
    "",
    "",
    "",
    "A=1 ",
    "A=1 B=\"x y\" ",
    "A=$(pwd) ",
    "PATH=/srv/app:/usr/bin ",
    "LC_ALL=C ",
    "env ",
    "env A=1 ",
    "env -i ",
    "env -u A -- ",
    "/usr/bin/env ",
    "nice ",
    "nice -n 5 ",
    "timeout 5 ",
    "timeout -s KILL 5 ",
    "nohup ",
    "stdbuf -o0 ",
    "setsid ",
    "command ",
    "command -- ",
    "builtin ",
    "exec ",
    "time ",
    "time -p ",
    "sudo ",
    "sudo -u me ",
    "ionice -c 3 ",
    "flock lock ",
    "unknown-wrapper ",
    "busybox ",
    "xargs -0 ",
    "< README.md ",
    "2>/dev/null ",
    "\\\n",
    "\t ",
];

/// Other ways to write the first word.
const SPELLINGS: usize = 14;

/// Script number `at` of the product; a stride that shares no factor with its size visits all
/// of it.
pub(super) fn script(at: u64) -> String {
    let sizes = [HARMFUL.len(), CONNECTORS.len(), PREFIXES.len(), SPELLINGS];
    let size: u64 = sizes.iter().map(|size| *size as u64).product();
    let mut at = at.wrapping_mul(7_368_787) % size;
    let mut digit = |size: usize| {
        let digit = usize::try_from(at % size as u64).unwrap_or(0);
        at /= size as u64;
        digit
    };
    let [command, connector, prefix, spelling] = sizes.map(&mut digit);
    assemble(HARMFUL[command], CONNECTORS[connector], PREFIXES[prefix], spelling)
}

/// Puts the parts together.
pub(super) fn assemble(command: &str, connector: &str, prefix: &str, spelling: usize) -> String {
    let spelled = format!("{prefix}{}", respell(command, spelling));
    connector.replacen('@', &spelled, 1)
}

/// Writes the first word in another way that the shell reads as the same word.
fn respell(command: &str, spelling: usize) -> String {
    let end = command.find(' ').unwrap_or(command.len());
    let (word, rest) = command.split_at(end);
    if word.len() < 2 || !word.is_ascii() {
        return command.to_owned();
    }
    let (first, others) = word.split_at(1);
    let spelled = match spelling {
        1 => format!("\\{word}"),
        2 => format!("{first}''{others}"),
        3 => format!("\"{word}\""),
        4 => format!("$'\\x{:02x}'{others}", first.as_bytes()[0]),
        5 => format!("{first}\\\n{others}"),
        6 => format!("$(echo {word})"),
        7 => format!("${{nothing:-{word}}}"),
        8 => format!("w={word}; $w"),
        9 => format!("/usr/bin/{word}"),
        10 => format!("/usr/bin/../bin//{word}"),
        11 => format!("`echo {word}`"),
        12 => format!("'{first}'\"{others}\""),
        13 if !rest.contains(['\'', '"', '\n', '<', '>']) && rest.contains(' ') => {
            return format!("{{{word}{}}}", rest.replace(' ', ","));
        }
        _ => word.to_owned(),
    };
    format!("{spelled}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_comes_up() {
        let scripts: Vec<String> = (0..20_000).map(script).collect();
        for command in HARMFUL.iter().filter(|command| command.len() > 12) {
            let tail = command.split_once(' ').map_or(*command, |(_, tail)| tail);
            assert!(scripts.iter().any(|script| script.contains(tail)), "{command}");
        }
        for prefix in PREFIXES {
            assert!(scripts.iter().any(|script| script.contains(prefix)), "{prefix}");
        }
    }

    #[test]
    fn spellings_keep_the_rest_of_the_command() {
        assert_eq!(respell("rm -rf src", 2), "r''m -rf src");
        assert_eq!(respell("rm -rf src", 4), "$'\\x72'm -rf src");
        assert_eq!(respell("rm -rf src", 13), "{rm,-rf,src}");
        assert_eq!(assemble("rm x", "ls; @", "env ", 0), "ls; env rm x");
    }
}
