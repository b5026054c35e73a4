//! Whatever a shell does to a tree, an undo gives the tree back, and undoing the undo gives
//! back what the shell left.

use proptest::prelude::*;

use super::*;

/// What a shell command does.
#[derive(Debug, Clone)]
enum Act {
    Write(usize, Vec<u8>),
    Append(usize, u8),
    Remove(usize),
    MakeFolder(usize),
    Rename(usize, usize),
    Mode(usize, u32),
    Link(usize, usize),
    /// Written again as it is.
    Touch(usize),
}

/// Few names, so that acts meet; some lie in folders that others replace.
const NAMES: [&str; 9] = ["a", "b", "a/x", "a/y", "b/x", "d/e/f", "d/e", "d", "sp ace/\u{f6}"];

fn act() -> impl Strategy<Value = Act> {
    let name = 0..NAMES.len();
    let bytes = proptest::collection::vec(any::<u8>(), 0..4);
    prop_oneof![
        4 => (name.clone(), bytes).prop_map(|(name, bytes)| Act::Write(name, bytes)),
        1 => (name.clone(), any::<u8>()).prop_map(|(name, byte)| Act::Append(name, byte)),
        2 => name.clone().prop_map(Act::Remove),
        1 => name.clone().prop_map(Act::MakeFolder),
        2 => (name.clone(), name.clone()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (name.clone(), prop_oneof![Just(0o600), Just(0o755), Just(0o711)])
            .prop_map(|(name, mode)| Act::Mode(name, mode)),
        1 => (name.clone(), name.clone()).prop_map(|(name, target)| Act::Link(name, target)),
        1 => name.prop_map(Act::Touch),
    ]
}

/// Does it as far as it can be done, like a script that goes on after an error.
fn run(place: &Place, act: &Act) {
    use std::io::Write as _;
    let path = |name: &usize| place.path(NAMES[*name]);
    let parent = |name: &usize| drop(fs::create_dir_all(path(name).parent().unwrap()));
    match act {
        Act::Write(name, bytes) => {
            parent(name);
            drop(fs::write(path(name), bytes));
        }
        Act::Append(name, byte) => {
            if let Ok(mut file) = File::options().append(true).open(path(name)) {
                drop(file.write_all(&[*byte]));
            }
        }
        Act::Remove(name) => {
            if fs::remove_file(path(name)).is_err() {
                drop(fs::remove_dir_all(path(name)));
            }
        }
        Act::MakeFolder(name) => drop(fs::create_dir_all(path(name))),
        Act::Rename(from, to) => {
            parent(to);
            drop(fs::rename(path(from), path(to)));
        }
        Act::Mode(name, mode) => {
            if !path(name).is_symlink() {
                drop(fs::set_permissions(path(name), Permissions::from_mode(*mode)));
            }
        }
        Act::Link(name, target) => {
            parent(name);
            drop(symlink(NAMES[*target], path(name)));
        }
        Act::Touch(name) => {
            if let Ok(bytes) = fs::read(path(name)) {
                drop(fs::write(path(name), bytes));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_undo_gives_back_exactly_the_tree(
        first in proptest::collection::vec(act(), 0..14),
        calls in proptest::collection::vec(proptest::collection::vec(act(), 0..8), 1..4),
    ) {
        let place = Place::new();
        first.iter().for_each(|act| run(&place, act));
        let was = place.all();
        let mut manifests = Vec::new();
        for acts in &calls {
            let before = place.tree();
            prop_assert!(before.uncovered().is_nothing());
            acts.iter().for_each(|act| run(&place, act));
            manifests.push(place.after(before));
        }
        let is = place.all();
        let undone = place.points.undo(&manifests, None, &place.cancel);
        prop_assert_eq!(&undone.conflicts, &[]);
        prop_assert_eq!(place.all(), was);
        let again = place.undo(&undone.reverse);
        prop_assert_eq!(&again.conflicts, &[]);
        prop_assert_eq!(place.all(), is);
    }
}
