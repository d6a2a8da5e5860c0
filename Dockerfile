# The packed package with its production dependencies, run by an unprivileged user.
FROM node:24-slim AS build
WORKDIR /source
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm pack --pack-destination /tmp \
  && mkdir /app \
  && npm install --prefix /app --omit=dev --ignore-scripts --no-audit --no-fund /tmp/plimsoll-*.tgz \
  && rm -rf /app/node_modules/.cache

FROM node:24-slim
ENV NODE_ENV=production PATH=/app/node_modules/.bin:$PATH
COPY --from=build /app /app
# Configuration and workloads are mounted or copied to /srv/plimsoll; /data holds the ledger.
RUN mkdir -p /srv/plimsoll/node_modules /data \
  && ln -s /app/node_modules/plimsoll /srv/plimsoll/node_modules/plimsoll \
  && chown node:node /data
USER node
WORKDIR /srv/plimsoll
VOLUME /data
EXPOSE 8080 8081 8082
# Handles SIGTERM itself: running requests have 30 s, so give `docker stop` a longer timeout.
STOPSIGNAL SIGTERM
ENTRYPOINT ["plimsoll"]
CMD ["up", "--host", "0.0.0.0", "--data", "/data"]
