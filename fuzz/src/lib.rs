//! Fuzz targets on the stable toolchain.
