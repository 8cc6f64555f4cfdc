//! What a declaration gives in documents whose values are exact: tables, lists of named tables, choices, units and ranges.

use plimsoll_workload::option::{Dialect, Fallback, Inside, Record, record_schema};
use plimsoll_workload::{choices, options, unit, words};
use serde_json::{Value, json};

const GARAGES: Dialect = Dialect { page: "docs/garages.md", exact: true };

words! {
    /// What moves a car.
    pub enum Fuel: "a fuel", default Petrol {
        /// Out of a tank.
        Petrol = "petrol",
        /// Out of a battery.
        Current = "current",
    }
}

options! {
    /// A gearbox.
    #[derive(Copy, Eq)]
    pub struct Gears: "gearbox" in GARAGES {
        "Gearbox" {
            /// How many gears.
            count: u16 = 5, range 1.0 => 12.0, example "6";
            /// Turns taken off.
            shift: i32 = 0, range -3.0 => 3.0, example "-1";
            /// How long a change takes.
            change_ns: u64 = 1000, range 0.0 => 1e9, unit unit::NS, example "2000";
        }
    }
}

options! {
    /// A rope.
    pub struct Rope: "rope" in GARAGES {
        "Rope" {
            /// How long.
            length_bytes: u64 = 0, required "say how long the rope is", unit unit::BYTES, example "64";
        }
    }
}

choices! {
    /// How force gets to the road.
    pub enum Drive: "a drive", tag "kind" {
        /// With gears.
        Geared(Gears) = "geared",
        /// With a rope.
        Pulled(Rope) = "pulled",
    }
}

options! {
    /// A car.
    pub struct Car: "car" in GARAGES {
        "Car" {
            /// What it is called.
            name: String = String::new(), required "give the car a name", example "beetle";
            /// What it runs on.
            fuel: Fuel = Fuel::default(), example "current";
            /// How force gets to the road.
            drive: Drive = Drive::Geared(Gears::default()), required "say how it is driven", example "{\"kind\": \"geared\"}";
            /// A second gearbox.
            spare: Option<Gears> = None, unset "none", example "{}";
            /// The gearbox of the winch.
            winch: Gears = Gears::default(), example "{\"count\": 2}";
            /// Who may drive.
            drivers: Vec<String> = Vec::new(), unset "whoever has the key", example "[\"Ada\"]";
            /// Chance to start.
            starts_percent: f64 = 100.0, range 0.0 => 100.0, unit unit::PERCENT, example "99.5";
        }
    }
}

options! {
    /// Where cars stand.
    pub struct Garage: "garage" in GARAGES {
        "Garage" {
            /// The cars.
            car: Vec<Car> = Vec::new(), required "write at least one [[car]]", example "[{\"name\": \"beetle\"}]";
        }
    }
}

fn beetle() -> Value {
    json!({ "name": "beetle", "drive": { "kind": "pulled", "length_bytes": 9 } })
}

fn read(key: &str, value: Value) -> Result<Garage, String> {
    let mut car = beetle();
    car[key] = value;
    Garage::read_record(&json!({ "car": [car] })).map_err(|error| error.with_path())
}

fn sentence(key: &str, value: Value) -> String {
    read(key, value).expect_err("should not read")
}

#[test]
fn a_table_in_a_table_is_read_and_its_place_is_a_path() {
    let garage = read("winch", json!({ "count": 2 })).expect("reads");
    assert_eq!((garage.car[0].winch.count, garage.car[0].winch.change_ns), (2, 1000));
    assert_eq!(sentence("winch", json!({ "count": 13 })), "car.beetle.winch.count: 13 is out of range; write 1 to 12");
    assert_eq!(
        sentence("winch", json!({ "coutn": 3 })),
        "car.beetle.winch: key 'coutn' is not known; did you mean 'count'?"
    );
    assert_eq!(sentence("winch", json!(3)), "car.beetle.winch: 3 is not a table; every gearbox is a table of options");
    assert_eq!(sentence("spare", json!({ "count": 0 })), "car.beetle.spare.count: 0 is out of range; write 1 to 12");
}

#[test]
fn an_entry_of_a_list_is_named_or_numbered() {
    let nameless = Garage::read_record(&json!({ "car": [beetle(), { "drive": 3 }] })).unwrap_err().with_path();
    assert_eq!(nameless, "car[1].drive: 3 is not a table; its key 'kind' says which options it has");
    let missing = Garage::read_record(&json!({ "car": [{ "drive": { "kind": "geared" } }] })).unwrap_err().with_path();
    assert_eq!(missing, "car[0]: key 'name' is missing; give the car a name");
    assert_eq!(sentence("drivers", json!(["Ada", 3])), "car.beetle.drivers[1]: 3 is not a text; put it in quotes");
}

