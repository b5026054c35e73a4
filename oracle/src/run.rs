//! A whole run: the namespaces side by side, one for each core, and what comes out of them.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use ostler_permission::Verdict;

use crate::everyday::Everyday;
use crate::generate::{self, Kind};
use crate::item::{Item, Origin};
use crate::namespace::Shared;
use crate::verdict::{self, Scene};

/// Runs all scripts.
pub(crate) fn traced(shared: &Shared, seed: u64, count: u64, jobs: u64) -> Result<Vec<Item>> {
    let parts: Vec<Result<Vec<Item>>> = thread::scope(|scope| {
        let begun: Vec<_> = (0..jobs)
            .map(|first| scope.spawn(move || part(shared, seed, count, first, jobs)))
            .collect();
        let done = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err(anyhow!("a part of the run panicked")))
        };
        begun.into_iter().map(done).collect()
    });
    let mut items = Vec::new();
    for part in parts {
        items.extend(part?);
    }
    items.sort_by_key(|item| (item.origin, item.index));
    Ok(items)
}

fn part(shared: &Shared, seed: u64, count: u64, first: u64, step: u64) -> Result<Vec<Item>> {
    let mut child = shared
        .enter()?
        .arg("inside")
        .args([seed, count, first, step].map(|number| number.to_string()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start `bwrap`")?;
    let out = child.stdout.take().context("a pipe was asked for")?;
    let (mut items, mut begun, mut ended) = (Vec::new(), String::new(), false);
    for line in BufReader::new(out).lines() {
        let line = line?;
        match line.strip_prefix("begin ") {
            Some(index) => index.clone_into(&mut begun),
            None if line == "end" => ended = true,
            None => items.push(Item::from_line(&line).context("a line that is not understood")?),
        }
    }
    let status = child.wait()?;
    if !ended {
        bail!("the namespace ended with {status} at script {seed}:{begun}");
    }
    Ok(items)
}

/// Judges all scripts without running any: where no namespace can be made, this is what is
/// left. A harmful command that is judged harmless is a miss here, too.
pub(crate) fn judged_only(seed: u64, count: u64) -> Vec<Item> {
    let everyday = Everyday::read();
    let item = |index, origin, scene, text: &str| {
        let verdict = verdict::of(text, scene, verdict::World::Paper);
        let harmful = origin == Origin::Made(Kind::Product) && verdict == Verdict::Allow;
        let effects = if harmful && scene != Scene::DenyRest {
            vec!["holds a harmful command".to_owned()]
        } else {
            Vec::new()
        };
        let within = Vec::new();
        Item { index, origin, scene, verdict, ran: false, ended: true, effects, within }
    };
    let lines = (0..).zip(&everyday.harmless);
    let mut items: Vec<Item> =
        lines.map(|(index, text)| item(index, Origin::Everyday, Scene::Bare, text)).collect();
    items.extend((0..count).map(|index| {
        let script = generate::script(&everyday, seed, index);
        item(index, Origin::Made(script.kind), Scene::of(index), &script.text)
    }));
    items
}
