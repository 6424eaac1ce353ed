# The command line in a container. Without arguments it runs the built-in sweep, and leaves tables, charts and a page in /out:
#
#     docker build --tag rpu .
#     docker run --rm --volume "$PWD/out:/out" rpu
#
# With arguments, it runs another command: `docker run --rm rpu gen --list`.
FROM rust:1-slim-trixie AS build
WORKDIR /rpu
COPY . .
RUN cargo install --locked --path . --features debugger --root /usr/local

FROM debian:trixie-slim
COPY --from=build /usr/local/bin/rpu /usr/local/bin/rpu
COPY --from=build /rpu/LICENSE-APACHE /rpu/LICENSE-MIT /rpu/NOTICE /usr/local/share/rpu/
WORKDIR /out
ENTRYPOINT ["rpu"]
CMD ["sweep", "--out", "/out"]
