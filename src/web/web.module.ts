// The page that the frame shows, and the script for the page around it.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { WebController } from './web.controller.js';
import type { WebOptions } from './page-templates.js';
import { PageTemplates, WEB_OPTIONS } from './page-templates.js';

@Module({})
export class WebModule {
  static register(options: WebOptions): DynamicModule {
    return {
      module: WebModule,
      controllers: [WebController],
      providers: [PageTemplates, { provide: WEB_OPTIONS, useValue: options }],
      exports: [PageTemplates, WEB_OPTIONS],
    };
  }
}
