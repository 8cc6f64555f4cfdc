use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> TargetSpec {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn sentence(text: &str) -> String {
    text.parse::<TargetSpec>().unwrap_err().to_string()
}

fn path(text: &str, file_only: bool) -> TargetSpec {
    TargetSpec::Part(PartSpec { path: text.into(), file_only, size_bytes: None })
}

#[test]
fn bare_paths_are_taken_character_for_character() {
    for text in
        ["/data/scratch", "./scratch", "scratch.dat", "/dev/disk/by-path/pci-0000:00:1f.2", "/a,b?c%25", "/with space"]
    {
        assert_eq!(parsed(text), path(text, false));
        assert_eq!(parsed(text).to_string(), text);
    }
}

#[test]
fn blanks_at_the_ends_of_a_path_are_part_of_the_name() {
    for text in ["/data/end ", " start", "/data/line\n", "two words "] {
        assert_eq!(parsed(text), path(text, false));
    }
    assert_eq!(parsed("file:/data/end "), path("/data/end ", true));
    assert_eq!(parsed(" queue:?service=exp:1ms "), parsed("queue:?service=exp:1ms"));
    assert!(sentence(" ").contains("it is empty"));
}

#[test]
fn a_file_is_said_to_be_one_and_may_have_escapes() {
    assert_eq!(parsed("file:/data/a%2Cb%3f%25"), path("/data/a,b?%", true));
    assert_eq!(parsed("file:/data/a%2Cb").to_string(), "file:/data/a%2Cb");
    assert!(sentence("file:/a?b").contains("written `%3F`"));
    assert!(sentence("file:/100%").contains("`%` is not an escape"));
    assert!(sentence("file:/a%zz").contains("`%zz` is not an escape"));
    assert!(sentence("file:/a%00").contains("is not an escape"));
    assert!(sentence("file:/a%é").contains("is not an escape"));
}

#[test]
fn sets_have_parts_and_a_stripe_has_a_unit() {
    let stripe = parsed("stripe:/dev/sdb,file:/data/x,/dev/sdd?unit=64k");
    assert!(
        matches!(&stripe, TargetSpec::Stripe { parts, unit_bytes: 65_536 } if parts.len() == 3 && parts[1].file_only)
    );
    assert_eq!(stripe.to_string(), "stripe:/dev/sdb,file:/data/x,/dev/sdd?unit=64KiB");
    assert_eq!(parsed("stripe:a,b").to_string(), "stripe:a,b?unit=1MiB");
    assert_eq!(parsed("concat:a,b").to_string(), "concat:a,b");
}

/// `concat:a ,b` measured the file `a`, and no text named `a `.
#[test]
fn a_blank_at_the_end_of_a_part_is_written_as_an_escape_and_never_dropped() {
    for text in ["concat:a ,b", "concat: a,b", "concat:a,b ", "concat:a,\tb", "stripe:a,b ?unit=1MiB", "concat:a, ,b"] {
        let found = sentence(text);
        assert!(found.contains("a blank stands at an end of the part") && found.contains("write it `%20`"), "{found}");
    }
    let named = parsed("concat:a%20,%20b,two words,file:c%20");
    let paths: Vec<_> = named.parts().iter().map(|part| part.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["a ", " b", "two words", "c "]);
    assert_eq!(parsed(&named.to_string()), named);
    assert_eq!(parsed("  concat:a,b"), parsed("concat:a,b"));
    assert_eq!(parsed("stripe:a,b?unit=1MiB\n"), parsed("stripe:a,b?unit=1MiB"));
}

#[test]
fn a_set_says_how_long_each_of_its_files_is_made() {
    let sizes = |text: &str| parsed(text).parts().iter().map(|part| part.size_bytes).collect::<Vec<_>>();
    assert_eq!(sizes("concat:a,/dev/sdb,c?sizes=64MiB,-,8k"), [Some(64 << 20), None, Some(8192)]);
    assert_eq!(sizes("stripe:a,b?sizes=1GiB&unit=64k"), [Some(1 << 30); 2]);
    for text in
        ["concat:a,b?sizes=64MiB,-", "concat:a,b?sizes=64MiB", "stripe:a,b?unit=1MiB&sizes=8KiB,4KiB", "concat:a,b"]
    {
        assert_eq!(parsed(text).to_string(), text);
    }
    assert_eq!(parsed("concat:a,b?sizes=-,-").to_string(), "concat:a,b");
}

#[test]
fn modelled_targets_have_defaults() {
    assert_eq!(parsed("null:"), TargetSpec::Null { size_bytes: 1 << 40 });
    assert_eq!(parsed("null:?size=1GiB"), TargetSpec::Null { size_bytes: 1 << 30 });
    assert_eq!(parsed("queue:"), TargetSpec::Queue(QueueSpec::default()));
    let spec =
        parsed("queue:?service=uniform:1ms-2ms&servers=4&size=64MiB&seed=7&stall=5s+500ms,2s+1s&error_percent=0.5%");
    let TargetSpec::Queue(queue) = &spec else { panic!("{spec:?}") };
    assert_eq!(queue.service, Service::Uniform { min_ns: 1_000_000, max_ns: 2_000_000 });
    assert_eq!((queue.servers, queue.seed, queue.faults.error_percent), (4, Some(7), 0.5));
    assert_eq!(queue.stalls[0], Stall { at_ns: 2_000_000_000, length_ns: 1_000_000_000 });
    assert_eq!(
        spec.to_string(),
        "queue:?service=uniform:1ms-2ms&servers=4&size=64MiB&seed=7&stall=2s+1s,5s+500ms&error_percent=0.5"
    );
}

#[test]
fn mistakes_get_one_sentence_with_the_remedy() {
    for (text, expected) in [
        ("  ", "it is empty; give a file or a device"),
        (
            "strpe:a,b",
            "`strpe:` is not a kind of target (did you mean `stripe`?); a file of that name is written `./strpe:a,b`",
        ),
        ("array:hp-p2000", "`array:` needs the document of an array here"),
        ("null", "write `null:` for the kind of target, or `./null` for a file of that name"),
        ("file:", "`file:` needs a path"),
        ("stripe:/dev/sdb", "`stripe:` needs at least two parts"),
        ("concat:null:,a", "`null:` cannot be a part of a set"),
        ("concat:/a,/b,/a", "`/a` is there twice"),
        ("concat:/a,/b?unit=1M", "option `unit` is not known here; there are sizes"),
        ("stripe:a,b?unti=1M", "option `unti` is not known here (did you mean `unit`?); there are unit, sizes"),
        ("stripe:a,b?unit=1000", "option `unit`: a unit is a multiple of 512 bytes"),
        ("stripe:a,b?unit=0", "option `unit`: 0B is out of range; write 512B to 1GiB"),
        ("stripe:a,b?unit", "`unit` is not of the form key=value"),
        (
            "concat:a,b,c?sizes=1M,2M",
            "option `sizes` says the size of 2 parts, and there are 3; write one size for each",
        ),
        ("concat:a,b?sizes=1000,4k", "option `sizes`: 1000B is out of range"),
        ("concat:a,b?sizes=5000,4k", "option `sizes`: the size of a scratch file is a multiple of 4KiB"),
        ("concat:a,b?sizes=,4k", "option `sizes`: '' is not a size"),
        ("null:/dev/null", "`null:` takes nothing before the `?`; write for example `null:?size=1TiB`"),
        ("null:?size=lots", "option `size`: 'lots' is not a size"),
        ("queue:?service=1ms", "'1ms' is not a service time; write for example const:1ms"),
        ("queue:?service=expo:1ms", "'expo' is not a distribution (did you mean `exp`?)"),
        ("queue:?service=exp:0s", "'0s' is out of range"),
        ("queue:?service=uniform:2ms-1ms", "runs backwards; write uniform:1ms-2ms"),
        ("queue:?servers=0", "'0' is not a whole number from 1 to 1048576"),
        ("queue:?stall=2s", "'2s' is not a stall; write when and how long"),
        ("queue:?stall=1s+2s,2s+1s", "the stalls 1s+2s and 2s+1s overlap"),
        ("queue:?eror_percent=1", "(did you mean `error_percent`?)"),
        ("queue:?lost_percent=101", "option `lost_percent`: '101' is out of range; write 0 to 100"),
        ("queue:?seed=1&seed=2", "option `seed` is given twice"),
    ] {
        let found = sentence(text);
        assert!(found.starts_with(&format!("target `{text}`: ")) && found.contains(expected), "{found}");
    }
}

#[test]
fn a_mistake_in_an_array_names_the_array_and_the_key() {
    let text = r#"array:{"name":"two","link":[{"name":"fc","rate_bytes_per_s":"fast"}],"controller":[],"devices":[],"group":[],"volumes":[]}"#;
    let found = sentence(text);
    assert_eq!(
        found,
        "target `array:two`: link.fc.rate_bytes_per_s: 'fast' is not a whole number; write 1 or more bytes per second"
    );
}

fn paths() -> impl Strategy<Value = PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    prop::collection::vec(1u8..=255, 1..12).prop_map(|bytes| std::ffi::OsString::from_vec(bytes).into())
}

