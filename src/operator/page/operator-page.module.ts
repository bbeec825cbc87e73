// The operator's pages, for browsers.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { OperatorPageController } from './operator-page.controller.js';
import { OperatorPageFiles } from './operator-page.files.js';
import type { OperatorPageOptions } from './operator-page.files.js';
import { OPERATOR_PAGE_OPTIONS } from './operator-page.files.js';

@Module({})
export class OperatorPageModule {
  static register(options: OperatorPageOptions): DynamicModule {
    return {
      module: OperatorPageModule,
      controllers: [OperatorPageController],
      providers: [OperatorPageFiles, { provide: OPERATOR_PAGE_OPTIONS, useValue: options }],
    };
  }
}
