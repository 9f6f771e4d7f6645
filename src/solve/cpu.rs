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

macro_rules! instruction_set {
    ($(#[$doc:meta])* $name:ident, $features:literal, $($feature:tt),*) => {
        $(#[$doc])*
        #[cfg(target_arch = "x86_64")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        #[cfg(target_arch = "x86_64")]
        impl $name {
            /// The proof that this processor has the instructions, if it has.
            pub fn detect() -> Option<Self> {
                ($(std::is_x86_feature_detected!($feature))&&*).then_some($name(()))
            }
        }

        #[cfg(target_arch = "x86_64")]
        impl Cpu for $name {
            #[inline]
            fn run<T: Task>(self, task: T) -> T::Output {
                #[target_feature(enable = $features)]
                fn compiled<T: Task>(task: T) -> T::Output {
                    task.run()
                }
                // SAFETY: `self` can only come from `detect`, which found all these features.
                unsafe { compiled(task) }
            }
        }
    };
}

instruction_set!(
    /// AVX2 and the bit instructions: x86-64-v3.
    Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt", "avx2", "bmi1", "bmi2", "lzcnt", "popcnt");
instruction_set!(
    /// AVX-512: x86-64-v4.
    Avx512, "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl",
    "avx2", "bmi1", "bmi2", "lzcnt", "popcnt", "avx512f", "avx512bw", "avx512dq", "avx512vl");
