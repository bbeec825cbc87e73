// The operator's pages, for browsers. They show nothing by themselves: they ask the operator's API.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Controller, Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { PageController } from '../../platform/http/page.controller.js';
import { MEDIA_TYPES, PublicFile, VersionedAssets } from '../../platform/http/public-file.js';

interface OperatorPageOptions {
  /** Folder that holds the pages and the files of their own that they are made of. */
  readonly publicDirectory: string;
  /** Folder of the instance's other pages, whose looks these share. */
  readonly sharedDirectory: string;
}

/** Scripts of these pages; a request's path never reaches the file system. */
const SCRIPTS = [
  'dialog.js',
  'dom.js',
  'entries-page.js',
  'entry-fields.js',
  'entry-form-page.js',
  'entry-members.js',
  'entry-page.js',
  'explain-page.js',
  'form.js',
  'instance-api.js',
  'instance-page.js',
  'main.js',
  'new-entry-page.js',
  'overview-page.js',
  'password-page.js',
  'plot.js',
  'problems.js',
  'refusal-card.js',
  'refusals-page.js',
  'request-page.js',
  'revocations-page.js',
  'session-tables.js',
  'sessions-page.js',
  'shell.js',
  'sign-in-page.js',
  'states.js',
  'table.js',
  'trail-page.js',
  'trail-search.js',
  'user-page.js',
  'users-page.js',
  'wording.js',
] as const;

const { css, html, javascript, svg } = MEDIA_TYPES;

class OperatorPageFiles {
  /** All pages are one document, which finds out by itself what to show. */
  readonly page: PublicFile;
  readonly assets: VersionedAssets;

  /** @throws Error when the build left a file out: the service must not start */
  constructor({ publicDirectory, sharedDirectory }: OperatorPageOptions) {
    const own = (name: string) => readFileSync(join(publicDirectory, name));
    const shared = (name: string) => readFileSync(join(sharedDirectory, name));
    const library = (name: string) =>
      readFileSync(createRequire(import.meta.url).resolve(`uplot/dist/${name}`));
    this.assets = new VersionedAssets(
      new Map([
        ...SCRIPTS.map((name) => [name, new PublicFile(own(name), javascript)] as const),
        ['operator.css', new PublicFile(own('operator.css'), css)],
        ['theme.css', new PublicFile(shared('theme.css'), css)],
        ['icon.svg', new PublicFile(shared('icon.svg'), svg)],
        ['uplot.js', new PublicFile(library('uPlot.esm.js'), javascript)],
        ['uplot.css', new PublicFile(library('uPlot.min.css'), css)],
      ]),
    );
    this.page = new PublicFile(Buffer.from(this.assets.versioned(own('index.html'))), html);
  }
}

/**
 * @rule D113 The operator's pages are one document, whose addresses name no person. See public/main.js for what outlives a
 *   sign-in.
 */
@Controller('admin')
class OperatorPageController extends PageController {
  constructor(files: OperatorPageFiles) {
    super(files);
  }
}

@Module({})
export class OperatorPageModule {
  static register(options: OperatorPageOptions): DynamicModule {
    return {
      module: OperatorPageModule,
      controllers: [OperatorPageController],
      providers: [{ provide: OperatorPageFiles, useFactory: () => new OperatorPageFiles(options) }],
    };
  }
}
