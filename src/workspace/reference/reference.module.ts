// The description of the public API.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { PublicFolder } from '../../platform/http/page.controller.js';
import { ApiDescription } from './api-description.js';
import { ReferenceController } from './reference.controller.js';

@Module({})
export class ReferenceModule {
  /** @param publicDirectory holds the page that shows it and the files that this is made of, as the build has put them together */
  static register(publicDirectory: string): DynamicModule {
    return {
      module: ReferenceModule,
      controllers: [ReferenceController],
      providers: [ApiDescription, { provide: PublicFolder, useValue: new PublicFolder(publicDirectory) }],
    };
  }
}
