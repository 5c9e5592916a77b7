//! From a dtype known at run time to code for its Rust type.

/// Runs `$body` with `$T` as the Rust type of `$dtype`, for the groups of types named; `$other`
/// for the rest.
macro_rules! with_type {
    ($dtype:expr, $T:ident: [$($group:ident),*] => $body:expr, else $other:expr) => {
        $crate::kernels::dispatch::with_type!(@start ($dtype) $T ($body) ($other) [$($group)*] {})
    };
    (@start ($d:expr) $T:ident ($b:expr) ($o:expr) [] { $($D:ident $R:ty,)* }) => {
        match $d {
            $($crate::data::DType::$D => { type $T = $R; $b })*
            #[allow(unreachable_patterns)]
            _ => $o,
        }
    };
    (@start ($d:expr) $T:ident ($b:expr) ($o:expr) [bool $($g:ident)*] { $($x:tt)* }) => {
        $crate::kernels::dispatch::with_type!(@start ($d) $T ($b) ($o) [$($g)*] { $($x)*
            Bool $crate::kernels::cast::Bool, })
    };
    (@start ($d:expr) $T:ident ($b:expr) ($o:expr) [int $($g:ident)*] { $($x:tt)* }) => {
        $crate::kernels::dispatch::with_type!(@start ($d) $T ($b) ($o) [$($g)*] { $($x)*
            Int8 i8, Int16 i16, Int32 i32, Int64 i64,
            UInt8 u8, UInt16 u16, UInt32 u32, UInt64 u64, })
    };
    (@start ($d:expr) $T:ident ($b:expr) ($o:expr) [float $($g:ident)*] { $($x:tt)* }) => {
        $crate::kernels::dispatch::with_type!(@start ($d) $T ($b) ($o) [$($g)*] { $($x)*
            Float16 half::f16, BFloat16 half::bf16, Float32 f32, Float64 f64, })
    };
    (@start ($d:expr) $T:ident ($b:expr) ($o:expr) [complex $($g:ident)*] { $($x:tt)* }) => {
        $crate::kernels::dispatch::with_type!(@start ($d) $T ($b) ($o) [$($g)*] { $($x)*
            Complex64 num_complex::Complex<f32>, Complex128 num_complex::Complex<f64>, })
    };
}

pub(crate) use with_type;
