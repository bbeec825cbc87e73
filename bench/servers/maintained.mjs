// The built application on its embedded database. Requests to a second port make it insert and delete rows.
//
// The service's own repository inserts the rows, in batches like concurrent exchanges. Its own job deletes them.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ModulesContainer } from '@nestjs/core';

const source = join(import.meta.dirname, '..', '..', 'dist', 'src');
const load = (path) => import(join(source, path));

const CONCURRENT = 25;
/** The purge allows for slow clocks, so it deletes only rows that expired some time ago. */
const EXPIRED_SECONDS_AGO = 7_200;

await import('reflect-metadata');
const { createApplication } = await load('application.js');
const { prepareStartup } = await load('instance/prepare-startup.js');
const { StandardOutput, createLogger } = await load('platform/log/logger.js');

const startup = await prepareStartup({ environment: process.env, workingDirectory: process.cwd() });
const output = new StandardOutput();
const logger = createLogger(startup.config.logLevel, output);
const engineThread = join(source, 'platform', 'database', 'embedded', 'engine.worker.js');
const application = await createApplication(startup, {
  logger,
  output,
  sourceDirectory: source,
  engineThread,
});
const uses = partNamed('UseRepository');
const purge = partNamed('jti-purge');
const control = createServer((request, response) => {
  const rows = Number(new URL(request.url, 'http://control').searchParams.get('rows'));
  rowsInAndOut(rows).then(
    () => response.end(),
    (error) => response.writeHead(500).end(error.stack),
  );
});
control.listen(Number(process.env.BENCH_CONTROL_PORT), '127.0.0.1');
await application.listen();
process.once('SIGTERM', () => void stop());

function partNamed(name) {
  const modules = [...application.nest.get(ModulesContainer).values()];
  const providers = modules.flatMap((module) => [...module.providers.values()]);
  return providers.find((provider) => provider.name === name && provider.instance)?.instance;
}

async function rowsInAndOut(rows) {
  const exp = Math.floor(Date.now() / 1000) - EXPIRED_SECONDS_AGO;
  for (let done = 0; done < rows; done += CONCURRENT) {
    const use = () =>
      uses.use({ subject: { claims: { iss: 'bench', sub: 'bench', jti: randomUUID(), exp } } });
    await Promise.all(Array.from({ length: CONCURRENT }, use));
    await pause();
  }
  await purge.run();
}

async function stop() {
  control.close();
  control.closeAllConnections();
  await application.close();
}
