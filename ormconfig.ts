// The data source for TypeORM's command line, the same as the service's own: `typeorm -d dist/ormconfig.js migration:show`.
import { readConfig } from './src/config/load-config.js';
import { databaseSettings, environmentSources } from './src/instance/prepare-startup.js';
import { SCHEMA } from './src/instance/schema.js';
import { prepareDatabase } from './src/platform/database/data-source.js';

async function prepareDataSource() {
  const sources = environmentSources({ environment: process.env, workingDirectory: process.cwd() });
  const { dataSource } = await prepareDatabase(databaseSettings(readConfig(sources).config), SCHEMA);
  return dataSource;
}

/** TypeORM waits for it, and connects by itself. */
export const dataSource = prepareDataSource();