proptest! {
    #[test]
    fn the_canonical_text_of_a_set_means_the_same_set(
        (first, second) in (paths(), paths()),
        file_only: bool,
        unit in 1u32..1000,
        pages in (0u64..3, 0u64..3),
    ) {
        let made = |pages: u64| (pages > 0).then_some(pages * 4096);
        prop_assume!(first != second);
        let parts = vec![
            PartSpec { path: PathBuf::from("/").join(first), file_only, size_bytes: made(pages.0) },
            PartSpec { path: PathBuf::from("/").join(second), file_only: false, size_bytes: made(pages.1) },
        ];
        prop_assume!(parts[0].path != parts[1].path);
        let stripe = TargetSpec::Stripe { parts: parts.clone(), unit_bytes: unit * 512 };
        prop_assert_eq!(&parsed(&stripe.to_string()), &stripe);
        let concat = TargetSpec::Concat(parts.clone());
        prop_assert_eq!(&parsed(&concat.to_string()), &concat);
        let file = TargetSpec::Part(PartSpec { file_only: true, size_bytes: None, ..parts[0].clone() });
        prop_assert_eq!(&parsed(&file.to_string()), &file);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,40}|(stripe|concat|queue|null|file):[%?,&=a-z0-9:+-]{0,30}") {
        let _ = text.parse::<TargetSpec>();
    }
}
