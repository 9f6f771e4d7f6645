//! One binary for every processor: hot code is compiled once for each instruction set worth
//! having, and run through a value that proves the processor has it.

/// A piece of work that is inlined into a function compiled for some instruction set. Whatever it
/// calls must be `#[inline(always)]` to be compiled for it too.
pub trait Task {
    type Output;
    fn run(self) -> Self::Output;
}

/// An instruction set.
pub trait Cpu: Copy + Send + Sync + 'static {
    fn run<T: Task>(self, task: T) -> T::Output;
}

/// What every processor of the target has.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Cpu for Portable {
    #[inline]
    fn run<T: Task>(self, task: T) -> T::Output {
        #[inline(never)]
        fn compiled<T: Task>(task: T) -> T::Output {
            task.run()
        }
        compiled(task)
    }
}

/// AVX2 and the bit instructions: x86-64-v3.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// The proof that this processor has the instructions, if it has.
    pub fn detect() -> Option<Self> {
        use std::is_x86_feature_detected as has;
        let all = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
        (all && !is_portable_forced()).then_some(Avx2(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Cpu for Avx2 {
    #[inline]
    fn run<T: Task>(self, task: T) -> T::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn compiled<T: Task>(task: T) -> T::Output {
            task.run()
        }
        // SAFETY: `self` can only come from `detect`, which found all these features.
        unsafe { compiled(task) }
    }
}

/// The environment variable that, set to `portable`, keeps to what every processor has: to test
/// that path, and to find out whether it differs.
pub const CPU_VARIABLE: &str = "CROWNHEAD_CPU";

#[cfg(target_arch = "x86_64")]
fn is_portable_forced() -> bool {
    std::env::var_os(CPU_VARIABLE).is_some_and(|value| value == "portable")
}
