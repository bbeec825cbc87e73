// The data source for TypeORM's command line, the same as the service's own.
import { readConfig } from './src/config/load-config.js';
import { openDatabase } from './src/database/data-source.js';
import { ENTITIES } from './src/entities.js';
import { databaseSettings, environmentSources } from './src/startup.js';

async function openDataSource() {
  const sources = environmentSources({ environment: process.env, workingDirectory: process.cwd() });
  const { dataSource } = await openDatabase(databaseSettings(readConfig(sources).config), ENTITIES);
  return dataSource;
}

export const dataSource = openDataSource();
