// SPDX-License-Identifier: Apache-2.0
//! loom behind a C interface, so that it can run C++ code: a second opinion on the worlds of two
//! threads. A violation is a panic; it ends the process where it meets a C++ function that is
//! noexcept, so every world runs in a process of its own.

use loom::cell::UnsafeCell;
use loom::sync::atomic::{fence, AtomicU64, Ordering};
use loom::sync::{Condvar, Mutex};
use std::ffi::c_void;
use std::sync::atomic::AtomicU64 as PlainAtomicU64;

/// An atomic word, with the queue of those that sleep on it.
pub struct Word {
    value: AtomicU64,
    lock: Mutex<()>,
    sleepers: Condvar,
}

/// The orders of C++ in the order of its enumeration, without consume.
fn order(number: i32) -> Ordering {
    match number {
        0 => Ordering::Relaxed,
        2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcqRel,
        _ => Ordering::SeqCst,
    }
}

#[no_mangle]
pub extern "C-unwind" fn loom_word_new(value: u64) -> *mut Word {
    Box::into_raw(Box::new(Word {
        value: AtomicU64::new(value),
        lock: Mutex::new(()),
        sleepers: Condvar::new(),
    }))
}

/// # Safety
/// Of all functions below: the pointer comes from the function that makes it, in this execution,
/// and has not been freed.
#[no_mangle]
pub unsafe extern "C-unwind" fn loom_word_free(word: *mut Word) {
    drop(Box::from_raw(word));
}

#[no_mangle]
pub unsafe extern "C-unwind" fn loom_load(word: *const Word, with: i32) -> u64 {
    (*word).value.load(order(with))
}

#[no_mangle]
pub unsafe extern "C-unwind" fn loom_store(word: *const Word, value: u64, with: i32) {
    (*word).value.store(value, order(with));
}

#[no_mangle]
pub unsafe extern "C-unwind" fn loom_swap(word: *const Word, value: u64, with: i32) -> u64 {
    (*word).value.swap(value, order(with))
}

#[no_mangle]
pub unsafe extern "C-unwind" fn loom_add(word: *const Word, value: u64, with: i32) -> u64 {
    (*word).value.fetch_add(value, order(with))
}

#[no_mangle]
pub unsafe extern "C-unwind" fn loom_or(word: *const Word, value: u64, with: i32) -> u64 {
    (*word).value.fetch_or(value, order(with))
}

#[no_mangle]
pub unsafe extern "C-unwind" fn loom_replace(
    word: *const Word,
    expected: u64,
    value: u64,
    with: i32,
) -> bool {
    let result =
        (*word).value.compare_exchange(expected, value, order(with), Ordering::Relaxed);
    result.is_ok()
}

#[no_mangle]
pub extern "C-unwind" fn loom_fence() {
    fence(Ordering::SeqCst);
}

#[no_mangle]
pub extern "C-unwind" fn loom_yield() {
    loom::thread::yield_now();
}

/// Stands for futex(2): compares and sleeps under the lock that a waker takes.
#[no_mangle]
pub unsafe extern "C-unwind" fn loom_futex_wait(word: *const Word, expected: u64) {
    let guard = (*word).lock.lock().unwrap();
    if (*word).value.load(Ordering::Relaxed) == expected {
        drop((*word).sleepers.wait(guard).unwrap());
    }
}

#[no_mangle]
pub unsafe extern "C-unwind" fn loom_futex_wake(word: *const Word) {
    let _guard = (*word).lock.lock().unwrap();
    (*word).sleepers.notify_all();
}

#[no_mangle]
pub extern "C-unwind" fn loom_cell_new() -> *mut UnsafeCell<()> {
    Box::into_raw(Box::new(UnsafeCell::new(())))
}

#[no_mangle]
pub unsafe extern "C-unwind" fn loom_cell_free(cell: *mut UnsafeCell<()>) {
    drop(Box::from_raw(cell));
}

/// Announces an access to the plain memory that the cell stands for.
#[no_mangle]
pub unsafe extern "C-unwind" fn loom_cell_access(cell: *const UnsafeCell<()>, is_write: bool) {
    if is_write {
        (*cell).with_mut(|_| ());
    } else {
        (*cell).with(|_| ());
    }
}

type Make = extern "C-unwind" fn() -> *mut c_void;
type Run = extern "C-unwind" fn(*mut c_void, i32);
type Free = extern "C-unwind" fn(*mut c_void);

/// Explores a world of two threads and returns the number of executions; panics on a violation.
/// A negative `preemptions` means no bound.
#[no_mangle]
pub extern "C-unwind" fn loom_explore(make: Make, run: Run, free: Free, preemptions: i32) -> u64 {
    static EXECUTIONS: PlainAtomicU64 = PlainAtomicU64::new(0);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = usize::try_from(preemptions).ok();
    builder.max_branches = 10_000;
    builder.check(move || {
        EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        let world = make() as usize;
        let other = loom::thread::spawn(move || run(world as *mut c_void, 1));
        run(world as *mut c_void, 0);
        other.join().unwrap();
        free(world as *mut c_void);
    });
    EXECUTIONS.load(Ordering::Relaxed)
}
