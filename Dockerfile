# docker build -t graticule .
#
# Both bases are tags of Debian 12, so that a new build brings its security updates. To build the same image again, give digests:
# --build-arg BUILD_IMAGE=node@sha256:… --build-arg BASE_IMAGE=debian@sha256:…
ARG BUILD_IMAGE=node:24-bookworm-slim
ARG BASE_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /srv/graticule
COPY . .
# Installs what serving needs and prepares the embedded database, so that the first start takes seconds. The command after it
# leaves the compiled form of the server behind, which a container with a read-only root cannot write.
RUN node bootstrap.mjs \
  && node_modules/.bin/node packages/server/bin/graticule.js --help >/dev/null

# Node itself comes with the packages, in the version that the tests ran on. /bin/sh must be there: DuckDB's processes are started
# by it, with limits of memory.
FROM ${BASE_IMAGE}
WORKDIR /srv/graticule
COPY --from=build /srv/graticule .
RUN install -d -o 10001 -g 10001 -m 700 /data
# A number, so that Kubernetes can see that it is not root (runAsNonRoot).
USER 10001:10001
ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/data MALLOC_ARENA_MAX=4 PATH=/srv/graticule/node_modules/.bin:/usr/local/bin:/usr/bin:/bin
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/v1/liveness`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=16", "packages/server/bin/graticule.js"]
