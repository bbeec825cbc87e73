// A PostgreSQL database of the tests behind a network that can fail.
import type { DatabaseSettings } from '../../src/platform/database/data-source.js';
import { TestDatabase } from './databases.js';
import { TcpProxy } from './tcp-proxy.js';

export class DatabaseBehindProxy extends TestDatabase {
  private closed: Promise<void> | undefined;

  private constructor(
    private readonly direct: TestDatabase,
    readonly proxy: TcpProxy,
  ) {
    super('postgresql');
  }

  /** @throws Error for the embedded database, which no network leads to */
  static async open(database: TestDatabase): Promise<DatabaseBehindProxy> {
    const { settings } = database;
    if (settings.kind === 'embedded') throw new Error('there is no network to the embedded database');
    return new DatabaseBehindProxy(database, await TcpProxy.open(settings.url));
  }

  override get settings(): DatabaseSettings {
    const { settings } = this.direct;
    return settings.kind === 'embedded' ? settings : { ...settings, url: this.proxy.url };
  }

  /** Takes the network away for good; a second time it does nothing. */
  close(): Promise<void> {
    return (this.closed ??= this.proxy.close());
  }
}
