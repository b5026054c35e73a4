//! Every target on its corpus and on a stated sample of changed inputs, from a fixed seed. Longer
//! runs are for `cargo xtask fuzz`; what they find becomes a file of the corpus.

use ostler_fuzz::{TARGETS, corpus, hunt};

/// How many inputs per target, and where they start.
const SAMPLE: u64 = 500;
const SEED: u64 = 1;

#[test]
fn every_target_holds_on_its_corpus_and_a_sample() {
    for target in TARGETS {
        let corpus = corpus(target).unwrap();
        assert!(!corpus.is_empty(), "`{}` has an empty corpus", target.name);
        if let Err(crash) = hunt(target, &corpus, SEED, |runs, _| runs < SAMPLE) {
            panic!("`{}` on {:?}: {}", target.name, crash.input, crash.said);
        }
    }
}

#[test]
fn names_are_unique_and_every_corpus_has_its_target() {
    let mut names: Vec<_> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    names.sort();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut folders: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    folders.sort();
    assert_eq!(names, folders);
}
