# A receiver for a Docker Space, and for anything else that runs containers: the example in examples/trigger-training,
# with the package built from this repository. To begin a bot of your own, take templates/space.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsdown.config.ts vite.console.config.ts ./
COPY src src
RUN npm run build:js

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=7860
WORKDIR /app
# Spaces run containers as user 1000, who may only write to this folder. A volume on the folder inherits its owner.
RUN mkdir -m 700 .hub-webhooks && chown 1000:1000 .hub-webhooks
COPY package.json package-lock.json ./
# The optional package is for server files with decorators.
RUN npm ci --ignore-scripts --omit=dev && npm cache clean --force
COPY --from=build /app/dist dist
COPY examples/trigger-training examples/trigger-training
USER 1000
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# A list, not a line for a shell: so SIGTERM reaches the server, which finishes what is in work.
CMD ["node", "examples/trigger-training/start.ts"]
