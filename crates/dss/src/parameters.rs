//! What the 22 queries ask for: the values that stand in their text, drawn from a seed.
//!
//! Model: a stream of pseudo-random numbers per query, all from one seed, as the specification's own generator draws them; so
//! equal seeds give the values that it gives. Words come from the lists of the crate `tpchgen`.
//! Names and order of a query's values are those of its row in [`parameters`].

use serde::Serialize;
use tpchgen::distribution::{Distribution, Distributions};

use crate::error::DataError;
use crate::scale::Scale;

/// One value, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Parameter {
    /// A number.
    Number(i64),
    /// A word, a day as `1995-03-15`, or a decimal as `0.06`.
    Text(String),
    /// Several numbers.
    Numbers(Vec<i64>),
    /// Several words.
    Texts(Vec<String>),
}

/// The values of a query, by name, in the order in which they are drawn.
pub type Parameters = Vec<(&'static str, Parameter)>;

const MULTIPLIER: u64 = 16_807;
const MODULUS: u64 = (1 << 31) - 1;

/// The values of all 22 queries for one stream: number 1 first. Stream 0 is the power test.
pub fn parameters(seed: i64, stream: u32, scale: Scale) -> Result<[Parameters; 22], DataError> {
    let words = Distributions::static_default();
    let start = u64::try_from(seed).ok().filter(|seed| *seed > 0).map(|seed| seed.saturating_add(stream.into()));
    let mut state = start.filter(|start| *start < MODULUS).ok_or(DataError::Seed(seed))?;
    Ok(std::array::from_fn(|index| {
        state = state * MULTIPLIER % MODULUS;
        Draw { state, words }.query(index + 1, scale)
    }))
}

/// What Q13 looks for in comments, two words after another.
const COMPLAINTS: [&str; 4] = ["special", "pending", "unusual", "express"];
const SUBJECTS: [&str; 4] = ["packages", "requests", "accounts", "deposits"];

/// The random numbers of one query.
struct Draw {
    state: u64,
    words: &'static Distributions,
}

impl Draw {
    fn query(&mut self, number: usize, scale: Scale) -> Parameters {
        match number {
            1 => vec![("delta", self.number(60, 120))],
            2 => vec![("size", self.number(1, 50)), ("type", text(self.kind().2)), ("region", self.region())],
            3 => vec![("segment", self.segment()), ("date", text(&format!("1995-03-{:02}", 1 + self.uniform(0, 30))))],
            4 | 15 => vec![("date", self.month(0, 57))],
            5 => vec![("region", self.region()), ("date", self.year())],
            6 => vec![
                ("date", self.year()),
                ("discount", text(&format!("0.{:02}", self.uniform(2, 9)))),
                ("quantity", self.number(24, 25)),
            ],
            7 => self.nations(),
            8 => self.nation_with_its_region(),
            9 => vec![("colour", self.colour())],
            10 => vec![("date", self.month(1, 24))],
            11 => vec![("nation", text(self.nation().0)), ("fraction", text(&format!("{:.10}", 0.0001 / scale.get())))],
            12 => self.ship_modes(),
            13 => vec![("word1", self.one_of(COMPLAINTS, 20)), ("word2", self.one_of(SUBJECTS, 40))],
            14 => vec![("date", self.month(0, 59))],
            16 => self.brand_kind_sizes(),
            17 => vec![("brand", self.brand()), ("container", text(self.word(self.words.part_containers())))],
            18 => vec![("quantity", self.number(312, 315))],
            19 => self.brands_and_quantities(),
            20 => vec![("colour", self.colour()), ("date", self.year()), ("nation", text(self.nation().0))],
            21 => vec![("nation", text(self.nation().0))],
            22 => {
                let codes = self.shuffled(10, 34, 7).iter().map(i64::to_string).collect();
                vec![("codes", Parameter::Texts(codes))]
            }
            _ => unreachable!("there are 22 queries"),
        }
    }

    fn nations(&mut self) -> Parameters {
        let first = self.nation().0;
        let second = std::iter::repeat_with(|| self.nation().0).find(|nation| *nation != first);
        vec![("nation1", text(first)), ("nation2", text(second.unwrap_or_default()))]
    }

    fn nation_with_its_region(&mut self) -> Parameters {
        let (nation, region) = self.nation();
        let (first, middle, last) = self.kind();
        vec![("nation", text(nation)), ("region", text(region)), ("type", text(&format!("{first} {middle} {last}")))]
    }

    fn ship_modes(&mut self) -> Parameters {
        let modes = self.words.ship_modes();
        let first = self.word(modes);
        let second = std::iter::repeat_with(|| self.word(modes)).find(|mode| *mode != first);
        vec![("mode1", text(first)), ("mode2", text(second.unwrap_or_default())), ("date", self.year())]
    }

    fn brand_kind_sizes(&mut self) -> Parameters {
        let brand = self.brand();
        let (first, middle, _) = self.kind();
        let sizes = self.shuffled(1, 50, 8);
        vec![("brand", brand), ("type", text(&format!("{first} {middle}"))), ("sizes", Parameter::Numbers(sizes))]
    }

    fn brands_and_quantities(&mut self) -> Parameters {
        let brands = ["brand1", "brand2", "brand3"].map(|name| (name, self.brand()));
        let quantities = [("quantity1", 1, 10), ("quantity2", 10, 20), ("quantity3", 20, 30)]
            .map(|(name, least, most)| (name, self.number(least, most)));
        brands.into_iter().chain(quantities).collect()
    }

    /// A whole number from `least` to `most`, both included.
    fn uniform(&mut self, least: i64, most: i64) -> i64 {
        self.state = self.state * MULTIPLIER % MODULUS;
        // In floating point, as the specification's generator has it; another rounding would draw other values.
        let share = self.state as f64 / MODULUS as f64;
        least + (share * (most - least + 1) as f64) as i64
    }

    fn number(&mut self, least: i64, most: i64) -> Parameter {
        Parameter::Number(self.uniform(least, most))
    }

    /// A word by the weights of its list.
    fn word(&mut self, list: &'static Distribution) -> &'static str {
        let drawn = self.uniform(1, list.get_weight(list.size() - 1).into());
        let place = (0..list.size()).find(|place| i64::from(list.get_weight(*place)) >= drawn);
        list.get_values()[place.unwrap_or_default()]
    }

    /// One of four words of the same weight.
    fn one_of(&mut self, words: [&str; 4], weight: i64) -> Parameter {
        let drawn = self.uniform(1, 4 * weight);
        text(words[((drawn - 1) / weight) as usize])
    }

    /// A nation and its region; the list of nations has no weights but the way from one region to the next.
    fn nation(&mut self) -> (&'static str, &'static str) {
        let nations = self.words.nations();
        let place = self.uniform(1, nations.size() as i64) as usize - 1;
        let region = nations.get_weight(place) as usize;
        (nations.get_values()[place], self.words.regions().get_values()[region])
    }

    fn region(&mut self) -> Parameter {
        text(self.word(self.words.regions()))
    }

    fn segment(&mut self) -> Parameter {
        text(self.word(self.words.market_segments()))
    }

    fn colour(&mut self) -> Parameter {
        text(self.word(self.words.part_colors()))
    }

    /// The three words of a type of parts.
    fn kind(&mut self) -> (&'static str, &'static str, &'static str) {
        let kind = self.word(self.words.part_types());
        let mut words = kind.split(' ');
        let mut next = || words.next().unwrap_or_default();
        (next(), next(), next())
    }

    fn brand(&mut self) -> Parameter {
        let maker = self.uniform(1, 5);
        text(&format!("Brand#{maker}{}", self.uniform(1, 5)))
    }

    /// The first day of a year from 1993 to 1997.
    fn year(&mut self) -> Parameter {
        text(&format!("19{}-01-01", self.uniform(93, 97)))
    }

    /// The first day of a month, counted from January 1993.
    fn month(&mut self, least: i64, most: i64) -> Parameter {
        let month = self.uniform(least, most);
        text(&format!("{}-{:02}-01", 1993 + month / 12, 1 + month % 12))
    }

    /// The first `count` of the numbers from `least` to `most` in an order that is drawn.
    fn shuffled(&mut self, least: i64, most: i64, count: usize) -> Vec<i64> {
        let mut numbers: Vec<i64> = (least..=most).collect();
        let last = numbers.len() as i64 - 1;
        for place in 0..numbers.len() {
            let other = self.uniform(place as i64, last) as usize;
            numbers.swap(place, other);
        }
        numbers.truncate(count);
        numbers
    }
}

fn text(value: &str) -> Parameter {
    Parameter::Text(value.to_owned())
}
