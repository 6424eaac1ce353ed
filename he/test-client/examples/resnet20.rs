//! ResNet-20 on encrypted images of CIFAR-10, on the simulated RPU, beside the network in the clear.
//!
//! ```sh
//! python3 he/test-client/data/resnet20.py
//! cargo run --release -p rpu-test-client --example resnet20 -- 1
//! ```
//!
//! The script fetches trained weights and images. The first argument is the number of images: the first ones
//! of those that it wrote. The second one is the ring degree, by default 65536; a smaller one takes images of
//! fewer pixels, 1024 those of 4 x 4. The time and the memory of each image go to the standard error. The
//! exit status is 1 if a class differs from that of the network in the clear, or a logit by more than 0.05.

use programs::ParameterSet;
use sim::Machine;
use std::process::ExitCode;
use std::time::Instant;
use test_client::resnet20::{Activation, Image, NAMES, Trained, class, classify, distance, program, side};
use test_client::{Client, NOT_SECURE};

/// The largest error of a logit that passes, set by hand.
const MOST: f64 = 0.05;

/// That of a logit in the clear, whose weights have nine digits.
const ROUNDING: f64 = 1e-5;

fn read(name: &str) -> Result<String, String> {
    let path = format!("target/resnet20/{name}");
    std::fs::read_to_string(&path)
        .map_err(|error| format!("{path}: {error}; he/test-client/data/resnet20.py writes it"))
}

/// The most memory that the process has had, in GB, where the system tells it.
fn memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
    Some(kilobytes.parse::<f64>().ok()? * 1024.0 / 1e9)
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let n = arguments.next().map(|text| text.parse()).transpose()?;
    let set = ParameterSet::built_in("resnet20", n).expect("a built-in set")?;
    let trained = Trained::parse(&read("weights.txt")?)?;
    let images = Image::parse_all(&read("images.txt")?)?;
    let images = images.get(..count).ok_or_else(|| format!("there are {} images", images.len()))?;
    let images: Vec<Image> = images.iter().map(|image| image.shrunk(side(&set))).collect();
    println!("{}, n = {}: {NOT_SECURE}", set.name(), set.degree().len());
    let by_numpy = images.iter().filter_map(|image| image.logits.map(|logits| (image, logits)));
    for (image, logits) in by_numpy {
        let clear = trained.clear(image, Activation::Exact);
        if distance(&clear.logits, &logits) > ROUNDING {
            return Err(format!("the logits {:?} are {logits:?} by NumPy", clear.logits).into());
        }
        if clear.reach > 1.0 {
            return Err(format!("a map is {:.2} times as large as its unit", clear.reach).into());
        }
    }
    let mut begin = Instant::now();
    let generated = program(&set)?;
    let mut client = Client::new(set, 1)?;
    println!("| image | encrypted | in the clear | logits differ by | and by, with polynomials for ReLU |");
    println!("|---|---|---|--:|--:|");
    let mut is_right = true;
    classify(&mut client, &Machine::rpu_128x128(), (&generated, &trained), &images, |image, outcome| {
        let [found, clear] = [&outcome.found, &outcome.clear.logits].map(class);
        let [error, polynomial] =
            [&outcome.clear, &outcome.polynomial].map(|clear| distance(&outcome.found, &clear.logits));
        let [of_image, of_found, of_clear] = [image.class, found, clear].map(|class| NAMES[class]);
        println!("| {of_image} | {of_found} | {of_clear} | {error:.4} | {polynomial:.5} |");
        let memory =
            memory().map_or_else(String::new, |memory| format!(", at most {memory:.1} GB of memory"));
        eprintln!("{:.0} s{memory}", begin.elapsed().as_secs_f64());
        is_right &= found == clear && error <= MOST;
        begin = Instant::now();
    })?;
    Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
