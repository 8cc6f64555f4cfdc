//! How random requests spread over the region, as typed: `uniform`, `zipf:1.1`, `hot:80/20` …
//!
//! Every form is one text; a table gives the same by key. Hot zones may leave the rest of the region to the rest of
//! the requests: `hot:80/20` means 80 % of the requests in the first 20 % of the region and 20 % in the other 80 %.

use serde_json::{Value, json};

use crate::error::{Problem, WorkloadError};
use crate::nearest::hint;
use crate::option::{Kind, Range, not_a};
use crate::plan::Distribution;
use crate::units::{number_to_text, percent_from_text};

const NAMES: [&str; 6] = ["uniform", "zipf", "pareto", "normal", "hot", "permutation"];
const ADVICE: &str = "write uniform, zipf:1.1, pareto:0.2, normal:10, hot:80/20 or permutation";

/// A distribution with valid parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread(pub Distribution);

impl Spread {
    fn new(name: &str, parameter: Option<&str>, found: &Value) -> Result<Self, WorkloadError> {
        let wrong = || WorkloadError::from(not_a(found, Self::NOUN, ADVICE));
        let number = |least: f64, most: f64| -> Result<f64, WorkloadError> {
            let text = parameter.ok_or_else(wrong)?;
            let number = text.trim().parse::<f64>().map_err(|_| wrong())?;
            if (least..=most).contains(&number) {
                return Ok(number);
            }
            let (least, most) = (number_to_text(least), number_to_text(most));
            Err(Problem::OutOfRange { found: format!("the parameter of '{name}:{text}'"), least, most }.into())
        };
        let spread = match (name, parameter) {
            ("uniform", None) => Distribution::Uniform,
            ("permutation", None) => Distribution::Permutation,
            ("zipf", _) => Distribution::Zipf { theta: number(0.01, 10.0)? },
            ("pareto", _) => Distribution::Pareto { h: number(0.001, 0.999)? },
            ("normal", _) => Distribution::Normal { deviation_percent: number(0.01, 100.0)? },
            ("hot", Some(zones)) => Distribution::Hot(complete(zones_from_text(zones).ok_or_else(wrong)?)?),
            _ => return Err(wrong()),
        };
        Ok(Self(spread))
    }

    fn from_text(text: &str, value: &Value) -> Result<Self, WorkloadError> {
        let (name, parameter) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let name = name.trim();
        if let (false, Some(hint)) = (NAMES.contains(&name), hint(name, NAMES)) {
            return Err(not_a(value, Self::NOUN, hint).into());
        }
        Self::new(name, parameter, value)
    }

    /// `{ kind = "zipf", theta = 1.1 }` and so on, as the text that says the same.
    fn text_of_table(value: &Value) -> Option<String> {
        let table = value.as_object()?;
        let kind = table.get("kind")?.as_str()?;
        let rest = table.iter().find(|(key, _)| *key != "kind");
        match (kind, rest, table.len()) {
            (_, None, 1) => Some(kind.to_owned()),
            ("zipf", Some((key, number)), 2) if key == "theta" => Some(format!("zipf:{}", number.as_f64()?)),
            ("pareto", Some((key, number)), 2) if key == "h" => Some(format!("pareto:{}", number.as_f64()?)),
            ("normal", Some((key, number)), 2) if key == "deviation_percent" => {
                Some(format!("normal:{}", number.as_f64()?))
            }
            ("hot", Some((key, zones)), 2) if key == "zones" => {
                let zone = |zone: &Value| match zone.as_array()?.as_slice() {
                    [requests, region] => Some(format!("{}/{}", requests.as_f64()?, region.as_f64()?)),
                    _ => None,
                };
                let zones = zones.as_array()?.iter().map(zone).collect::<Option<Vec<_>>>()?;
                Some(format!("hot:{}", zones.join(",")))
            }
            _ => None,
        }
    }
}

