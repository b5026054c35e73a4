//! What happens inside the namespace: the tree is built, and script after script is judged and,
//! where the verdict can be compared with anything, run under `strace`.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{Resource, setrlimit};
use ostler_permission::Verdict;

use crate::effects::{self, Effect};
use crate::everyday::Everyday;
use crate::fixture::{self, HOME, PROJECT, Pristine, STAND_INS};
use crate::generate;
use crate::item::{Item, Origin};
use crate::process;
use crate::rng::Rng;
use crate::trace::{self, WATCHED};
use crate::verdict::{self, Scene};

/// How long a script may take.
const LIMIT: Duration = Duration::from_secs(2);
/// No file of a script, or about one, becomes larger.
const LARGEST: u64 = 16 << 20;
/// After so many scripts the whole tree is compared with what it was.
const COMPARE: usize = 200;
/// One of so many scripts that ask is run all the same: most of them should show an effect.
const CONTROL: usize = 12;
/// Which scripts one process does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) seed: u64,
    pub(crate) count: u64,
    /// This process does script `first`, `first + step`, ...
    pub(crate) first: u64,
    pub(crate) step: u64,
}

/// Does a part; one line of JSON for each script on the standard output.
pub(crate) fn run(part: Part) -> Result<()> {
    let everyday = Everyday::read();
    let mut runner = Runner::new()?;
    let mut out = std::io::stdout().lock();
    let own = |index: &u64| index % part.step == part.first;
    for (index, text) in (0..).zip(&everyday.harmless).filter(|(index, _)| own(index)) {
        let item = runner.item(index, Origin::Everyday, Scene::Bare, text, false)?;
        writeln!(out, "{}", item.to_line())?;
    }
    for index in (0..part.count).filter(own) {
        let script = generate::script(&everyday, part.seed, index);
        let scene = Scene::of(index);
        let control = Rng::new(!part.seed, index).one_in(CONTROL);
        // Said before it is done, so that a script that ends all of this is known.
        writeln!(out, "begin {index}")?;
        let origin = Origin::Made(script.kind);
        let item = runner.item(index, origin, scene, &script.text, control)?;
        writeln!(out, "{}", item.to_line())?;
    }
    ensure!(runner.pristine.is_untouched()?, "a script changed the tree and its trace did not say");
    writeln!(out, "end")?;
    Ok(())
}

/// Judges and runs one script in each scene and shows what its trace shows.
pub(crate) fn show(text: &str) -> Result<()> {
    let mut runner = Runner::new()?;
    let mut out = std::io::stdout().lock();
    for scene in [Scene::Bare, Scene::Deny, Scene::DenyRest] {
        let verdict = verdict::of(text, scene, verdict::World::Disk);
        writeln!(out, "{}: {}", scene.name(), crate::item::verdict_name(verdict))?;
    }
    let (ended, shown) = runner.watch(text)?;
    let lists =
        [("", shown.effects), ("denied: ", shown.denied), ("within: ", shown.denied_within)];
    for (what, list) in lists {
        for effect in list {
            writeln!(out, "{what}{effect}")?;
        }
    }
    if !ended {
        writeln!(out, "it did not come to its end")?;
    }
    out.write_all(&fs::read("/oracle/out")?)?;
    Ok(())
}

/// Runs scripts, one after the other.
struct Runner {
    pristine: Pristine,
    runs: usize,
}

impl Runner {
    fn new() -> Result<Self> {
        setrlimit(Resource::RLIMIT_FSIZE, LARGEST, LARGEST)?;
        fixture::build().context("cannot build the tree of the project")?;
        Ok(Self { pristine: Pristine::take()?, runs: 0 })
    }

    fn item(
        &mut self,
        index: u64,
        origin: Origin,
        scene: Scene,
        text: &str,
        control: bool,
    ) -> Result<Item> {
        let verdict = verdict::of(text, scene, verdict::World::Disk);
        let run = verdict == Verdict::Allow
            || (control && verdict == Verdict::Ask && scene == Scene::Bare);
        let mut item = Item {
            index,
            origin,
            scene,
            verdict,
            ran: run,
            ended: true,
            effects: Vec::new(),
            within: Vec::new(),
        };
        if run {
            let (ended, shown) = self.watch(text)?;
            let texts = |list: Vec<Effect>| list.iter().map(ToString::to_string).collect();
            item.ended = ended;
            item.effects = match scene {
                Scene::Bare => texts(shown.effects),
                Scene::Deny => texts([shown.effects, shown.denied].concat()),
                Scene::DenyRest => texts(shown.denied),
            };
            item.within = texts(shown.denied_within);
        }
        Ok(item)
    }

    /// Runs a script and leaves the tree as it was.
    fn watch(&mut self, text: &str) -> Result<(bool, effects::Shown)> {
        let out = File::create("/oracle/out")?;
        let mut strace = process::command("/usr/bin/strace");
        strace
            .args(["-f", "-qq", "-y", "-s", "4096", "--seccomp-bpf", "-e", "signal=none"])
            .args(["-o", "/oracle/trace", "-e", &format!("trace={WATCHED}")])
            .args(["/usr/bin/bash", "-c", text])
            .current_dir(PROJECT)
            .env_clear()
            .envs([
                ("PATH", format!("/usr/bin:/bin:{STAND_INS}").as_str()),
                ("HOME", HOME),
                ("USER", "me"),
                ("LC_ALL", "C.UTF-8"),
                ("TERM", "dumb"),
            ]);
        let ended = process::to_its_end(strace, out, LIMIT)?;
        let trace = fs::read("/oracle/trace").context("no trace was written")?;
        let wrote = fs::read("/oracle/out")?;
        let events = trace::parse(&String::from_utf8_lossy(&trace));
        let shown = effects::of(&events, &String::from_utf8_lossy(&wrote));
        self.runs += 1;
        if shown.changed {
            self.pristine.restore()?;
            fixture::empty(Path::new("/tmp"))?;
        } else if self.runs.is_multiple_of(COMPARE) {
            let same = self.pristine.is_untouched()?;
            ensure!(same, "a script changed the tree and its trace did not say: {text:?}");
        }
        Ok((ended, shown))
    }
}
