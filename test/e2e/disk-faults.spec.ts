// The disk of the embedded database is full, or fails: a clear answer, nothing corrupt, nothing lost that was answered.
import { execFileSync } from 'node:child_process';
import { closeSync, cpSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Partner } from '../../demo/partner.js';
import type { ServiceSurroundings } from '../../demo/service-process.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { describeBuilt, exchangeStatusAt, logOf, surroundingsOf } from '../support/built-service.js';
import { describeOnEmbedded } from '../support/databases.js';

/** What a request gets while the database cannot serve it. */
const NOT_SERVED = 503;
/** What it gets at least from a database that is just ending. */
const FAILED = 500;
const DISK_MEGABYTES = 128;
const FAILURES = 5;
const MAX_REQUESTS = 3_000;

/** An exchange by somebody new: it makes a user, so that tables grow. */
class Traffic {
  readonly partner = Partner.create({ issuer: 'https://partner.example' });
  readonly answered: string[] = [];
  private count = 0;

  newToken(): string {
    this.count += 1;
    const sub = `somebody ${this.count} ${'x'.repeat(200)}`;
    return this.partner.sign(this.partner.claims({ sub, email: `somebody-${this.count}@partner.example` }));
  }

  /** The status of the answer; `undefined` if the process ended first. */
  async send(baseUrl: string, token = this.newToken()): Promise<number | undefined> {
    const status = await exchangeStatusAt(baseUrl, token);
    if (status === 200) this.answered.push(token);
    return status;
  }

  async expectAllUsed(baseUrl: string): Promise<void> {
    for (const token of [...this.answered]) expect(await this.send(baseUrl, token)).toBe(400);
  }
}

const FILLER = 'filler';
const BLOCK_BYTES = 4_096;

class SmallDisk {
  private constructor(readonly directory: string) {}

  /** @returns undefined if this account may not mount a disk */
  static mount(megabytes: number): SmallDisk | undefined {
    const directory = mkdtempSync(join(tmpdir(), 'small-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs', directory], {
        stdio: 'ignore',
      });
      return new SmallDisk(directory);
    } catch {
      rmSync(directory, { recursive: true, force: true });
      return undefined;
    }
  }

  /** Leaves room for nothing. */
  fill(): void {
    const file = openSync(join(this.directory, FILLER), 'a');
    try {
      for (;;) writeSync(file, Buffer.alloc(BLOCK_BYTES));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  makeRoom(): void {
    rmSync(join(this.directory, FILLER), { force: true });
  }

  unmount(): void {
    // Lazily: a process that a failing test left running must not keep it.
    execFileSync('umount', ['-l', this.directory], { stdio: 'ignore' });
    rmSync(this.directory, { recursive: true, force: true });
  }
}

describeBuilt('[D98] the disk', () => {
  describeOnEmbedded('of the embedded database', (database) => {
    let surroundings: ServiceSurroundings & { baseUrl: string };
    let service: ServiceProcess | undefined;
    let disk: SmallDisk | undefined;
    let traffic: Traffic;

    const prepare = async (settings: Record<string, string>) => {
      traffic = new Traffic();
      surroundings = await surroundingsOf({
        SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([traffic.partner.staticEntry()]),
        SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000000',
        ...settings,
      });
      service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
    };
    afterEach(async () => {
      await service?.stop();
      disk?.unmount();
      disk = undefined;
      rmSync(surroundings.directory, { recursive: true, force: true });
    });

    const mountable = SmallDisk.mount(1);
    mountable?.unmount();
    if (mountable === undefined)
      it.skip('skipped: this account may not mount a small file system', () => undefined);
    else
      it('[D98] that is full: requests fail clearly, and pass again when there is room', async () => {
        disk = SmallDisk.mount(DISK_MEGABYTES);
        if (disk === undefined) throw new Error('it could be mounted a moment ago');
        const data = join(disk.directory, 'data');
        cpSync(database.environment['SVC_DATA_DIR'] ?? '', data, { recursive: true });
        await prepare({ SVC_DATA_DIR: data });
        expect(await traffic.send(surroundings.baseUrl)).toBe(200);
        disk.fill();
        let failures = 0;
        let isGone = false;
        for (let sent = 0; failures < FAILURES && !isGone && sent < MAX_REQUESTS; sent++) {
          const status = await traffic.send(surroundings.baseUrl);
          isGone = status === undefined;
          if (status === undefined || status === 200) continue;
          expect(status).toBe(NOT_SERVED);
          failures += 1;
        }
        if (isGone) expect(await service?.exited).toBe(1);
        else expect(failures).toBe(FAILURES);
        disk.makeRoom();
        if (isGone) service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
        expect(await traffic.send(surroundings.baseUrl)).toBe(200);
        await traffic.expectAllUsed(surroundings.baseUrl);
        // What is on the disk is whole: the next start takes it, too.
        await service?.stop();
        service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
        await traffic.expectAllUsed(surroundings.baseUrl);
      });

    it('[D98] that fails ends the process with a message, and the next start has everything that was confirmed', async () => {
      const trigger = join(mkdtempSync(join(tmpdir(), 'failing-disk-')), 'now');
      await prepare({
        ...database.environment,
        NODE_OPTIONS: `--require ${join(__dirname, 'support', 'failing-disk.cjs')}`,
        FAILING_DISK: trigger,
      });
      for (let count = 0; count < 5; count++) expect(await traffic.send(surroundings.baseUrl)).toBe(200);
      writeFileSync(trigger, '');
      try {
        const status = await traffic.send(surroundings.baseUrl);
        expect(status === undefined || status >= FAILED).toBe(true);
        expect(await service?.exited).toBe(1);
      } finally {
        rmSync(trigger, { force: true });
      }
      if (service === undefined) throw new Error('it was started above');
      const fatal = (await logOf(service)).filter(({ msg }) =>
        String(msg).includes('the embedded database has stopped, so the process ends'),
      );
      expect(fatal).toHaveLength(1);
      service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
      await traffic.expectAllUsed(surroundings.baseUrl);
      expect(await traffic.send(surroundings.baseUrl)).toBe(200);
    });
  });
});
