//! The declared version of the models.

/// The version of everything that determines a simulated result: the code generator, the executors, the
/// cycle model, the models of area and energy, and the content of a run document.
///
/// Keys of sweep points and of cached search results depend on it, and so do comparisons of run documents.
///
/// Raise it with every change that alters a program, or the cycles, area or energy of a program on a machine:
/// results of older versions are then computed again. Do not raise it for a change of comments, names, speed
/// or error messages, nor for a new recipe in the library: the key of a point depends on the library's
/// recipes for its task. The test `lab/sweep/tests/all/model.rs` compares a sample of results with a
/// committed file and fails if the version must rise.
pub const MODEL_VERSION: u32 = 31;
