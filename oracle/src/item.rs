//! What is found out about one script, and how it travels out of the namespace: a JSON object a
//! line.

use ostler_permission::Verdict;
use serde_json::{Value, json};

use crate::generate::Kind;
use crate::verdict::Scene;

/// Where a script is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// Generated.
    Made(Kind),
    /// A line of the everyday list.
    Everyday,
}

impl Origin {
    /// Its name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Made(kind) => kind.name(),
            Self::Everyday => "everyday lines",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Kind::Product, Kind::Tampered, Kind::Options, Kind::Nest]
            .map(Self::Made)
            .into_iter()
            .chain([Self::Everyday])
            .find(|origin| origin.name() == name)
    }
}

/// What is found out about one script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) index: u64,
    pub(crate) origin: Origin,
    pub(crate) scene: Scene,
    pub(crate) verdict: Verdict,
    /// Whether it was run.
    pub(crate) ran: bool,
    /// Whether it came to its end within its time.
    pub(crate) ended: bool,
    /// What it did that must not be done unasked (with no rules), or that a rule denies.
    pub(crate) effects: Vec<String>,
    /// What denied things code did that is not in the script.
    pub(crate) within: Vec<String>,
}

impl Item {
    /// Whether the judge let something through.
    pub(crate) fn is_miss(&self) -> bool {
        self.verdict == Verdict::Allow && !self.effects.is_empty()
    }

    /// As a line.
    pub(crate) fn to_line(&self) -> String {
        json!({
            "index": self.index,
            "origin": self.origin.name(),
            "scene": self.scene.name(),
            "verdict": verdict_name(self.verdict),
            "ran": self.ran,
            "ended": self.ended,
            "effects": self.effects,
            "within": self.within,
        })
        .to_string()
    }

    /// From a line; nothing if it is none.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let texts = |key: &str| -> Option<Vec<String>> {
            value[key].as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        Some(Self {
            index: value["index"].as_u64()?,
            origin: Origin::from_name(value["origin"].as_str()?)?,
            scene: [Scene::Bare, Scene::Deny, Scene::DenyRest]
                .into_iter()
                .find(|scene| Some(scene.name()) == value["scene"].as_str())?,
            verdict: [Verdict::Allow, Verdict::Ask, Verdict::Deny]
                .into_iter()
                .find(|verdict| Some(verdict_name(*verdict)) == value["verdict"].as_str())?,
            ran: value["ran"].as_bool()?,
            ended: value["ended"].as_bool()?,
            effects: texts("effects")?,
            within: texts("within")?,
        })
    }
}

/// The verdict in reports.
pub(crate) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_they_went() {
        let item = Item {
            index: 7,
            origin: Origin::Made(Kind::Nest),
            scene: Scene::DenyRest,
            verdict: Verdict::Allow,
            ran: true,
            ended: false,
            effects: vec!["writes \"x\"\n".to_owned()],
            within: Vec::new(),
        };
        assert_eq!(Item::from_line(&item.to_line()), Some(item.clone()));
        assert!(item.is_miss());
        assert_eq!(Item::from_line("noise"), None);
    }
}
