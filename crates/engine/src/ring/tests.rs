//! Rings of older kernels, and those for which something is refused.

use io_uring::opcode;

use super::*;

const DEPTH: usize = 8;
const OPTIONS: RingOptions = RingOptions { depth: DEPTH, polled: false, nop: true };
/// Rings that a thread can have registered (`IO_RINGFD_REG_MAX` of Linux, io_uring/tctx.h).
const REGISTERED_MAX: usize = 16;

/// Carries NOPs often enough that both queues wrap round, and waits in vain once.
fn carries_what_it_is_given(ring: &mut Ring) {
    for round in 0..100 {
        let count = round % DEPTH + 1;
        for number in 0..count {
            // SAFETY: a NOP points to nothing.
            assert!(unsafe { ring.push(&opcode::Nop::new().build().user_data((round * DEPTH + number) as u64)) });
        }
        let mut seen = Vec::new();
        while seen.len() < count {
            ring.enter(Some(1_000_000_000)).unwrap();
            while let Some(completion) = ring.next() {
                seen.push(completion.user_data() as usize);
            }
            ring.finished();
        }
        seen.sort_unstable();
        assert_eq!(seen, (round * DEPTH..round * DEPTH + count).collect::<Vec<_>>(), "{ring:?}");
    }
    ring.enter(Some(1_000_000)).unwrap();
    assert_eq!(ring.finished(), 0);
}

#[test]
fn an_older_kernel_gets_a_ring_of_what_it_knows() {
    if let Err(error) = probe() {
        println!("skipped: io_uring: {error}");
        return;
    }
    // Deferred task running without a single issuer is refused as an unknown flag is.
    let unknown: Flavour = ("of a kernel to come", |builder| {
        builder.setup_defer_taskrun();
    });
    for oldest in 0..FLAVOURS.len() {
        let known = &FLAVOURS[oldest..];
        let mut ring = Ring::first_of(&[&[unknown; 2], known].concat(), OPTIONS).unwrap();
        assert!(known.iter().any(|&(name, _)| name == ring.flavour()), "{ring:?}");
        carries_what_it_is_given(&mut ring);
    }
    let refused = Ring::first_of(&[unknown], OPTIONS).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(libc::EINVAL), "the kernel's own word reaches whoever asked");
}

#[test]
fn a_descriptor_that_the_kernel_does_not_register_serves_as_it_is() {
    if let Err(error) = probe() {
        println!("skipped: io_uring: {error}");
        return;
    }
    let mut rings: Vec<Ring> = (0..=REGISTERED_MAX).map(|_| Ring::new(OPTIONS).unwrap()).collect();
    assert!(!rings[REGISTERED_MAX].is_registered());
    rings.iter_mut().for_each(carries_what_it_is_given);
    drop(rings);
    let again = Ring::new(OPTIONS).unwrap();
    assert!(again.is_registered() || !kernel_registers(), "rings that are gone leave their places");
}

/// Whether this kernel registers a ring's descriptor at all (5.18).
fn kernel_registers() -> bool {
    std::thread::spawn(|| Ring::new(OPTIONS).unwrap().is_registered()).join().unwrap()
}
