//! Property: whatever resolves gives requests that stay inside the region, aligned, and of a size that was asked for.

use plimsoll_workload::{Generator, Op, StreamPlan, TargetShape, Workload};
use proptest::prelude::*;
use serde_json::{Value, json};

fn options() -> impl Strategy<Value = Value> {
    let sectors = 1u64..64;
    let sizes = prop_oneof![
        sectors.clone().prop_map(|count| json!(count * 512)),
        (sectors.clone(), 0u64..64).prop_map(|(low, steps)| json!(format!(
            "{}-{}",
            low * 512,
            low * 512 + steps * 512
        ))),
        (1u64..32, 1u64..32)
            .prop_map(|(low, more)| json!({ (low * 512).to_string(): 30, ((low + more) * 512).to_string(): 70 })),
    ];
    let distribution =
        proptest::sample::select(vec!["uniform", "zipf:1.1", "pareto:0.2", "normal:10", "hot:80/20,15/30"]);
    let spread = (distribution, 0u32..=100, any::<bool>(), any::<bool>());
    let region = (0u32..60, 20u32..=40, any::<bool>());
    (sizes, spread, region, 1u32..4, 0u32..=100).prop_map(|(size, spread, region, threads, read)| {
        let mut stream = json!({
            "block_size": size, "distribution": spread.0, "random_percent": spread.1, "threads": threads,
            "read_percent": read,
            "sequential": if spread.2 { "shared" } else { "per_thread" },
            "direction": if spread.3 { "forward" } else { "backward" },
            "region_start": format!("{}%", region.0), "region_length": format!("{}%", region.1),
        });
        if region.2 {
            stream["align"] = json!(512);
        }
        stream
    })
}

fn requests_obey(plan: &StreamPlan) -> Result<(), TestCaseError> {
    let align = u64::from(plan.access.entries[0].align);
    for mut generator in Generator::family(plan) {
        for _ in 0..200 {
            let request = generator.next();
            prop_assert!(request.offset >= plan.region.start, "{request:?} of {plan:?}");
            prop_assert!(request.offset + u64::from(request.len) <= plan.region.end, "{request:?} of {plan:?}");
            prop_assert!(request.offset.is_multiple_of(align), "{request:?} of {plan:?}");
            prop_assert!(
                request.len.is_multiple_of(plan.granule) && request.offset.is_multiple_of(plan.granule.into())
            );
            prop_assert!(request.len > 0 && request.len <= plan.max_len);
            prop_assert!(plan.issues(request.op) && matches!(request.op, Op::Read | Op::Write));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn what_resolves_stays_inside(stream in options(), size_bytes in 1u64 << 20..1 << 26, seed in any::<u64>()) {
        let workload = Workload::from_json(&json!({ "stream": [stream] }), "w.toml").unwrap();
        let shape = TargetShape { size_bytes, block_bytes: 512 };
        for plan in workload.resolve(shape, seed).unwrap() {
            prop_assert!(plan.region.end <= size_bytes);
            requests_obey(&plan)?;
        }
    }
}

#[test]
fn shipped_iometer_mixes_stay_inside_too() {
    let lines = json!([
        { "weight": 60, "size": 512, "read_percent": 80 },
        { "weight": 40, "size": "66560", "read_percent": 80, "random_percent": 50 },
    ]);
    let file = json!({ "stream": [{ "access": lines, "region_start": 1000, "region_length": "50%", "threads": 2 }] });
    let workload = Workload::from_json(&file, "w.toml").unwrap();
    let plan = workload.resolve(TargetShape { size_bytes: 10_000_000, block_bytes: 512 }, 7).unwrap().remove(0);
    assert_eq!((plan.region.start, plan.granule), (66_560, 512));
    for mut generator in Generator::family(&plan) {
        for _ in 0..2000 {
            let request = generator.next();
            assert!(request.offset >= plan.region.start && request.offset + u64::from(request.len) <= plan.region.end);
            assert!(request.offset.is_multiple_of(request.len.into()), "aligned to its own size");
        }
    }
}
