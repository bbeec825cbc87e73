// The operator's pages, for browsers. They show nothing by themselves: they ask the operator's API.
import { Controller, Inject, Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { PageController } from '../../platform/http/page.controller.js';

/** Injection token of the folder that holds the pages and the files that they are made of, as the build has put them together. */
const PUBLIC_DIRECTORY = Symbol('PUBLIC_DIRECTORY');

/**
 * @rule D113 The operator's pages are one document, whose addresses name no person. See public/main.js for what outlives a
 *   sign-in.
 */
@Controller('admin')
class OperatorPageController extends PageController {
  constructor(@Inject(PUBLIC_DIRECTORY) publicDirectory: string) {
    super(publicDirectory);
  }
}

@Module({})
export class OperatorPageModule {
  static register(publicDirectory: string): DynamicModule {
    return {
      module: OperatorPageModule,
      controllers: [OperatorPageController],
      providers: [{ provide: PUBLIC_DIRECTORY, useValue: publicDirectory }],
    };
  }
}
