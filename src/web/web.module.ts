// The page that the frame shows, and the script for the page around it.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { PublicFiles } from './public-files.js';
import { WebController } from './web.controller.js';
import type { WebOptions } from './public-files.js';
import { WEB_OPTIONS } from './public-files.js';

@Module({})
export class WebModule {
  static register(options: WebOptions): DynamicModule {
    return {
      module: WebModule,
      controllers: [WebController],
      providers: [PublicFiles, { provide: WEB_OPTIONS, useValue: options }],
      exports: [PublicFiles, WEB_OPTIONS],
    };
  }
}
