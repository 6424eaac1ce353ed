//! The slots of the image and of each plaintext.

use super::trained::{CHANNELS, CLASSES, COLOURS, IMAGE_UNIT, Image, Layer, Trained, blocks};
use num_complex::Complex64;
use programs::Maps;
use std::collections::BTreeMap;

/// A layer's place in the network.
#[derive(Clone, Copy, Debug)]
struct Place {
    operand: Maps,
    result: Maps,
    /// The units of its operand and of its result.
    units: [f64; 2],
}

/// The slots of the program's inputs for a network.
#[derive(Clone, Debug)]
pub(super) struct Packing<'t> {
    trained: &'t Trained,
    slots: usize,
    /// By the name of the layer, or of the sum.
    places: BTreeMap<String, Place>,
    last: Place,
}

impl<'t> Packing<'t> {
    pub(super) fn new(trained: &'t Trained, slots: usize) -> Self {
        let mut places = BTreeMap::new();
        let image = Maps::of_image(slots);
        let mut maps = image.result(slots, CHANNELS[0], 1);
        let mut unit = trained.unit("first");
        places.insert("first".to_owned(), Place { operand: image, result: maps, units: [IMAGE_UNIT, unit] });
        for (stage, block, name) in blocks() {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let result = maps.result(slots, CHANNELS[stage], stride);
            let [a, b, skip] = ["a", "b", "skip"].map(|part| format!("{name}.{part}"));
            let [inner, outer] = [&a, &b].map(|name| trained.unit(name));
            places.insert(a, Place { operand: maps, result, units: [unit, inner] });
            places.insert(b, Place { operand: result, result, units: [inner, outer] });
            places.insert(skip, Place { operand: maps, result, units: [unit, outer] });
            (maps, unit) = (result, outer);
        }
        let last = Place { operand: maps, result: maps, units: [unit, 1.0] };
        Self { trained, slots, places, last }
    }

    /// The slots of an image.
    ///
    /// # Panics
    /// Panics if it has another size.
    pub(super) fn image(&self, image: &Image) -> Vec<Complex64> {
        let Place { operand, units: [unit, _], .. } = self.places["first"];
        assert_eq!(image.side(), operand.side, "the pixels of a side of the image");
        let mut slots = vec![Complex64::ZERO; self.slots];
        for copy in 0..operand.copies {
            for (channel, map) in image.maps.iter().enumerate() {
                let start = copy * (self.slots / operand.copies) + operand.place(channel);
                for ((y, x), &pixel) in pixels(operand).zip(map) {
                    slots[start + offset(operand, (y, x))] = (pixel / unit).into();
                }
            }
        }
        slots
    }

    /// The slots of a plaintext of the program, from its name; none if the network has no such plaintext.
    pub(super) fn plaintext(&self, name: &str) -> Option<Vec<f64>> {
        let in_layer = |layer: &str| Some(name.strip_prefix(layer)?.strip_prefix('.')?.split('.').collect());
        let mut slots = vec![0.0; self.slots];
        let found: Option<(&String, Vec<&str>)> =
            self.places.keys().find_map(|layer| Some((layer, in_layer(layer)?)));
        let number = |text: &str| text.parse::<usize>().ok();
        if let Some((layer, parts)) = found {
            let place = &self.places[layer];
            match (&parts[..], self.trained.layers.get(layer)) {
                (["weights", group, tap], Some(layer)) => {
                    self.weights(&mut slots, place, layer, (number(group)?, number(tap)?));
                }
                (["select", channel], Some(_)) => {
                    let start = place.result.place(number(channel)?);
                    pixels(place.result).for_each(|at| slots[start + offset(place.result, at)] = 1.0);
                }
                (["bias"], Some(layer)) => self.bias(&mut slots, place, layer),
                (["factor"], None) => slots.fill(place.units[0] / place.units[1]),
                _ => return None,
            }
            return Some(slots);
        }
        let Place { operand, units: [unit, _], .. } = self.last;
        let layer = self.trained.layer("classifier");
        if let Some(parts) = in_layer("pool") {
            let ["select", index] = parts[..] else { return None };
            let first = number(index)? * operand.gap;
            slots[first..first + operand.gap].fill(1.0 / (operand.side * operand.side) as f64);
        } else {
            match in_layer("classifier")?[..] {
                ["weights", diagonal] => {
                    let offset = number(diagonal)? as i64 - (CLASSES as i64 - 1);
                    let giant = offset.div_euclid(Maps::BABIES) * Maps::BABIES;
                    for class in 0..CLASSES as i64 {
                        if let Some(from) =
                            usize::try_from(class + offset).ok().filter(|&from| from < layer.from)
                        {
                            let slot = (class + giant).rem_euclid(self.slots as i64) as usize;
                            slots[slot] = unit * layer.weight(class as usize, from, 0);
                        }
                    }
                }
                ["bias"] => slots[..CLASSES].copy_from_slice(&layer.bias),
                _ => return None,
            }
        }
        Some(slots)
    }

    /// The weights of a window's pixel for a group of channels, one for each copy of the operand.
    fn weights(&self, slots: &mut [f64], place: &Place, layer: &Layer, (group, tap): (usize, usize)) {
        let Place { operand, units: [from_unit, to_unit], .. } = *place;
        for copy in 0..operand.copies {
            let to = group * operand.copies + copy;
            if to >= layer.bias.len() {
                continue;
            }
            for from in 0..layer.from {
                let start = copy * (self.slots / operand.copies) + operand.place(from);
                for at in pixels(operand).filter(|&at| layer.pixel(at, tap, operand.side).is_some()) {
                    slots[start + offset(operand, at)] = layer.weight(to, from, tap) * from_unit / to_unit;
                }
            }
        }
    }

    fn bias(&self, slots: &mut [f64], place: &Place, layer: &Layer) {
        let Place { result, units: [_, unit], .. } = *place;
        for copy in 0..result.copies {
            for (channel, bias) in layer.bias.iter().enumerate() {
                let start = copy * (self.slots / result.copies) + result.place(channel);
                pixels(result).for_each(|at| slots[start + offset(result, at)] = bias / unit);
            }
        }
    }
}

/// The rows and columns of the pixels of a channel.
fn pixels(maps: Maps) -> impl Iterator<Item = (usize, usize)> {
    (0..maps.side).flat_map(move |y| (0..maps.side).map(move |x| (y, x)))
}

/// The slots from a channel's first pixel to another one.
fn offset(maps: Maps, (y, x): (usize, usize)) -> usize {
    y * maps.pixel_row() + x * maps.gap
}

const _: () = assert!(COLOURS < 4, "an image has four grids, of which one is empty");
