//! Compiles `kernels/image/jpeg.c` against the headers of the libjpeg-turbo that
//! `turbojpeg-sys` builds.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let source = "src/kernels/image/jpeg.c";
    println!("cargo:rerun-if-changed={source}");
    let include = std::env::var("DEP_TURBOJPEG_INCLUDE")?;
    let mut build = cc::Build::new();
    // The pixels' loops are libjpeg's own; what is here must be quick in tests too.
    build.file(source).includes(include.split(',')).warnings(true).opt_level(2);
    build.try_compile("headrace_jpeg")?;
    Ok(())
}