#[test]
fn a_choice_says_which_options_a_table_has() {
    let garage = read("drive", json!({ "kind": "geared", "count": 4 })).expect("reads");
    assert_eq!(garage.car[0].drive, Drive::Geared(Gears { count: 4, ..Gears::default() }));
    assert_eq!(
        sentence("drive", json!({ "kind": "gered" })),
        "car.beetle.drive.kind: 'gered' is not a drive; did you mean 'geared'?"
    );
    assert_eq!(
        sentence("drive", json!({ "count": 4 })),
        "car.beetle.drive: key 'kind' is missing; write \"geared\" or \"pulled\""
    );
    assert_eq!(
        sentence("drive", json!({ "kind": "pulled", "count": 4 })),
        "car.beetle.drive: key 'count' is not known; known are length_bytes"
    );
}

#[test]
fn whole_numbers_are_exact_and_say_what_they_count() {
    assert_eq!(
        sentence("winch", json!({ "change_ns": "2us" })),
        "car.beetle.winch.change_ns: '2us' is not a whole number; write 0 to 1000000000 nanoseconds"
    );
    assert_eq!(
        sentence("winch", json!({ "count": "3" })),
        "car.beetle.winch.count: '3' is not a whole number; write 1 to 12"
    );
    assert_eq!(
        sentence("winch", json!({ "count": 3.0 })),
        "car.beetle.winch.count: 3.0 is not a whole number; write 1 to 12"
    );
    assert_eq!(sentence("winch", json!({ "count": -1 })), "car.beetle.winch.count: -1 is out of range; write 1 to 12");
    assert_eq!(read("winch", json!({ "shift": -3 })).expect("reads").car[0].winch.shift, -3);
    assert_eq!(
        sentence("drive", json!({ "kind": "pulled", "length_bytes": -1 })),
        "car.beetle.drive.length_bytes: -1 is too small; write 0 or more"
    );
    assert_eq!(
        sentence("starts_percent", json!(101)),
        "car.beetle.starts_percent: 101 is out of range; write 0 to 100"
    );
    let most = read("drive", json!({ "kind": "pulled", "length_bytes": u64::MAX })).expect("reads");
    assert_eq!(most.car[0].drive, Drive::Pulled(Rope { length_bytes: u64::MAX }));
}

#[test]
fn ranges_hold_for_records_that_were_not_read() {
    let mut garage = read("spare", json!({})).expect("reads");
    assert_eq!(garage.check_ranges(), Ok(()));
    garage.car[0].spare = Some(Gears { count: 13, ..Gears::default() });
    let refused = garage.check_ranges().unwrap_err().with_path();
    assert_eq!(refused, "car[0].spare.count: 13 is out of range; write 1 to 12");
    garage.car[0].spare = None;
    garage.car[0].drive = Drive::Geared(Gears { shift: 4, ..Gears::default() });
    assert_eq!(garage.check_ranges().unwrap_err().path(), "car[0].drive.shift");
}

#[test]
fn a_declaration_knows_what_is_inside_and_a_default_may_be_a_sentence() {
    let car = Car::declarations();
    let of = |key: &str| car.iter().find(|declaration| declaration.key == key).expect("declared");
    let Inside::Choice { tag, tables } = &of("drive").inside else { panic!("a choice") };
    assert_eq!((*tag, tables[0].0, tables[0].1.about.as_str()), ("kind", "geared", "With gears."));
    let Inside::Table(gears) = &of("winch").inside else { panic!("a table") };
    assert_eq!((gears.noun, gears.declarations[2].unit), ("gearbox", Some(unit::NS)));
    assert_eq!(of("drivers").default, Fallback::Unset("whoever has the key"));
    assert!(matches!(&of("winch").default, Fallback::Is { shown, .. } if shown == "as its keys say"));
}

#[test]
fn the_schema_takes_a_text_where_a_number_has_a_unit() {
    let schema = record_schema::<Garage>();
    let car = &schema["properties"]["car"]["items"]["properties"];
    let change = &car["winch"]["properties"]["change_ns"]["anyOf"];
    assert_eq!(change[0], json!({ "type": "integer", "minimum": 0, "maximum": 1_000_000_000 }));
    assert_eq!(change[1]["type"], "string");
    assert_eq!(car["drive"]["oneOf"][1]["properties"]["kind"], json!({ "const": "pulled" }));
    assert_eq!(car["drive"]["oneOf"][1]["required"], json!(["kind", "length_bytes"]));
}

#[test]
fn what_is_written_reads_again() {
    let garage = read("spare", json!({ "count": 3 })).expect("reads");
    let text = serde_json::to_string(&garage).expect("serialises");
    assert_eq!(serde_json::from_str::<Garage>(&text).expect("reads again"), garage);
    let wrong = serde_json::from_str::<Garage>(&text.replace("\"count\":3", "\"count\":30")).unwrap_err().to_string();
    assert!(wrong.starts_with("car.beetle.spare.count: 30 is out of range; write 1 to 12"), "{wrong}");
}
