# The packed package with its production dependencies, run by an unprivileged user.
FROM node:24-slim AS build
WORKDIR /source
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm pack --pack-destination /tmp \
  && mkdir -p /srv/plimsoll \
  && mv /tmp/plimsoll-*.tgz /srv/plimsoll/plimsoll.tgz \
  && cd /srv/plimsoll \
  && echo '{ "private": true }' > package.json \
  && npm install --omit=dev --ignore-scripts --no-audit --no-fund ./plimsoll.tgz

FROM node:24-slim
ENV NODE_ENV=production PATH=/srv/plimsoll/node_modules/.bin:$PATH
# Configuration and workloads are mounted or copied to this folder; images built on this one install their packages in it.
# The tarball stays, because package.json names it: npm may read it again.
COPY --from=build /srv/plimsoll /srv/plimsoll
# The ledger, tokens and stored jobs.
RUN mkdir -m 700 /data && chown node:node /data
USER node
WORKDIR /srv/plimsoll
VOLUME /data
EXPOSE 8080 8081 8082
# Handles SIGTERM itself: running requests have 30 s, so give `docker stop` a longer timeout.
STOPSIGNAL SIGTERM
ENTRYPOINT ["plimsoll"]
CMD ["up", "--host", "0.0.0.0", "--data", "/data"]
