//! The values of an evaluation.

use crate::circuit::Ciphertext;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A value.
#[derive(Clone, Default, Debug)]
pub(super) enum Value {
    /// Nothing yet, or what was taken.
    #[default]
    Absent,
    /// An index, an integer or a truth value.
    Integer(i64),
    /// A number; `None` if the file does not have it.
    Real(Option<f64>),
    /// Elements of one kind.
    Tensor(Rc<Tensor>),
    /// A ciphertext of the circuit.
    Ciphertext(Rc<Ciphertext>),
    /// The ciphertext of zeros with this number, which becomes an input when an operation reads it.
    Zero(usize),
    /// A plaintext, or what the client encrypts and decrypts.
    Plaintext(Rc<Encoded>),
    /// A matrix.
    Matrix(Rc<Matrix>),
    /// The storage with this number.
    Storage(usize),
    /// A key of the client.
    Key,
}

impl Value {
    /// The number, if it is one and the file has it.
    pub(super) fn real(&self) -> Option<f64> {
        if let Self::Real(value) = self { *value } else { None }
    }
}

/// A tensor, in the order of rows.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) elements: Vec<Value>,
}

/// Slots of a plaintext, which repeat.
#[derive(Clone, Debug)]
pub(super) struct Encoded {
    /// The name of its input.
    pub(super) name: String,
    /// `None` if the file does not have them all.
    pub(super) slots: Option<Vec<f64>>,
    /// The number of moduli of what it is for, if the file says so.
    pub(super) level: Option<usize>,
    /// log2 of the scale in its type.
    pub(super) scale_bits: u32,
}

/// A matrix by its diagonals; `None` for a diagonal that the file does not have.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    pub(super) name: String,
    pub(super) diagonals: Option<BTreeMap<i64, Vec<f64>>>,
}

impl Value {
    /// What it is, for errors.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Absent => "nothing",
            Self::Integer(_) => "an integer",
            Self::Real(_) => "a number",
            Self::Tensor(_) => "a tensor",
            Self::Ciphertext(_) | Self::Zero(_) => "a ciphertext",
            Self::Plaintext(_) => "a plaintext",
            Self::Matrix(_) => "a matrix",
            Self::Storage(_) => "a storage",
            Self::Key => "a key",
        }
    }

    /// A tensor of one dimension.
    pub(super) fn vector(elements: Vec<Self>) -> Self {
        Self::Tensor(Rc::new(Tensor { shape: vec![elements.len()], elements }))
    }
}

impl Tensor {
    /// The place of an element in the order of rows; `None` beyond the shape.
    pub(super) fn place(&self, indices: &[i64]) -> Option<usize> {
        if indices.len() != self.shape.len() {
            return None;
        }
        self.shape.iter().zip(indices).try_fold(0, |place, (&size, &index)| {
            let index = usize::try_from(index).ok().filter(|&index| index < size)?;
            Some(place * size + index)
        })
    }

    /// The places of a slice, in the order of its rows; `None` if it is beyond the shape.
    pub(super) fn slice(&self, offsets: &[usize], sizes: &[usize], strides: &[usize]) -> Option<Vec<usize>> {
        let ranks = [offsets.len(), sizes.len(), strides.len()];
        if ranks.iter().any(|&rank| rank != self.shape.len()) {
            return None;
        }
        let mut places = vec![0];
        for (dimension, &length) in self.shape.iter().enumerate() {
            let (offset, size, stride) = (offsets[dimension], sizes[dimension], strides[dimension]);
            let last = size.checked_sub(1).and_then(|last| last.checked_mul(stride)?.checked_add(offset));
            if size > 0 && last.is_none_or(|last| last >= length) {
                return None;
            }
            places = places
                .into_iter()
                .flat_map(|place| (0..size).map(move |index| place * length + offset + index * stride))
                .collect();
        }
        Some(places)
    }

    /// The numbers of a tensor of numbers; `None` if the file does not have one of them.
    pub(super) fn reals(&self) -> Option<Vec<f64>> {
        self.elements.iter().map(Value::real).collect()
    }
}
