// The operator's pages start with all their files, or not at all.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { OperatorPageModule } from '../../../../src/operator/page/operator-page.module.js';
import { REPOSITORY } from '../../../support/source-files.js';

describe("the operator's pages", () => {
  const publicDirectory = mkdtempSync(join(tmpdir(), 'operator-page-'));
  const sharedDirectory = join(REPOSITORY, 'src/web/public');
  const start = async () => {
    const module = OperatorPageModule.register({ publicDirectory, sharedDirectory });
    const pages = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    await pages.close();
  };

  beforeEach(() =>
    cpSync(join(REPOSITORY, 'src/operator/page/public'), publicDirectory, { recursive: true }),
  );
  afterAll(() => rmSync(publicDirectory, { recursive: true }));

  it('start with all their files', () => expect(start()).resolves.toBeUndefined());

  it.each(['main.js', 'plot.js', 'dom.js', 'operator.css'])('do not start without %s', async (name) => {
    rmSync(join(publicDirectory, name));
    await expect(start()).rejects.toThrow(name);
  });
});
