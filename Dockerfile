# docker build -t graticule .
FROM node:24-bookworm-slim AS build
WORKDIR /srv/graticule
COPY . .
# Installs what serving needs and prepares the embedded database, so that the first start takes seconds.
RUN node bootstrap.mjs

FROM node:24-bookworm-slim
WORKDIR /srv/graticule
COPY --from=build /srv/graticule .
RUN mkdir /data && chown node:node /data
USER node
ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/api/v1/healthcheck').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node_modules/.bin/node", "--max-semi-space-size=16", "packages/server/bin/graticule.js"]
