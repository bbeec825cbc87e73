# Builds the service and packs it without its tools, to run as an unprivileged user on a root file system that is read only.
# docs/reference/tested-platforms.md says what was tried of it, and on what.
FROM node:22-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev
COPY nest-cli.json tsconfig.json tsconfig.build.json ormconfig.ts ./
COPY src src
COPY pages pages
# What only a compiler or a debugger reads is a quarter of what is installed.
RUN npm run build && npm prune --omit=dev && \
    find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM node:22-slim
ENV NODE_ENV=production \
    SVC_HOST=0.0.0.0 \
    SVC_METRICS_HOST=0.0.0.0 \
    SVC_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY LICENSE ./
COPY deploy/container/health-check.mjs ./
RUN chmod +x dist/src/cli/svc-admin.js && ln -s /app/dist/src/cli/svc-admin.js /usr/local/bin/svc-admin
# The embedded database and its keys; with SVC_DATABASE_URL the volume stays empty.
# /partner is where deploy/compose keeps the keys of a trial's partner.
RUN install -d -o node -g node -m 0700 /data /partner .compile-cache
VOLUME /data
# The user `node` of the base image, by its number: a platform that has to see that it is not root cannot look names up.
USER 1000:1000
# Node.js keeps here what V8 makes of the sources, so that no start compiles them anew: a sixth less of its time.
ENV NODE_COMPILE_CACHE=/app/.compile-cache
# Passwords of operators need a library built for this platform: the image is not made without it.
RUN ["node", "-e", "Promise.all([import('/app/dist/src/application.js'), import('/app/dist/src/app.module.js'), import('@node-rs/argon2')])"]
EXPOSE 5678 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["node", "/app/health-check.mjs"]
# Node.js reckons the room for new objects by the limit of memory: in a small container it takes so little that an exchange costs a quarter
# more. docs/operator/install.md#size; also in scripts/run.mjs.
CMD ["node", "--max-semi-space-size=16", "/app/dist/src/main.js"]
