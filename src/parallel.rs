//! The few ways in which work is shared out over the threads of the current rayon pool.
//!
//! Everything here calls through pointers: what is generic over a rule set would otherwise compile
//! rayon's machinery anew for each rule set and call, which takes minutes and megabytes. Each call
//! should therefore be worth microseconds.

#![cfg_attr(
    not(feature = "solve"),
    allow(dead_code, reason = "only solving needs all of these ways")
)]

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Calls `f` with every number below `count`.
pub fn for_each(count: u64, f: &(dyn Fn(u64) + Sync)) {
    (0..count).into_par_iter().for_each(f);
}

/// Calls `f` with every item and its place.
pub fn for_each_of<T: Send>(items: Vec<T>, f: &(dyn Fn(usize, T) + Sync)) {
    let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|t| Mutex::new(Some(t))).collect();
    for_each(items.len() as u64, &|i| {
        let item = items[i as usize]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(item) = item {
            f(i as usize, item);
        }
    });
}

/// What `f` makes of every number below `count`, in order.
pub fn map<T: Send>(count: u64, f: &(dyn Fn(u64) -> T + Sync)) -> Vec<T> {
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each(count, &|i| {
        let result = f(i);
        *results[i as usize]
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let results = results
        .into_iter()
        .map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner));
    results.flatten().collect()
}

/// One tool for each thread, made when first needed.
pub struct PerThread<T, N> {
    new: N,
    tools: Vec<Mutex<Option<T>>>,
}

impl<T: Send, N: Fn() -> T> PerThread<T, N> {
    pub fn new(new: N) -> Self {
        let threads = rayon::current_num_threads().max(1);
        PerThread {
            new,
            tools: (0..threads).map(|_| Mutex::new(None)).collect(),
        }
    }

    /// Lends this thread's tool, which must not be asked for again meanwhile.
    pub fn with<U>(&self, f: impl FnOnce(&mut T) -> U) -> U {
        let thread = rayon::current_thread_index().unwrap_or(0);
        let mut tool = self.tools[thread]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        f(tool.get_or_insert_with(&self.new))
    }

    /// The tools that were needed.
    pub fn into_tools(self) -> impl Iterator<Item = T> {
        let tools = self.tools.into_iter();
        tools.filter_map(|tool| tool.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_out() {
        assert_eq!(
            map(1000, &|i| i * i),
            (0..1000).map(|i| i * i).collect::<Vec<u64>>()
        );
        let sum = Mutex::new(0);
        for_each_of((0..100).collect(), &|i, item: usize| {
            assert_eq!(i, item);
            *sum.lock().unwrap() += item;
        });
        assert_eq!(sum.into_inner().unwrap(), 4950);
        let counters = PerThread::new(|| 0);
        for_each(100, &|_| counters.with(|n| *n += 1));
        assert_eq!(counters.into_tools().sum::<i32>(), 100);
    }
}
