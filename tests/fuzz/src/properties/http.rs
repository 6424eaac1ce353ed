//! Requests to the server of a sweep's page, in this process.

use super::folder;
use lab_sweep::{Answer, Server};

/// Any bytes have an answer of the right form; only this computer gets a page.
pub fn http(data: &[u8]) {
    let folder = folder::finished();
    let server = Server::new(&folder.path().join("sweep")).expect("the folder of a sweep");
    let Answer { head, body } = server.answer(data);
    // A status, six fields, and an empty line: no byte of the request gets into them.
    let lines: Vec<&str> = head.split("\r\n").collect();
    assert!(lines.len() == 9 && lines[7..] == ["", ""], "{head}");
    assert!(lines.iter().all(|line| !line.contains(char::is_control)), "{head}");
    let length = format!("Content-Length: {}", body.len());
    assert!(body.is_empty() || lines.contains(&&*length), "{head}");
    let text = String::from_utf8_lossy(data).to_ascii_lowercase();
    let is_local = text.contains("localhost") || text.contains("127.0.0.1");
    match lines[0] {
        "HTTP/1.1 200 OK" => assert!(is_local, "a page for {text}"),
        "HTTP/1.1 404 Not Found" | "HTTP/1.1 403 Forbidden" => assert!(body.len() < 100, "{body}"),
        other => panic!("{other}"),
    }
}
