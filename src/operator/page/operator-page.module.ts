// The operator's pages, for browsers. They show nothing by themselves: they ask the operator's API.
import { readdirSync, readFileSync } from 'node:fs';
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
    // In the same order on every instance: the version follows from it.
    const scripts = readdirSync(publicDirectory)
      .filter((name) => name.endsWith('.js'))
      .sort()
      .map((name) => [name, new PublicFile(own(name), javascript)] as const);
    const files = new Map([
      ...scripts,
      ['operator.css', new PublicFile(own('operator.css'), css)],
      ['theme.css', new PublicFile(shared('theme.css'), css)],
      ['icon.svg', new PublicFile(shared('icon.svg'), svg)],
      ['uplot.js', new PublicFile(library('uPlot.esm.js'), javascript)],
      ['uplot.css', new PublicFile(library('uPlot.min.css'), css)],
    ]);
    this.assets = new VersionedAssets(files);
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