/// `80/20,15/30`: pairs of (percent of requests, percent of region).
fn zones_from_text(text: &str) -> Option<Vec<(f64, f64)>> {
    let zone = |zone: &str| {
        let (requests, region) = zone.split_once('/')?;
        Some((percent_from_text(requests).ok()?, percent_from_text(region).ok()?))
    };
    text.split(',').map(zone).collect()
}

/// Gives the rest of the requests to the rest of the region, and refuses zones that do not add up.
fn complete(mut zones: Vec<(f64, f64)>) -> Result<Vec<(f64, f64)>, WorkloadError> {
    let round = |percent: f64| (percent * 1e9).round() / 1e9;
    let requests = round(100.0 - zones.iter().map(|zone| zone.0).sum::<f64>());
    let region = round(100.0 - zones.iter().map(|zone| zone.1).sum::<f64>());
    let empty_zone = zones.iter().any(|zone| zone.1 <= 0.0);
    if requests < 0.0 || region < 0.0 || empty_zone || (requests > 0.0 && region == 0.0) {
        return Err(WorkloadError::impossible(
            "the hot zones do not add up; write percent of requests / percent of region per zone, neither summing to \
             more than 100, as in hot:80/20 or hot:60/10,30/20",
        ));
    }
    if region > 0.0 {
        zones.push((requests, region));
    }
    Ok(zones)
}

impl Kind for Spread {
    const NOUN: &'static str = "a distribution";
    const FORM: &'static str = "`uniform`; `permutation`; `zipf:THETA` (0.01 to 10); `pareto:H` (0.001 to 0.999: a \
        fraction H of the blocks gets 1 − H of the requests); `normal:DEVIATION` (percent of the region, around its \
        middle); `hot:REQUESTS/REGION,…` (percent each, from the region's start on; the rest gets the rest). As \
        tables: `{ kind = \"zipf\", theta = 1.1 }`, `{ kind = \"pareto\", h = 0.2 }`, `{ kind = \"normal\", \
        deviation_percent = 10 }`, `{ kind = \"hot\", zones = [[80, 20], [15, 30]] }`.";

    fn read(value: &Value) -> Result<Self, WorkloadError> {
        match value {
            Value::String(text) => Self::from_text(text, value),
            _ => {
                let text = Self::text_of_table(value).ok_or_else(|| not_a(value, Self::NOUN, ADVICE))?;
                Self::from_text(&text, &json!(text))
            }
        }
    }

    fn write(&self) -> Value {
        json!(self.show())
    }

    fn show(&self) -> String {
        match &self.0 {
            Distribution::Uniform => "uniform".to_owned(),
            Distribution::Permutation => "permutation".to_owned(),
            Distribution::Zipf { theta } => format!("zipf:{theta}"),
            Distribution::Pareto { h } => format!("pareto:{h}"),
            Distribution::Normal { deviation_percent } => format!("normal:{deviation_percent}"),
            Distribution::Hot(zones) => {
                let zone = |(requests, region): &(f64, f64)| format!("{requests}/{region}");
                format!("hot:{}", zones.iter().map(zone).collect::<Vec<_>>().join(","))
            }
        }
    }

    fn schema(_: Option<Range>) -> Value {
        let share = r"[0-9.]+%?/[0-9.]+%?";
        let text = format!(r"^(uniform|permutation|(zipf|pareto|normal):[0-9.]+|hot:{share}(,{share})*)$");
        let table = |kind: &str, key: &str, of: Value| {
            json!({ "type": "object", "additionalProperties": false, "required": ["kind", key],
                    "properties": { "kind": { "const": kind }, key: of } })
        };
        let zone = json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
        json!({ "anyOf": [
            { "type": "string", "pattern": text },
            table("zipf", "theta", json!({ "type": "number" })),
            table("pareto", "h", json!({ "type": "number" })),
            table("normal", "deviation_percent", json!({ "type": "number" })),
            table("hot", "zones", json!({ "type": "array", "minItems": 1, "items": zone })),
        ] })
    }
}
