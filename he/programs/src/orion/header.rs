//! The header: parameters, and the graph of layers.

use diagnostic::Diagnostic;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The header. A key that release [`RELEASE`](super::RELEASE) does not write is an error.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header<'t> {
    version: u64,
    pub(super) params: Params<'t>,
    pub(super) config: Config,
    pub(super) manifest: Manifest,
    /// The level of the client's ciphertexts, from 0.
    pub(super) input_level: usize,
    /// The numbers of bootstraps and keys.
    #[serde(borrow, rename = "cost")]
    _cost: &'t RawValue,
    #[serde(borrow)]
    graph: Graph<'t>,
    blob_count: usize,
}

/// The parameters of Lattigo. Moduli are given by the logarithms of their sizes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params<'t> {
    pub(super) logn: u32,
    pub(super) logq: Vec<u32>,
    pub(super) logp: Vec<u32>,
    pub(super) log_default_scale: u32,
    /// The nonzero coefficients of the secret.
    pub(super) h: u64,
    /// Text may have escapes.
    #[serde(borrow)]
    pub(super) ring_type: Cow<'t, str>,
    pub(super) boot_logp: Option<Vec<u32>>,
    pub(super) btp_logn: Option<u32>,
}

/// The keys that Orion's client makes. Ours are those that the circuit uses, whose rotations are by other
/// baby and giant steps.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    #[serde(default, rename = "galois_elements")]
    _galois_elements: Vec<u64>,
    #[serde(default, rename = "bootstrap_slots")]
    _bootstrap_slots: Vec<u64>,
    #[serde(default, rename = "boot_logp")]
    _boot_logp: Option<Vec<u32>>,
    #[serde(default, rename = "btp_logn")]
    _btp_logn: Option<u32>,
    /// Whether there is a key for products.
    pub(super) needs_rlk: Option<bool>,
}

/// The settings of the compiler.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    #[serde(rename = "margin")]
    _margin: f64,
    /// The layout of tensors, which the matrices have already.
    #[serde(rename = "embedding_method")]
    _embedding_method: Embedding,
    /// Whether the layers before polynomials have their scaling and shift.
    pub(super) fuse_modules: bool,
    #[serde(default, rename = "reserve_output_levels")]
    _reserve_output_levels: u64,
}

/// A layout of tensors.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Embedding {
    Hybrid,
    Square,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Graph<'t> {
    input: String,
    output: String,
    #[serde(borrow)]
    nodes: Vec<Node<'t>>,
    edges: Vec<Edge>,
}

/// A layer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Node<'t> {
    pub(super) name: String,
    pub(super) op: String,
    /// The level of its operand, from 0.
    pub(super) level: usize,
    /// The levels that it uses up.
    #[serde(rename = "depth")]
    _depth: usize,
    /// Shapes of the tensors in operands and results, whose layouts the matrices have already.
    #[serde(default)]
    pub(super) shape: Option<BTreeMap<String, Vec<u64>>>,
    /// The settings of the operation.
    #[serde(borrow)]
    pub(super) config: Option<&'t RawValue>,
    #[serde(default)]
    pub(super) blob_refs: Option<BTreeMap<String, usize>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edge {
    src: String,
    dst: String,
}

/// The layers in the order of evaluation.
#[derive(Debug)]
pub(super) struct Order {
    /// Indices of layers, and of their operands.
    pub(super) layers: Vec<(usize, Vec<usize>)>,
    /// The layer that takes the input.
    pub(super) input: usize,
    pub(super) output: usize,
}

impl<'t> Header<'t> {
    pub(super) fn read(file: &str, text: &'t str, blobs: usize) -> Result<Self, Diagnostic> {
        let wrong = |message: String| {
            let help = format!("the headers of release {} are read", super::RELEASE);
            Diagnostic::new(message).in_file(file).with_help(help)
        };
        // The version comes first: another one has other keys.
        #[derive(Deserialize)]
        struct Version {
            version: u64,
        }
        let invalid = |error: serde_json::Error| {
            wrong(format!("the header is invalid: {}", diagnostic::reason(&error.to_string())))
        };
        let Version { version } = serde_json::from_str(text).map_err(invalid)?;
        if version != 2 {
            return Err(wrong(format!("version {version} of Orion's header, expected 2")));
        }
        let header: Self = serde_json::from_str(text).map_err(invalid)?;
        debug_assert_eq!(header.version, version);
        if header.blob_count != blobs {
            let stated = header.blob_count;
            return Err(wrong(format!(
                "the header says that there are {stated} blobs, the file has {blobs}"
            )));
        }
        Ok(header)
    }

    pub(super) fn nodes(&self) -> &[Node<'t>] {
        &self.graph.nodes
    }

    /// The layers, each after its operands; of several, the first one of the file first.
    pub(super) fn order(&self, file: &str) -> Result<Order, Diagnostic> {
        let Graph { input, output, nodes, edges } = &self.graph;
        let wrong = |message: String| Diagnostic::new(message).in_file(file);
        let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, node) in nodes.iter().enumerate() {
            // Names of plaintexts begin with it, and are names of files.
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if node.name.is_empty() || !node.name.chars().all(is_word) {
                let name = diagnostic::one_line(&node.name);
                let message = format!("invalid name `{name}` of a layer (graph.nodes[{index}])");
                return Err(wrong(message).with_help("letters, digits and `_` make a name"));
            }
            if indices.insert(&node.name, index).is_some() {
                return Err(wrong(format!("a second layer `{}` (graph.nodes[{index}])", node.name)));
            }
        }
        let find = |name: &str, place: &dyn std::fmt::Display| {
            let found = indices.get(name).copied();
            found.ok_or_else(|| {
                wrong(format!("unknown layer `{}` in graph.{place}", diagnostic::one_line(name)))
            })
        };
        let (input, output) = (find(input, &"input")?, find(output, &"output")?);
        let mut operands = vec![Vec::new(); nodes.len()];
        let mut users = vec![Vec::new(); nodes.len()];
        for (index, edge) in edges.iter().enumerate() {
            let src = find(&edge.src, &format_args!("edges[{index}].src"))?;
            let dst = find(&edge.dst, &format_args!("edges[{index}].dst"))?;
            operands[dst].push(src);
            users[src].push(dst);
        }
        if !operands[input].is_empty() {
            return Err(wrong(format!(
                "the layer `{}` takes the input and another layer",
                nodes[input].name
            )));
        }
        let unused = (0..nodes.len()).find(|&index| users[index].is_empty() && index != output);
        if let Some(index) = unused {
            let message = format!("nothing uses the result of the layer `{}`", nodes[index].name);
            return Err(wrong(message).with_help("a network has one output"));
        }
        let mut missing: Vec<usize> = operands.iter().map(Vec::len).collect();
        let mut ready: BTreeSet<usize> = (0..nodes.len()).filter(|&index| missing[index] == 0).collect();
        let mut layers = Vec::new();
        while let Some(index) = ready.pop_first() {
            for &user in &users[index] {
                missing[user] -= 1;
                if missing[user] == 0 {
                    ready.insert(user);
                }
            }
            layers.push((index, std::mem::take(&mut operands[index])));
        }
        if let Some(index) = missing.iter().position(|&missing| missing > 0) {
            return Err(wrong(format!("the layer `{}` depends on itself", nodes[index].name)));
        }
        Ok(Order { layers, input, output })
    }
}
